"""Schemas of uploads: their mapping, price, progress and results."""

from __future__ import annotations

from marshmallow import ValidationError, fields, validate

from app import feature_registry
from app.domain import ids
from app.domain.errors import (
    InsufficientCredits,
    ProviderFailed,
    PurposeRequired,
    SpendingLimitReached,
)
from app.domain.lists.files.csv_files import UNKNOWN_ENCODING, is_encoding
from app.domain.lists.files.delimiters import DELIMITERS
from app.domain.lists.headers.upload_columns import UPLOAD_FIELDS
from app.domain.lists.warning_kinds import KINDS, Effect
from app.domain.normal.places.countries import country_code
from app.features.uploads import choices, chunks, failures, row_store
from app.features.uploads.tables import Operation, UploadStatus
from app.web.schemas.enrichment_schemas import SkipSchema
from app.web.schemas.fields import (
    AsciiInteger,
    NormalizedString,
    ResponseSchema,
    StrictBoolean,
    StrictSchema,
    purpose,
)
from app.web.schemas.paging import IdCursor, page_size
from app.web.schemas.queries import QuerySchema

PAID_FIELDS = ("email", "phone")
DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_RESULT_ROWS = 500
MAX_COLUMNS = 300
REASONS = (
    InsufficientCredits.code,
    SpendingLimitReached.code,
    chunks.MAX_CREDITS,
    PurposeRequired.code,
    ProviderFailed.code,
    chunks.ACCOUNT_DISABLED,
    chunks.KEY_ENDED,
    chunks.PHONES_NOT_ALLOWED,
    row_store.UNREADABLE,
    failures.PROCESSING_FAILED,
)


def _is_encoding(name: str) -> None:
    if not is_encoding(name):
        raise ValidationError(UNKNOWN_ENCODING.format(encoding=name))


def _numbers_country() -> NormalizedString:
    return NormalizedString(
        country_code,
        allow_none=True,
        metadata={
            "example": "DE",
            "description": "The country of phone numbers without a country code, unless their row names one. "
            "Without it, the list decides.",
        },
    )


OPERATIONS = [
    one for one in Operation if one != Operation.VERIFY or "verifications" in feature_registry.FEATURES
]
"""What can be done with a list; the jobs of one to verify are of the feature `verifications`."""


class FileSchema(QuerySchema):
    """What to do with a list, the name of a file that is the body, and how to read it if not as detected."""

    operation = fields.String(
        load_default=Operation.ENRICH.value,
        validate=validate.OneOf([operation.value for operation in OPERATIONS]),
        metadata={
            "description": "`enrich` finds the people of the rows; `verify` verifies a column of addresses, "
            "one of phone numbers, or both."
        },
    )
    name = fields.String(metadata={"description": "The name of a file that is sent as the body."})
    encoding = fields.String(
        validate=[validate.Length(max=40), _is_encoding],
        metadata={
            "example": "cp1250",
            "description": "Such as utf-8, cp1252, cp1250, cp1251, shift_jis or gb18030.",
        },
    )
    delimiter = fields.String(
        validate=validate.OneOf([*DELIMITERS, "tab"]),
        metadata={"example": ";", "description": "The character between the cells, or tab."},
    )
    has_header = fields.Boolean(
        truthy={"true"}, falsy={"false"}, metadata={"description": "Whether the list has a header."}
    )
    country = _numbers_country()


class MappingSchema(StrictSchema):
    """The field of each column, what to find for each person, and the country of national phone numbers."""

    columns = fields.List(
        fields.String(allow_none=True, validate=validate.OneOf([*UPLOAD_FIELDS, None])),
        required=True,
        validate=validate.Length(min=1, max=MAX_COLUMNS),
        metadata={
            "example": ["full_name", "company_domain", None],
            "description": "As many as the list has columns; null for one that is not used.",
        },
    )
    fields_ = fields.List(
        fields.String(validate=validate.OneOf(PAID_FIELDS)),
        data_key="fields",
        load_default=["email"],
        validate=validate.Length(min=1, max=len(PAID_FIELDS)),
        metadata={"example": ["email"], "description": "Nothing is found if the list is verified."},
    )
    country = _numbers_country()
    fresh = StrictBoolean(
        metadata={
            "description": "In a list to verify: verify, and charge, also addresses on which you have a "
            "verdict that has not expired."
        }
    )


