"""/api/verifications: verify addresses and numbers that the caller has, single ones and lists."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import InsufficientCredits, NotFound, SpendingLimitReached, ValidationFailed
from app.domain.lists.files import xlsx_parts
from app.features.verifications import list_values, lists, requests
from app.features.verifications.requests import VerificationBody
from app.features.verifications.schemas import (
    DRY_RUN,
    RowsQuery,
    VerificationSchema,
    VerificationsQuery,
    VerifiedListQuery,
    VerifiedListSchema,
    VerifiedListsSchema,
    VerifiedValuesSchema,
)
from app.web.bodies import received_files
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.schemas.paging import split
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("verifications", __name__, tag="Verifications")

PATH = {"verification_id": id_parameter("vrf")}
EXAMPLE = {"values": ["ada@sandbox.example"], "max_credits": 1}
RESULT: dict[int | str, Any] = {
    200: {
        "description": "The values in the order of the list, each with its verdict.",
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            xlsx_parts.MIMETYPE: {"schema": {"type": "string", "format": "binary"}},
            "application/json": {"schema": VerifiedValuesSchema},
        },
    }
}


@blueprint.post("/api/verifications")
@Operation(errors=(InsufficientCredits, SpendingLimitReached, ValidationFailed), other_body=DRY_RUN)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.SPEND)
@blueprint.input(VerificationSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(JobResponseSchema)
def verify(body: VerificationBody) -> Response:
    """Verify up to 100 addresses and numbers.

    Each address with a verdict costs the price of `verification`: `valid`, `accept_all`, `risky` or
    `invalid`. An `unknown` one is free, as is a value that occurs twice. An address is never `valid` if its
    domain accepts all mail. A number is checked against the numbering plan of its country, free: that it is
    in service is not checked. A verdict that you have, and that has not expired, is repeated free, unless
    `fresh` is true. With `dry_run` the response is an estimate and nothing is queued.
    """
    return requests.submit(body)


@blueprint.post("/api/verifications/lists")
@Operation(
    errors=(InsufficientCredits, SpendingLimitReached, ValidationFailed),
    takes_idempotency_key=True,
    file_types=(received_files.FORM, received_files.CSV, received_files.XLSX),
    file_examples={received_files.CSV: "email\nada@sandbox.example\n"},
)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.SPEND)
@blueprint.input(VerifiedListQuery, location="query", arg_name="query")
@blueprint.output(VerifiedListSchema, status_code=201, description="The list; workers verify it next.")
def verify_list(query: dict[str, Any]) -> Response:
    """Verify a list of up to 10,000 values, as a CSV file or an Excel workbook.

    The columns of addresses and numbers are found as in uploads; without a header, one value a line. Each
    value is verified and charged once, in jobs of 100, which have the receipts. What the list costs at most
    is held at once. A verdict that is not there within a day is `unknown`.
    """
    found, same = requests.read_file(query.get("country"))
    terms = requests.terms_of(found, query.get("max_credits"), is_fresh=query["fresh"])
    if query["dry_run"]:
        return json_response({"estimate": requests.estimate(found, terms)})
    created, is_replay = requests.create_list(found, terms, same)
    described = requests.with_unreadable(created, found)
    return json_response(described, 200, REPLAYED) if is_replay else json_response(described, 201)


@blueprint.get("/api/verifications")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.READ)
@blueprint.input(VerificationsQuery, location="query", arg_name="query")
@blueprint.output(VerifiedListsSchema)
def list_verifications(query: dict[str, Any]) -> Response:
    """List the workspace's verified lists, newest first."""
    with services().database.reading() as session:
        found = lists.latest(
            session, caller().workspace_id, before=query.get("cursor"), limit=query["limit"] + 1
        )
        page, next_cursor = split(found, query["limit"])
        described = [requests.to_public(lists.describe(session, row)) for row in page]
    return json_response({"verifications": described, "next_cursor": next_cursor})


@blueprint.get("/api/verifications/<verification_id>")
@Operation(errors=(NotFound,), path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.READ)
@blueprint.output(VerifiedListSchema)
def get_verification(verification_id: str) -> Response:
    """Return a verified list: its progress, its cost, and how many values have each status."""
    with services().database.reading() as session:
        row = lists.get(session, caller().workspace_id, verification_id)
        described = lists.describe(session, row)
        statuses = list_values.counts(session, row.id)
    return json_response(requests.to_public(described) | {"statuses": statuses})


@blueprint.get("/api/verifications/<verification_id>/result")
@Operation(errors=(NotFound, ValidationFailed), path_parameters=PATH, sends_file=True)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.READ)
@blueprint.input(RowsQuery, location="query", arg_name="query")
@blueprint.doc(responses=RESULT)
def get_verification_result(verification_id: str, query: dict[str, Any]) -> Response:
    """Return the verdicts of a list as CSV or XLSX, or a page of them as JSON; also before it is finished.

    `line` is the first line of the file that has the value.
    """
    if (file_format := query["format"]) != "json":
        return requests.download(verification_id, file_format)
    requests.record_download(verification_id)
    start, limit = query["cursor"], query["limit"]
    with services().database.reading() as session:
        read = list_values.page(session, verification_id, start=start, limit=limit + 1)
    shown = [_public_row(asdict(row)) for row in requests.shown_rows(read[:limit])]
    next_cursor = read[limit].position if len(read) > limit else None
    return json_response({"values": shown, "next_cursor": next_cursor})


def _public_row(row: dict[str, Any]) -> dict[str, Any]:
    row.pop("position")
    return row | {"reasons": list(row["reasons"])}
