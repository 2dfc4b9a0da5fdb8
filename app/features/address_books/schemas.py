"""Schemas of address books, as they are sent and as they are returned."""

from __future__ import annotations

from marshmallow import fields

from app.domain.ids import EXAMPLES
from app.domain.normal.places.countries import country_code
from app.features.address_books.books import MAX_TITLE
from app.features.address_books.tables import BookStatus
from app.web.schemas.fields import NormalizedString, ResponseSchema, SingleLineString
from app.web.schemas.queries import QuerySchema

TIME = "2026-11-20T09:30:00.000Z"


class ReplacementSchema(QuerySchema):
    """The name of a file that is the body, and the country of its national phone numbers."""

    name = fields.String(metadata={"description": "The name of a file that is sent as the body."})
    country = NormalizedString(
        country_code,
        metadata={
            "example": "DE",
            "description": "The country of phone numbers without a country code, unless their contact names "
            "one. Without it, the file decides.",
        },
    )


class NewBookSchema(ReplacementSchema):
    """What is said of a new address book besides its file."""

    title = SingleLineString(
        MAX_TITLE,
        metadata={"example": "Conference contacts", "description": "By default the name of the file."},
    )


class AddressBookSchema(ResponseSchema):
    """An address book; its counts are of the file that was read last."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["adb"]})
    title = fields.String(required=True, metadata={"example": "Conference contacts"})
    status = fields.String(
        required=True,
        metadata={
            "enum": [status.value for status in BookStatus],
            "example": "ready",
            "description": "Of the file that was sent last. If it failed, the people of the one before stay.",
        },
    )
    detail = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "Why the file failed, and what to do."},
    )
    people = fields.Integer(required=True, metadata={"example": 480})
    left_out = fields.Integer(
        required=True,
        metadata={
            "example": 3,
            "description": "Entries of the file that name nobody, and people who must not be stored.",
        },
    )
    rows_read = fields.Integer(
        required=True, metadata={"example": 0, "description": "Entries read so far, of a file being read."}
    )
    created_by = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    created_at = fields.DateTime(required=True, metadata={"example": TIME})
    read_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"example": TIME, "description": "When the people were stored. Null before the first time."},
    )


class AddressBooksResponseSchema(ResponseSchema):
    """The address books of the workspace, oldest first."""

    address_books = fields.List(fields.Nested(AddressBookSchema), required=True)
