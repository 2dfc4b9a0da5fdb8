"""The requests that create and change webhook endpoints."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.domain.event_types import SUBSCRIBABLE
from app.web.schemas.fields import StrictBoolean, StrictSchema
from app.web.schemas.webhook_urls import webhook_url


def _types(**options: Any) -> fields.List[str]:
    return fields.List(
        fields.String(validate=validate.OneOf(SUBSCRIBABLE)),
        validate=validate.Length(min=1, max=len(SUBSCRIBABLE)),
        metadata={"example": ["contact.job_changed"], "description": "The types of events to deliver."},
        **options,
    )


class NewEndpointSchema(StrictSchema):
    """The endpoint to create."""

    url = webhook_url(required=True, description="Receives the events, each signed with the secret.")
    types = _types(required=True)


class EndpointChangeSchema(StrictSchema):
    """What to change; what is absent stays."""

    types = _types()
    enabled = StrictBoolean(
        metadata={"description": "A disabled endpoint receives nothing, and its retries end."}
    )
