"""Response schemas of contacts, companies and their values, shared by several endpoints."""

from __future__ import annotations

from marshmallow import fields

from app.domain.exclusions import CRM_STAGE, MATCHED_ON, Reason
from app.domain.findings import EmailStatus
from app.domain.ids import EXAMPLES
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.contacts.seniorities import SENIORITIES
from app.engine.lookups.field_requests import TYPES, ContactField
from app.web.schemas.fields import ResponseSchema

TIME = "2026-11-20T09:30:00.000Z"
DAY = "2026-11-20T00:00:00.000Z"
STATUSES = [status.value for status in EmailStatus]


class LocationSchema(ResponseSchema):
    """The location of a contact or company."""

    city = fields.String(allow_none=True, metadata={"example": "London"})
    country = fields.String(allow_none=True, metadata={"example": "GB", "description": "ISO 3166-1 alpha-2."})


class ContactSchema(ResponseSchema):
    """The fields of a contact that are visible before a reveal."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["con"]})
    full_name = fields.String(allow_none=True, metadata={"example": "Ada Lovelace"})
    title = fields.String(allow_none=True, metadata={"example": "Chief Engineer"})
    seniority = fields.String(
        allow_none=True, metadata={"example": "c_suite", "description": f"Such as {', '.join(SENIORITIES)}."}
    )
    department = fields.String(allow_none=True, metadata={"example": "engineering"})
    linkedin_url = fields.String(
        allow_none=True, metadata={"example": "https://www.linkedin.com/in/ada-lovelace"}
    )
    location = fields.Nested(LocationSchema)


class CompanySchema(ResponseSchema):
    """A company."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["com"]})
    name = fields.String(allow_none=True, metadata={"example": "Acme Engines"})
    domain = fields.String(allow_none=True, metadata={"example": "acme.example"})
    linkedin_url = fields.String(
        allow_none=True, metadata={"example": "https://www.linkedin.com/company/acme"}
    )
    industry = fields.String(allow_none=True, metadata={"example": "Machinery"})
    headcount = fields.String(allow_none=True, metadata={"example": "51-200"})
    location = fields.Nested(LocationSchema)


class ReportedSchema(ResponseSchema):
    """What the workspace last reported about a value; reports of other workspaces are never shown."""

    reported = fields.String(
        allow_none=True,
        metadata={
            "enum": [*(kind.value for kind in FeedbackKind), None],
            "example": None,
            "description": "What the workspace reported last of the value, null if nothing.",
        },
    )
    reported_at = fields.DateTime(allow_none=True, metadata={"example": None})


class CallRegisterListingSchema(ResponseSchema):
    """What a do-not-call register says about a number; registers of other countries are left out."""

    id = fields.String(metadata={"example": "uk-tps"})
    name = fields.String(metadata={"example": "TPS"})
    date = fields.DateTime(metadata={"example": TIME, "description": "The date of the register's files."})
    listed = fields.Boolean(metadata={"example": False})
    outdated = fields.Boolean(
        metadata={"example": False, "description": "Whether it is older than it may be used for calls."}
    )


class AvailableSchema(ReportedSchema):
    """A masked e-mail address or phone number, and the price of revealing it."""

    field = fields.String(metadata={"enum": ["email", "phone"], "example": "email"})
    type = fields.String(metadata={"example": "work"})
    masked = fields.String(metadata={"example": "a•••••@acme.example"})
    do_not_call = fields.Boolean(
        allow_none=True,
        metadata={
            "example": None,
            "description": "Whether the number must not be called, as of a revealed one.",
        },
    )
    call_registers = fields.List(
        fields.Nested(CallRegisterListingSchema),
        metadata={"description": "What do-not-call registers say of the number, as of a revealed one."},
    )
    status = fields.String(metadata={"enum": STATUSES, "example": "valid"})
    last_verified_at = fields.DateTime(
        allow_none=True,
        metadata={
            "example": DAY,
            "description": "When it was last verified; only the day if the workspace does not own the value.",
        },
    )
    owned = fields.Boolean(metadata={"example": False})
    credits = fields.Integer(metadata={"example": 1})


class SourceSchema(ResponseSchema):
    """A source of a value, and when it was seen."""

    provider = fields.String(metadata={"example": "sandbox"})
    kind = fields.String(
        metadata={"enum": ["import", "provider", "pattern", "crm", "address_book"], "example": "provider"}
    )
    first_seen_at = fields.DateTime(metadata={"example": TIME})
    last_seen_at = fields.DateTime(metadata={"example": TIME})
    url = fields.String(
        metadata={
            "description": "The public page where the value stands, if it was read from one.",
            "example": "https://acme.com/team",
        }
    )


class EmailSchema(ReportedSchema):
    """A revealed e-mail address."""

    email = fields.String(metadata={"example": "ada@acme.example"})
    type = fields.String(metadata={"enum": ["work", "personal"], "example": "work"})
    status = fields.String(metadata={"enum": STATUSES, "example": "valid"})
    status_reasons = fields.List(fields.String(), metadata={"example": []})
    confidence = fields.Float(allow_none=True, metadata={"example": 0.97})
    primary = fields.Boolean(metadata={"example": True})
    verified_at = fields.DateTime(allow_none=True, metadata={"example": TIME})
    sources = fields.List(fields.Nested(SourceSchema))