class StartSchema(SkipSchema):
    """The most that the whole upload may cost, the price accepted, why the values are obtained, whom to skip.

    Without `skip`, an upload that is continued skips those whom it skipped before.
    """

    max_credits = fields.Integer(
        strict=True,
        allow_none=True,
        load_default=None,
        validate=validate.Range(min=0),
        metadata={"example": 500, "description": "In credits; null for no limit but the balance."},
    )
    purpose = purpose()
    revision = fields.Integer(
        strict=True,
        allow_none=True,
        load_default=None,
        metadata={
            "example": 1,
            "description": "That of the accepted price; with another mapping it is not started.",
        },
    )


class UploadsQuery(QuerySchema):
    """The page of a list of uploads."""

    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("upl")


class ResultQuery(QuerySchema):
    """The format of a result, and the page of one in JSON."""

    format = fields.String(
        validate=validate.OneOf(["csv", "xlsx", "json"]),
        load_default=None,
        metadata={
            "description": "By default that of the list: `csv` for a text file, `xlsx` for a workbook."
        },
    )
    limit = page_size(100, MAX_RESULT_ROWS)
    cursor = AsciiInteger(
        load_default=0,
        validate=validate.Range(min=0),
        metadata={"description": "`next_cursor` of the previous page."},
    )


class OwnRecordCountSchema(ResponseSchema):
    """How many people of the list are in a system of the workspace, and with which values."""

    source = fields.String(metadata={"example": "crm"})
    system = fields.String(metadata={"example": "hubspot"})
    title = fields.String(metadata={"example": "HubSpot"})
    people = fields.Integer(metadata={"example": 212})
    with_email = fields.Integer(metadata={"example": 190})
    with_phone = fields.Integer(metadata={"example": 40})


class ChoiceSchema(ResponseSchema):
    """Whom to skip, and what the others may cost."""

    name = fields.String(metadata={"enum": [choices.SKIP, choices.FILL, choices.ALL], "example": "skip"})
    skip = fields.List(fields.String(), metadata={"example": ["crm", "owned"]})
    skip_when = fields.String(metadata={"example": "in_source"})
    skipped = fields.Integer(metadata={"example": 273})
    to_buy = fields.Integer(metadata={"example": 227})
    credits_min = fields.Integer(metadata={"example": 60})
    credits_max = fields.Integer(metadata={"example": 227})
    exceeds_balance = fields.Boolean(
        allow_none=True,
        metadata={
            "example": False,
            "description": "Whether the workspace has fewer credits than it may cost. Before the start only; "
            "null without the permission `see_costs`.",
        },
    )
    summary = fields.String(
        metadata={
            "example": "500 people: 212 in HubSpot (190 with an address), 61 owned, "
            "227 to buy for at most 227 credits"
        }
    )


class UploadEstimateSchema(ResponseSchema):
    """What the upload may cost: the minimum is what is stored, the maximum all that is not owned."""

    credits_min = fields.Integer(metadata={"example": 120})
    credits_max = fields.Integer(metadata={"example": 480})
    exceeds_balance = fields.Boolean(
        allow_none=True,
        metadata={
            "example": False,
            "description": "Whether the workspace has fewer credits than it may cost. Before the start only; "
            "null without the permission `see_costs`.",
        },
    )
    people = fields.Integer(
        metadata={"example": 490, "description": "In a list to verify: the different values."}
    )
    emails = fields.Integer(metadata={"example": 490, "description": "Different addresses to verify."})
    phones = fields.Integer(metadata={"example": 120, "description": "Numbers to verify, free."})
    known = fields.Integer(
        metadata={"example": 60, "description": "Addresses on which you have a verdict, which is free."}
    )
    summary = fields.String(
        metadata={
            "example": "430 addresses to verify for at most 430 credits, 60 verified before free, "
            "120 numbers free"
        }
    )
    owned = fields.Integer(metadata={"example": 10})
    suppressed = fields.Integer(metadata={"example": 0})
    excluded = fields.Integer(
        metadata={"example": 0, "description": "People whom the exclusions of the workspace name."}
    )
    to_buy = fields.Integer(
        metadata={"example": 480, "description": "People of whom a requested value is not owned."}
    )
    own_records = fields.List(
        fields.Nested(OwnRecordCountSchema),
        metadata={"description": "Those whom the workspace has in its own systems, such as its CRM."},
    )
    choices = fields.List(
        fields.Nested(ChoiceSchema),
        metadata={"description": "What the upload may cost if it is started with this `skip`."},
    )
    duplicates = fields.Integer(metadata={"example": 8})
    invalid = fields.Integer(metadata={"example": 2, "description": "Rows that identify no person."})


