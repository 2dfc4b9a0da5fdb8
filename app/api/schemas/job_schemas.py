"""The response body of queued endpoints (contract 2.3) and its schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from marshmallow import fields

from app.api.schemas.fields import ResponseSchema
from app.core.accounts.workspaces import Balance
from app.core.jobs import jobs
from app.core.jobs.jobs import Job
from app.domain import ids
from app.domain.kinds import Kind, Outcome, Status, TraceOutcome

EMPTY_RESULT: dict[str, Any] = {
    "contact": None,
    "company": None,
    "emails": [],
    "phones": [],
    "sources": {"contact": {}, "company": {}},
    "conflicts": [],
}
FREE_KINDS = frozenset({Kind.COMPANY_BY_HASH, Kind.LEADS_BY_WEBSITE_HASH})


@dataclass(frozen=True, slots=True)
class JobSnapshot:
    """A job, its items and the balance of its workspace, read in one transaction.

    `client_reference` is that of the caller. `trace` is the receipt so far. `asking` are the providers that
    are being queried.
    """

    job: Job
    items: list[jobs.JobItem]
    balance: Balance
    client_reference: str | None
    trace: list[dict[str, Any]]
    asking: list[str] = field(default_factory=list)


def job_body(snapshot: JobSnapshot, *, repeated: bool) -> dict[str, Any]:
    """Return the response body of a queued endpoint (contract 2.3)."""
    job = snapshot.job
    owned = repeated and job.outcome == Outcome.FOUND and job.kind not in FREE_KINDS
    return {
        "job": _job(snapshot),
        "result": _items_result(snapshot.items) if snapshot.items else _result(snapshot),
        "trace": snapshot.trace,
        "credits": {
            "charged": 0 if repeated else job.charged,
            "reserved": 0 if job.finished_at else job.held - job.charged,
            "balance": snapshot.balance.available,
            "already_owned": job.already_owned or owned,
        },
    }


def _job(snapshot: JobSnapshot) -> dict[str, Any]:
    body = jobs.to_public(snapshot.job)
    body.pop("client_reference", None)
    if snapshot.asking:
        body["progress"] |= {"asking": snapshot.asking}
    reference = snapshot.client_reference
    return body if reference is None else body | {"client_reference": reference}


def _result(snapshot: JobSnapshot) -> dict[str, Any] | None:
    result = snapshot.job.result
    if result is None or snapshot.client_reference is None:
        return result
    return {**result, "client_reference": snapshot.client_reference}


def _items_result(items: list[jobs.JobItem]) -> dict[str, Any]:
    """Return the results of an enrichment; those of unfinished items are empty."""
    return {
        "items": [
            {
                "index": item.index,
                "client_reference": item.request.get("client_reference"),
                "outcome": item.outcome,
                **(item.result or EMPTY_RESULT),
                "credits_charged": item.charged,
                "error": item.error,
            }
            for item in items
        ],
        "next_cursor": None,
    }


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
    kind = fields.String(required=True, metadata={"enum": [k.value for k in Kind], "example": "reveal.email"})
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
    error = fields.Dict(metadata={"description": "Why the job failed: a problem object."})
    asked_by = fields.Nested(
        AskedBySchema,
        allow_none=True,
        metadata={"description": "In the list: the account that submitted the job. Null once it is deleted."},
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
    charged = fields.Integer(metadata={"example": 1, "description": "In the list: the credits charged."})


class TraceSchema(ResponseSchema):
    """A line of the receipt: a provider call, its outcome and its cost."""

    provider = fields.String(metadata={"example": "sandbox"})
    field = fields.String(metadata={"enum": ["email", "phone", "person", "company", "verification"]})
    outcome = fields.String(metadata={"enum": [o.value for o in TraceOutcome], "example": "hit"})
    status = fields.String(metadata={"example": "valid"})
    latency_ms = fields.Integer(metadata={"example": 4})
    cost = fields.Float(metadata={"example": 1, "description": "In the credits of the provider."})
    at = fields.DateTime(
        metadata={"example": "2026-11-20T09:30:00.000Z", "description": "When the provider was called."}
    )
    item = fields.Integer(metadata={"example": 0, "description": "The index of the item in an enrichment."})


class CreditsSchema(ResponseSchema):
    """The credits charged and held for the job, and the balance of the workspace."""

    charged = fields.Integer(metadata={"example": 1})
    reserved = fields.Integer(metadata={"example": 0})
    balance = fields.Integer(metadata={"example": 249})
    already_owned = fields.Boolean(metadata={"example": False})


class JobResponseSchema(ResponseSchema):
    """The response of a queued endpoint; `result` is null until there is one."""

    job = fields.Nested(JobSchema, required=True)
    result = fields.Dict(required=True, allow_none=True)
    trace = fields.List(fields.Nested(TraceSchema), required=True)
    credits = fields.Nested(CreditsSchema, required=True)