class PhoneSchema(ReportedSchema):
    """A revealed phone number."""

    e164 = fields.String(metadata={"example": "+442079460123"})
    national = fields.String(metadata={"example": "020 7946 0123"})
    extension = fields.String(allow_none=True, metadata={"example": None})
    country = fields.String(allow_none=True, metadata={"example": "GB"})
    type = fields.String(metadata={"enum": list(TYPES[ContactField.PHONE]), "example": "work"})
    line_type = fields.String(
        metadata={
            "enum": ["mobile", "landline", "voip", "unknown"],
            "example": "landline",
            "description": "Derived from the digits; `type` is what the source reported.",
        }
    )
    status = fields.String(metadata={"enum": STATUSES, "example": "valid"})
    confidence = fields.Float(allow_none=True, metadata={"example": 0.9})
    do_not_call = fields.Boolean(
        allow_none=True,
        metadata={
            "example": False,
            "description": "Whether it must not be called, by its source or by a register. Null if unknown.",
        },
    )
    do_not_call_checked_at = fields.DateTime(
        allow_none=True,
        metadata={"example": TIME, "description": "When the status was looked up or reported."},
    )
    call_registers = fields.List(fields.Nested(CallRegisterListingSchema))
    verified_at = fields.DateTime(allow_none=True, metadata={"example": TIME})
    sources = fields.List(fields.Nested(SourceSchema))


class RevealedSchema(ResponseSchema):
    """The values that the workspace owns, unmasked."""

    emails = fields.List(fields.Nested(EmailSchema))
    phones = fields.List(fields.Nested(PhoneSchema))


class ProvenanceSchema(ResponseSchema):
    """The source and the time of a value."""

    source = fields.String(allow_none=True, metadata={"example": "sandbox"})
    at = fields.DateTime(allow_none=True, metadata={"example": TIME})


class FieldProvenanceSchema(ResponseSchema):
    """The source and the time of each field of the contact and of the company."""

    contact = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(ProvenanceSchema),
        metadata={
            "example": {"title": {"source": "sandbox", "at": TIME}},
            "description": "`location` is split into its parts; `company` is the source of the employer.",
        },
    )
    company = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(ProvenanceSchema),
        metadata={"example": {"industry": {"source": "sandbox", "at": TIME}}},
    )


class ConflictingValueSchema(ProvenanceSchema):
    """A differing value from another source."""

    value = fields.String(metadata={"example": "Engineer"})


class ConflictSchema(ProvenanceSchema):
    """A field on which sources disagree: the current value and the other one."""

    entity = fields.String(metadata={"enum": ["contact", "company"], "example": "contact"})
    field = fields.String(metadata={"example": "title"})
    value = fields.String(metadata={"example": "Chief Engineer"})
    other = fields.Nested(ConflictingValueSchema)


class ExcludedSchema(ResponseSchema):
    """Why the workspace excludes a person; `matched_on` is what the exclusion names.

    If the stage of the person's record in a CRM does it, `vendor` and `stage` name them.
    """

    reason = fields.String(required=True, metadata={"enum": [*Reason, CRM_STAGE], "example": "customer"})
    note = fields.String(required=True, allow_none=True, metadata={"example": "Account of the team in Leeds"})
    matched_on = fields.String(required=True, metadata={"enum": [*MATCHED_ON], "example": "domain"})
    vendor = fields.String(required=True, allow_none=True, metadata={"example": None})
    stage = fields.String(required=True, allow_none=True, metadata={"example": None})


class JobExclusionSchema(ExcludedSchema):
    """Why the workspace excludes a person, with a message for the member."""

    message = fields.String(
        required=True,
        metadata={
            "example": "Your workspace excludes this person (customer), so nothing was revealed and nothing "
            "was charged. An admin can remove the exclusion on the page of exclusions."
        },
    )


class SkippedSchema(ResponseSchema):
    """Why an item was skipped: the source that has the person, or the fields that it has of the person."""

    source = fields.String(required=True, metadata={"example": "crm"})
    system = fields.String(required=True, allow_none=True, metadata={"example": "hubspot"})
    title = fields.String(required=True, allow_none=True, metadata={"example": "HubSpot"})
    url = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "https://app.hubspot.com/contacts/4242/record/0-1/1"},
    )
    fields_ = fields.List(fields.String(), required=True, data_key="fields", metadata={"example": ["email"]})
    message = fields.String(
        required=True,
        metadata={
            "example": "This person is in HubSpot, and the request skips such people, so nobody was asked "
            "and nothing was charged."
        },
    )