class UploadProgressSchema(ResponseSchema):
    """The people that are finished, of all that the list names."""

    done = fields.Integer(metadata={"example": 200})
    total = fields.Integer(metadata={"example": 490})


class UploadCreditsSchema(ResponseSchema):
    """What the upload has cost, and what its open jobs hold; null without the permission `see_costs`."""

    charged = fields.Integer(allow_none=True, metadata={"example": 150})
    reserved = fields.Integer(allow_none=True, metadata={"example": 250})


class UploadFormatSchema(ResponseSchema):
    """How the file was read."""

    encoding = fields.String(metadata={"example": "cp1250", "description": "xlsx for a workbook."})
    is_guessed = fields.Boolean(
        metadata={"description": "Whether the encoding was chosen by the words that it gives."}
    )
    other_encoding = fields.String(
        allow_none=True, metadata={"description": "The next probable encoding, if that is not sure."}
    )
    delimiter = fields.String(allow_none=True, metadata={"example": ";"})
    has_header = fields.Boolean(
        metadata={"description": "If not, the columns have numbers, and their fields are guessed."}
    )
    sheet = fields.String(allow_none=True, metadata={"description": "The sheet of a workbook that was read."})
    unread_sheets = fields.List(
        fields.String(), metadata={"description": "The other visible sheets that look like lists."}
    )
    unsolved_formulas = fields.Integer(
        metadata={"description": "The formulas of a workbook without a stored result: their cells are empty."}
    )
    phones_read_as = fields.String(
        allow_none=True,
        metadata={
            "example": "DE",
            "description": "The country of phone numbers without a country code that most of the list shows; "
            "null if it shows none, or you named one.",
        },
    )


class UploadSummarySchema(ResponseSchema):
    """An uploaded list."""

    id = fields.String(required=True, metadata={"example": ids.EXAMPLES["upl"]})
    file_name = fields.String(required=True, metadata={"example": "prospects.csv"})
    operation = fields.String(
        required=True,
        metadata={"enum": [operation.value for operation in Operation], "example": Operation.ENRICH.value},
    )
    status = fields.String(
        required=True, metadata={"enum": [status.value for status in UploadStatus], "example": "running"}
    )
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": f"Why it is paused or failed: {', '.join(REASONS)}."},
    )
    detail = fields.String(required=True, allow_none=True)
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    rows = fields.Integer(required=True, metadata={"example": 500})
    priced = fields.Integer(required=True, metadata={"example": 500, "description": "Rows priced so far."})
    format = fields.Nested(
        UploadFormatSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null until a worker has read the file."},
    )
    fields_ = fields.List(
        fields.String(), data_key="fields", attribute="fields", metadata={"example": ["email"]}
    )
    country = fields.String(
        allow_none=True,
        metadata={
            "example": None,
            "description": "The country of phone numbers without a country code, if you named one.",
        },
    )
    fresh = fields.Boolean(required=True, metadata={"example": False})
    revision = fields.Integer(
        required=True, metadata={"example": 1, "description": "Counts the changes of the mapping."}
    )
    max_credits = fields.Integer(required=True, allow_none=True, metadata={"example": 500})
    purpose = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "sales_outreach", "description": "The last one that was stated."},
    )
    skip = fields.List(
        fields.String(),
        required=True,
        metadata={"example": ["crm", "owned"], "description": "The sources whose people are skipped."},
    )
    skip_when = fields.String(required=True, metadata={"example": "in_source"})
    estimate = fields.Nested(UploadEstimateSchema, required=True, allow_none=True)
    progress = fields.Nested(UploadProgressSchema, required=True)
    outcomes = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"example": {"found": 150, "not_found": 50}, "description": "Finished people by outcome."},
    )
    credits = fields.Nested(UploadCreditsSchema, required=True)


