"""The fields of a request that annotate a person, for the whole workspace."""

from __future__ import annotations

from marshmallow import fields, validate

from app.web.schemas.fields import SingleLineString

MAX_TAGS = 50
MAX_TAG_LENGTH = 100
MAX_NOTE_LENGTH = 5000


def tags() -> fields.List[str]:
    """Return a field for tags, which replace the stored ones."""
    return fields.List(
        SingleLineString(MAX_TAG_LENGTH),
        allow_none=True,
        validate=validate.Length(max=MAX_TAGS),
        metadata={"example": ["engines"]},
    )


def note() -> fields.String:
    """Return a field for a note, which replaces the stored one."""
    return fields.String(
        allow_none=True,
        validate=validate.Length(max=MAX_NOTE_LENGTH),
        metadata={"example": "Met at the fair."},
    )