class SavedSchema(ResponseSchema):
    """A summary of the workspace's saved profile."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["prf"]})
    list = fields.String(allow_none=True, metadata={"example": "Prospects"})
    tags = fields.List(fields.String(), metadata={"example": ["engines"]})
    note = fields.String(allow_none=True, metadata={"example": "Met at the fair."})
    updated_at = fields.DateTime(metadata={"example": TIME})


class AddressBookRecordSchema(ResponseSchema):
    """An entry about a person in an address book of the workspace."""

    book_id = fields.String(metadata={"example": EXAMPLES["adb"]})
    book = fields.String(metadata={"example": "Conference contacts", "description": "The title of the book."})
    matched_on = fields.List(
        fields.String(metadata={"enum": ["linkedin_url", "email", "phone", "name"]}),
        metadata={"example": ["email"], "description": "As in a record of the CRM."},
    )
    has = fields.List(
        fields.String(metadata={"enum": ["email", "phone"]}), metadata={"example": ["email", "phone"]}
    )
    emails = fields.List(
        fields.String(metadata={"example": "ada@acme.example"}),
        metadata={"description": "The addresses of the entry: free, and not verified."},
    )
    phones = fields.List(
        fields.String(metadata={"example": "+442079460123"}), metadata={"description": "In E.164."}
    )
    do_not_call_phones = fields.List(
        fields.String(metadata={"example": "+442079460123"}),
        metadata={"example": [], "description": "Those of the numbers that a do-not-call register has."},
    )
    changed_at = fields.DateTime(
        allow_none=True,
        metadata={"example": TIME, "description": "When the entry was changed, if the file says so."},
    )


class CrmRecordSchema(ResponseSchema):
    """A person's record in the workspace's CRM, as it was read last."""

    vendor = fields.String(metadata={"example": "hubspot"})
    vendor_title = fields.String(metadata={"example": "HubSpot"})
    kind = fields.String(metadata={"enum": ["contact", "lead"], "example": "contact"})
    url = fields.String(
        allow_none=True,
        metadata={
            "example": "https://app.hubspot.com/contacts/4242/record/0-1/101",
            "description": "The page of the record. Null if it is not known.",
        },
    )
    owner = fields.String(
        allow_none=True, metadata={"example": "Kim Lee", "description": "The colleague who owns the record."}
    )
    stage = fields.String(allow_none=True, metadata={"example": "Customer"})
    matched_on = fields.List(
        fields.String(metadata={"enum": ["linkedin_url", "email", "phone", "name"]}),
        metadata={
            "example": ["linkedin_url"],
            "description": "What the two have in common; `name` is the name at the company.",
        },
    )
    has = fields.List(
        fields.String(metadata={"enum": ["email", "phone"]}),
        metadata={"example": ["email", "phone"], "description": "The kinds of values in the record."},
    )
    emails = fields.List(
        fields.String(metadata={"example": "ada@acme.example"}),
        metadata={"description": "The addresses in the record, as the CRM has them: free, and not verified."},
    )
    phones = fields.List(
        fields.String(metadata={"example": "+442079460123"}),
        metadata={"description": "The numbers in the record that have a country code, in E.164."},
    )
    do_not_call_phones = fields.List(
        fields.String(metadata={"example": "+442079460123"}),
        metadata={"example": [], "description": "Those of the numbers that a do-not-call register has."},
    )
    changed_at = fields.DateTime(
        allow_none=True, metadata={"example": TIME, "description": "When the CRM last changed the record."}
    )
    is_outdated = fields.Boolean(
        metadata={
            "example": False,
            "description": "Whether the record has another company than the stored contact.",
        }
    )


class SavedCompanySchema(ResponseSchema):
    """The company in a saved profile."""

    name = fields.String(allow_none=True, metadata={"example": "Acme Engines"})
    domain = fields.String(allow_none=True, metadata={"example": "acme.example"})
    linkedin_url = fields.String(
        allow_none=True, metadata={"example": "https://www.linkedin.com/company/acme"}
    )


class SavedProfileSchema(ResponseSchema):
    """A saved profile: one per workspace and profile URL."""

    id = fields.String(metadata={"example": EXAMPLES["prf"]})
    linkedin_url = fields.String(metadata={"example": "https://www.linkedin.com/in/ada-lovelace"})
    full_name = fields.String(allow_none=True, metadata={"example": "Ada Lovelace"})
    headline = fields.String(allow_none=True, metadata={"example": "Building engines that think"})
    title = fields.String(allow_none=True, metadata={"example": "Chief Engineer"})
    location = fields.String(allow_none=True, metadata={"example": "London, United Kingdom"})
    company = fields.Nested(SavedCompanySchema)
    list = fields.String(allow_none=True, metadata={"example": "Prospects"})
    tags = fields.List(fields.String(), metadata={"example": ["engines"]})
    note = fields.String(allow_none=True, metadata={"example": "Met at the fair."})
    saved_by = fields.String(
        allow_none=True,
        metadata={"example": EXAMPLES["acc"], "description": "The account that saved it first."},
    )
    captured_at = fields.DateTime(allow_none=True, metadata={"example": TIME})
    created_at = fields.DateTime(metadata={"example": TIME})
    updated_at = fields.DateTime(metadata={"example": TIME})