class UploadColumnSchema(ResponseSchema):
    """A column of the list, its field, and values of the first rows."""

    name = fields.String(metadata={"example": "Full name"})
    field = fields.String(allow_none=True, metadata={"example": "full_name"})
    samples = fields.List(fields.String(), metadata={"example": ["Ada Lovelace"]})


class UploadWarningSchema(ResponseSchema):
    """Cells of a column that were left out, changed or guessed, and the first lines of the file with one."""

    column = fields.String(metadata={"example": "Phone"})
    field = fields.String(metadata={"example": "phone"})
    code = fields.String(metadata={"example": "no_country"})
    effect = fields.String(
        metadata={"enum": [effect.value for effect in Effect], "example": Effect.LEFT_OUT.value}
    )
    count = fields.Integer(metadata={"example": 3})
    lines = fields.List(fields.Integer(), metadata={"example": [2, 5, 9]})
    detail = fields.String(metadata={"example": KINDS["no_country"].text})


class UploadSchema(UploadSummarySchema):
    """An uploaded list with its columns; they are empty until a worker has read the file."""

    columns = fields.List(fields.Nested(UploadColumnSchema), required=True)
    warnings = fields.List(fields.Nested(UploadWarningSchema), required=True)


class UploadsResponseSchema(ResponseSchema):
    """A page of the workspace's uploads, newest first."""

    uploads = fields.List(fields.Nested(UploadSummarySchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class ResultRowSchema(ResponseSchema):
    """A row with its result; the result of a person who occurs again is the first row's."""

    row = fields.Integer(metadata={"example": 1, "description": "From 1, without the header."})
    line = fields.Integer(metadata={"example": 2, "description": "The line in the file, from 1."})
    cells = fields.List(fields.String(), metadata={"example": ["Ada Lovelace", "acme.example"]})
    outcome = fields.String(
        metadata={
            "example": "found",
            "description": "As of an enriched item, or in a list to verify the verdict; or invalid, failed "
            "or pending.",
        }
    )
    email = fields.String(allow_none=True, metadata={"example": "ada@acme.example"})
    email_status = fields.String(allow_none=True, metadata={"example": "valid"})
    phone = fields.String(allow_none=True, metadata={"example": None})
    phone_do_not_call = fields.String(
        allow_none=True,
        metadata={
            "example": "TPS of 2026-11-20",
            "description": "The do-not-call registers that have the number, with their dates; `yes` if only "
            "the source of the number says so; null if none does.",
        },
    )
    email_reported = fields.String(
        allow_none=True,
        metadata={
            "example": None,
            "description": "What the workspace reported of the address, with the day.",
        },
    )
    phone_reported = fields.String(allow_none=True, metadata={"example": "wrong_number on 2026-11-20"})
    credits = fields.Integer(allow_none=True, metadata={"example": 1})
    sources = fields.List(fields.String(), metadata={"example": ["hunter"]})
    receipt = fields.String(allow_none=True, metadata={"example": ids.EXAMPLES["job"]})
    note = fields.String(allow_none=True)
    email_reasons = fields.List(fields.String(), metadata={"example": ["role"]})
    phone_status = fields.String(allow_none=True, metadata={"example": None})
    phone_country = fields.String(allow_none=True, metadata={"example": None})
    phone_line_type = fields.String(allow_none=True, metadata={"example": None})
    checked_on = fields.String(
        allow_none=True, metadata={"example": "2026-11-20", "description": "The day of the verdict."}
    )


class ResultResponseSchema(ResponseSchema):
    """A page of the result, in the order of the file."""

    rows = fields.List(fields.Nested(ResultRowSchema), required=True)
    next_cursor = fields.Integer(required=True, allow_none=True)
