"""The request and the response of the dial link."""

from __future__ import annotations

from marshmallow import fields

from app.features.dialing import link_forms
from app.web.schemas.fields import NormalizedString, ResponseSchema, StrictSchema


class DialLinkSchema(StrictSchema):
    """The form of the links; null restores the default."""

    dial_link = NormalizedString(
        link_forms.parse,
        required=True,
        allow_none=True,
        metadata={
            "example": "zoomphonecall://{number}",
            "description": "{number} stands for the number with its +, {digits} for its digits.",
        },
    )


class StoredDialLinkSchema(ResponseSchema):
    """The form of the links."""

    dial_link = fields.String(required=True, metadata={"example": link_forms.DEFAULT})
