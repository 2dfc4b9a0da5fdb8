"""GET /api/usage: credits, jobs and provider calls of a period, by account, key, kind, provider or day."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.callers import Scope
from app.domain.errors import ValidationFailed
from app.domain.ids import EXAMPLES
from app.features.usage.reports import UsageReport, parse_period, read_report
from app.features.usage.usage import FIGURES, Grouping
from app.features.usage.usage_query import UsageQuery
from app.web.bodies.body import json_response
from app.web.bodies.downloads import TABLES, json_download, json_file, table_download
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("usage", __name__, tag="Limits and usage")


class UsageFiguresSchema(ResponseSchema):
    """Credits by the time at which they were spent or refunded, and the jobs submitted in the period."""

    credits = fields.Integer(required=True, allow_none=True, metadata={"example": 120})
    jobs = fields.Integer(required=True, metadata={"example": 150})
    found = fields.Integer(required=True, metadata={"example": 120})
    not_found = fields.Integer(required=True, metadata={"example": 28})
    provider_calls = fields.Integer(required=True, metadata={"example": 310})
    provider_cost = fields.Float(
        required=True, metadata={"example": 98.5, "description": "In the providers' own credits."}
    )


class UsageRowSchema(UsageFiguresSchema):
    """The figures of an account, key, kind, provider or day."""

    id = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": EXAMPLES["acc"],
            "description": "An id, a kind, a provider or a date; null for jobs of no key, or of no account.",
        },
    )
    name = fields.String(
        required=True, allow_none=True, metadata={"description": "The name of the account or key."}
    )


class UsageResponseSchema(ResponseSchema):
    """The usage of a period."""

    start = fields.Date(required=True, data_key="from", metadata={"example": "2026-11-01"})
    end = fields.Date(required=True, data_key="to", metadata={"example": "2026-11-30"})
    by = fields.String(required=True, validate=validate.OneOf(list(Grouping)))
    rows = fields.List(fields.Nested(UsageRowSchema), required=True)
    totals = fields.Nested(UsageFiguresSchema, required=True)


@blueprint.get("/api/usage")
@Operation(errors=(ValidationFailed,), other_body=json_file("usage"), sends_file=True)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL, Scope.ENRICH])
@limited(Policy.READ)
@blueprint.input(UsageQuery, location="query", arg_name="query")
@blueprint.output(UsageResponseSchema)
def usage(query: dict[str, Any]) -> Response:
    """Report the usage of a period.

    Admins see that of the workspace, members and API keys that of their account. The credits of a period
    equal those in the ledger. Providers have no credits: a job may have asked several.
    """
    start, end = parse_period(query.get("start"), query.get("end"))
    report = read_report(caller(), start, end, query["by"])
    rows = [_row(report, group) for group in report.rows]
    if query.get("format") in TABLES:
        cells = (_cells(row) for row in rows)
        return table_download("usage", ("id", "name", *FIGURES), cells, query["format"])
    if query.get("format") == "json":
        return json_download("usage", rows)
    return json_response(
        {
            "from": _date(start),
            "to": _date(end),
            "by": query["by"].value,
            "rows": rows,
            "totals": asdict(report.totals),
        }
    )


def _row(report: UsageReport, group: str | None) -> dict[str, Any]:
    return {"id": group, "name": report.names.get(group), **asdict(report.rows[group])}


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    return {name: "" if value is None else value for name, value in row.items()}


def _date(day: date) -> str:
    return day.isoformat()
