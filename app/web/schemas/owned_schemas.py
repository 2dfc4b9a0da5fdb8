"""Schemas of a workspace's people and lists."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, post_load

from app.domain.findings import SourceKind
from app.domain.ids import EXAMPLES
from app.engine.contacts.job_changes import SAVED_PROFILE
from app.web.schemas import annotation_fields
from app.web.schemas.contact_schemas import TIME, LocationSchema, RevealedSchema, SavedCompanySchema
from app.web.schemas.fields import ResponseSchema, SingleLineString, StrictSchema


class NamedListSchema(StrictSchema):
    """A list to create or rename."""

    name = SingleLineString(required=True, metadata={"example": "Prospects"})


class NotesSchema(StrictSchema):
    """The tags and the note of a person; each replaces the stored one, null removes it."""

    tags = annotation_fields.tags()
    note = annotation_fields.note()

    @post_load
    def _without_duplicates(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        if "tags" in data:
            data["tags"] = [*dict.fromkeys(data["tags"] or ())]
        return data


class ListNameSchema(ResponseSchema):
    """A list that a person is on."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["lst"]})
    name = fields.String(required=True, metadata={"example": "Prospects"})


class ContactListSchema(ListNameSchema):
    """A list of the workspace."""

    count = fields.Integer(required=True, metadata={"example": 12, "description": "The people on it."})
    updated_at = fields.DateTime(
        required=True,
        metadata={"example": TIME, "description": "When its name or its members last changed."},
    )


class ContactListResponseSchema(ContactListSchema):
    """One list of the workspace."""


class SavedNotesSchema(ResponseSchema):
    """What the workspace noted about a person."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["prf"]})
    lists = fields.List(fields.Nested(ListNameSchema), required=True)
    tags = fields.List(fields.String(), required=True, metadata={"example": ["engines"]})
    note = fields.String(required=True, allow_none=True, metadata={"example": "Met at the fair."})
    updated_at = fields.DateTime(required=True, metadata={"example": TIME})


class OwnerSchema(ResponseSchema):
    """An account of the workspace."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    name = fields.String(required=True, metadata={"example": "Ada Walker"})


class FormerOrNewCompanySchema(ResponseSchema):
    """A company of a job change; `company_id` is null if only a saved profile names the company."""

    company_id = fields.String(required=True, allow_none=True, metadata={"example": EXAMPLES["com"]})
    name = fields.String(required=True, allow_none=True, metadata={"example": "Acme Engines"})
    domain = fields.String(required=True, allow_none=True, metadata={"example": "acme.example"})


class OwnedJobChangeSchema(ResponseSchema):
    """A change of company, as the event `contact.job_changed` reported it."""

    from_ = fields.Nested(FormerOrNewCompanySchema, data_key="from", required=True)
    to = fields.Nested(FormerOrNewCompanySchema, required=True)
    source = fields.String(
        required=True,
        metadata={
            "enum": [SourceKind.IMPORT.value, SourceKind.PROVIDER.value, SAVED_PROFILE],
            "example": "import",
            "description": "What showed the change.",
        },
    )
    as_of = fields.DateTime(
        required=True, metadata={"example": TIME, "description": "The date of the data that showed it."}
    )
    detected_at = fields.DateTime(required=True, metadata={"example": TIME})


class OwnedContactSchema(ResponseSchema):
    """A person that the workspace revealed or saved."""

    id = fields.String(
        required=True,
        metadata={
            "example": EXAMPLES["con"],
            "description": "`contact_id`, or the id of the saved profile if no contact is stored.",
        },
    )
    contact_id = fields.String(required=True, allow_none=True, metadata={"example": EXAMPLES["con"]})
    full_name = fields.String(required=True, allow_none=True, metadata={"example": "Ada Lovelace"})
    title = fields.String(required=True, allow_none=True, metadata={"example": "Chief Engineer"})
    company = fields.Nested(SavedCompanySchema, required=True)
    location = fields.Nested(LocationSchema, required=True)
    linkedin_url = fields.String(
        required=True, allow_none=True, metadata={"example": "https://www.linkedin.com/in/ada-lovelace"}
    )
    revealed = fields.Nested(
        RevealedSchema,
        required=True,
        allow_none=True,
        metadata={"description": "As in a lookup; null for a key without the scope `reveal`."},
    )
    saved = fields.Nested(
        SavedNotesSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null if the person was revealed but not saved."},
    )
    owner = fields.Nested(
        OwnerSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Who revealed or saved the person first; null once it is deleted."},
    )
    revealed_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"example": TIME, "description": "When a value of the person was first revealed."},
    )
    updated_at = fields.DateTime(required=True, metadata={"example": TIME})
    job_change = fields.Nested(
        OwnedJobChangeSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The latest change of company; null if none is known."},
    )


class OwnedContactResponseSchema(OwnedContactSchema):
    """One person that the workspace revealed or saved."""
