"""The shape of every queued endpoint's answer (contract 2.3), and its schema for the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from apiflask import Schema
from marshmallow import fields

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
    """A job as it was read at one moment, what its workspace had then, and the reader's own reference.

    `trace` is the receipt as far as it goes, `asking` the providers whose answers are waited for.
    """

    job: Job
    items: list[jobs.JobItem]
    balance: Balance
    client_reference: str | None
    trace: list[dict[str, Any]]
    asking: list[str] = field(default_factory=list)


def job_body(sight: JobSnapshot, *, repeated: bool) -> dict[str, Any]:
    """Write the answer of a queued endpoint (contract 2.3)."""
    job = sight.job
    owned = repeated and job.outcome == Outcome.FOUND and job.kind not in FREE_KINDS
    return {
        "job": _job(sight),
        "result": _items_result(sight.items) if sight.items else _result(sight),
        "trace": sight.trace,
        "credits": {
            "charged": 0 if repeated else job.charged,
            "reserved": 0 if job.finished_at else job.held - job.charged,
            "balance": sight.balance.available,
            "already_owned": job.already_owned or owned,
        },
    }


def _job(sight: JobSnapshot) -> dict[str, Any]:
    shown = jobs.to_public(sight.job)
    shown.pop("client_reference", None)
    if sight.asking:
        shown["progress"] |= {"asking": sight.asking}
    reference = sight.client_reference
    return shown if reference is None else shown | {"client_reference": reference}


def _result(sight: JobSnapshot) -> dict[str, Any] | None:
    result = sight.job.result
    if result is None or sight.client_reference is None:
        return result
    return {**result, "client_reference": sight.client_reference}


def _items_result(items: list[jobs.JobItem]) -> dict[str, Any]:
    """Write the items of an enrichment that are done, and all of them once it is over."""
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


class ProgressSchema(Schema):
    """How far a job is."""

    done = fields.Integer(metadata={"example": 1})
    total = fields.Integer(metadata={"example": 1})
    asking = fields.List(
        fields.String(),
        metadata={"example": ["hunter"], "description": "Providers whose answers are waited for right now."},
    )


class AskedBySchema(Schema):
    """The account that asked."""

    id = fields.String(required=True, metadata={"example": ids.EXAMPLES["acc"]})
    name = fields.String(required=True, metadata={"example": "Ada Walker"})


class JobSchema(Schema):
    """One question, asked once, paid at most once, answered once."""

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
    error = fields.Dict(metadata={"description": "Why a failed job has no answer: a problem object."})
    asked_by = fields.Nested(
        AskedBySchema,
        allow_none=True,
        metadata={"description": "In the list: who asked. Null once the account is gone."},
    )
    subject = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        allow_none=True,
        metadata={
            "example": {"full_name": "Ada Lovelace", "contact_id": ids.EXAMPLES["con"]},
            "description": "In the list: whom the caller asked about, and the contact found. Null for"
            " a suppressed person, for several people, and once the answer is no longer kept.",
        },
    )
    charged = fields.Integer(metadata={"example": 1, "description": "In the list: credits spent."})


class TraceSchema(Schema):
    """One line of the receipt: who was asked, what came of it, what it cost in the provider's credits."""

    provider = fields.String(metadata={"example": "sandbox"})
    field = fields.String(metadata={"enum": ["email", "phone", "person", "company", "verification"]})
    outcome = fields.String(metadata={"enum": [o.value for o in TraceOutcome], "example": "hit"})
    status = fields.String(metadata={"example": "valid"})
    latency_ms = fields.Integer(metadata={"example": 4})
    cost = fields.Float(metadata={"example": 1, "description": "In the provider's own credits."})
    at = fields.DateTime(
        metadata={"example": "2026-11-20T09:30:00.000Z", "description": "When it was asked."}
    )
    item = fields.Integer(metadata={"example": 0, "description": "Which item of an enrichment it was about."})


class CreditsSchema(Schema):
    """What the question cost, what it still holds, and what the workspace has left."""

    charged = fields.Integer(metadata={"example": 1})
    reserved = fields.Integer(metadata={"example": 0})
    balance = fields.Integer(metadata={"example": 249})
    already_owned = fields.Boolean(metadata={"example": False})


class JobResponseSchema(Schema):
    """The answer of every queued endpoint, over or not; `result` is null until there is one."""

    job = fields.Nested(JobSchema, required=True)
    result = fields.Dict(required=True, allow_none=True)
    trace = fields.List(fields.Nested(TraceSchema), required=True)
    credits = fields.Nested(CreditsSchema, required=True)
