"""The requests that create and change webhook endpoints."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.domain.event_types import SUBSCRIBABLE
from app.features.webhooks.message_formats import MessageFormat
from app.web.schemas.fields import StrictBoolean, StrictSchema
from app.web.schemas.webhook_urls import webhook_url


def _types(**options: Any) -> fields.List[str]:
    return fields.List(
        fields.String(validate=validate.OneOf(SUBSCRIBABLE)),
        validate=validate.Length(min=1, max=len(SUBSCRIBABLE)),
        metadata={"example": ["contact.job_changed"], "description": "The types of events to deliver."},
        **options,
    )


def _format() -> fields.String:
    return fields.String(
        data_key="format",
        validate=validate.OneOf([form.value for form in MessageFormat]),
        metadata={
            "example": "slack",
            "description": "`standard`: the event as JSON, signed. `slack`, `teams`: a sentence for a "
            "channel. By default that of the URL's host.",
        },
    )


class NewEndpointSchema(StrictSchema):
    """The endpoint to create."""

    url = webhook_url(required=True, description="Receives the events, each signed with the secret.")
    types = _types(required=True)
    format_ = _format()


class EndpointChangeSchema(StrictSchema):
    """What to change; what is absent stays."""

    types = _types()
    format_ = _format()
    enabled = StrictBoolean(
        metadata={"description": "A disabled endpoint receives nothing, and its retries end."}
    )
