"""Schemas of the responses of queued endpoints ("Waiting and polling" in docs/api/requests.md)."""

from __future__ import annotations

from marshmallow import fields

from app.domain import ids
from app.domain.kinds import KINDS, Outcome, Status, TraceOutcome
from app.web.schemas.contact_schemas import JobExclusionSchema
from app.web.schemas.fields import ResponseSchema


class ProgressSchema(ResponseSchema):
    """The progress of a job."""

    done = fields.Integer(metadata={"example": 1})
    total = fields.Integer(metadata={"example": 1})
    asking = fields.List(
        fields.String(),
        metadata={"example": ["hunter"], "description": "Providers that are being queried now."},
    )


class AskedBySchema(ResponseSchema):
    """The account that submitted the job."""

    id = fields.String(required=True, metadata={"example": ids.EXAMPLES["acc"]})
    name = fields.String(required=True, metadata={"example": "Ada Walker"})


class JobSchema(ResponseSchema):
    """A job, which is run and charged at most once for equal requests."""

    id = fields.String(required=True, metadata={"example": ids.EXAMPLES["job"]})
    kind = fields.String(required=True, metadata={"enum": list(KINDS), "example": "reveal.email"})
    status = fields.String(
        required=True, metadata={"enum": [s.value for s in Status], "example": "succeeded"}
    )
    outcome = fields.String(
        required=True,
        allow_none=True,
        metadata={"enum": [*(o.value for o in Outcome), None], "example": "found"},
    )
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    finished_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-20T09:30:00.412Z"}
    )
    progress = fields.Nested(ProgressSchema, required=True)
    client_reference = fields.String(metadata={"example": "row-17"})
    purpose = fields.String(
        metadata={
            "example": "sales_outreach",
            "description": "If it was stated, until the result is deleted.",
        }
    )
    error = fields.Dict(metadata={"description": "Why the job failed: a problem object."})
    excluded = fields.Nested(
        JobExclusionSchema, metadata={"description": "If the outcome is `excluded`, until it is deleted."}
    )
    asked_by = fields.Nested(
        AskedBySchema,
        allow_none=True,
        metadata={"description": "In the list: the account that submitted the job. Null once it is deleted."},
    )
    upload_id = fields.String(
        allow_none=True,
        metadata={
            "example": ids.EXAMPLES["upl"],
            "description": "In the list: the upload whose rows the job enriches; null for other jobs, and"
            " once the result has been deleted.",
        },
    )
    subject = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        allow_none=True,
        metadata={
            "example": {"full_name": "Ada Lovelace", "contact_id": ids.EXAMPLES["con"]},
            "description": "In the list: the person requested, and the contact found. Null for a suppressed"
            " person, for several people, and once the result has been deleted.",
        },
    )
    charged = fields.Integer(
        allow_none=True, metadata={"example": 1, "description": "In the list: the credits charged."}
    )


class TraceSchema(ResponseSchema):
    """A line of the receipt: a provider call, its outcome and its cost, or what the workspace had itself."""

    provider = fields.String(metadata={"example": "sandbox"})
    source = fields.String(
        metadata={"example": "crm", "description": "If `provider` is a system of the workspace: its kind."}
    )
    field = fields.String(
        metadata={"enum": ["email", "phone", "person", "company", "people", "verification"]}
    )
    outcome = fields.String(metadata={"enum": [o.value for o in TraceOutcome], "example": "hit"})
    status = fields.String(metadata={"example": "valid"})
    reason = fields.String(
        metadata={"example": "greylisted", "description": "Why the provider has no result, if it tells."}
    )
    latency_ms = fields.Integer(metadata={"example": 4})
    cost = fields.Float(
        allow_none=True, metadata={"example": 1, "description": "In the credits of the provider."}
    )
    at = fields.DateTime(
        metadata={"example": "2026-11-20T09:30:00.000Z", "description": "When the provider was called."}
    )
    item = fields.Integer(metadata={"example": 0, "description": "The index of the item in an enrichment."})


class CreditsSchema(ResponseSchema):
    """The credits charged and held for the job, and the balance; null without the permission `see_costs`."""

    charged = fields.Integer(allow_none=True, metadata={"example": 1})
    reserved = fields.Integer(allow_none=True, metadata={"example": 0})
    balance = fields.Integer(allow_none=True, metadata={"example": 249})
    already_owned = fields.Boolean(metadata={"example": False})


class JobResponseSchema(ResponseSchema):
    """The response of a queued endpoint; `result` is null until there is one."""

    job = fields.Nested(JobSchema, required=True)
    result = fields.Dict(required=True, allow_none=True)
    trace = fields.List(fields.Nested(TraceSchema), required=True)
    credits = fields.Nested(CreditsSchema, required=True)


class BalanceSchema(ResponseSchema):
    """The credits of the workspace; null without the permission `see_costs`."""

    balance = fields.Integer(required=True, allow_none=True, metadata={"example": 250})
    reserved = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"example": 0, "description": "Held for open jobs; not part of the balance."},
    )
