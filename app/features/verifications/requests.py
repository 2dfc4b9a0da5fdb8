"""Submits verifications of the caller, for the API and the pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from itertools import chain
from typing import Any

from flask import Response

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.domain.kinds import Kind
from app.domain.messages import Message
from app.domain.permissions import Permission
from app.engine.enrichments import estimate_sentences
from app.engine.jobs.submission import JobRequest
from app.engine.own_records import known_verdicts
from app.features.verifications import list_values, lists, values
from app.features.verifications.list_values import ListRow
from app.features.verifications.lists import Terms
from app.features.verifications.values import Values
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission, costs, estimates, permissions
from app.web.bodies.body import json_response
from app.web.bodies.downloads import table_download
from app.web.bodies.idempotency_header import begin, finish
from app.web.bodies.received_files import PART, received_file
from app.web.export_records import record_export
from app.web.jobs.job_requests import submit_and_wait
from app.web.services import services
from app.web.sign_in.auth import caller

MAX_FILE_MB = 5
MAX_UNREADABLE = 100
"""The lines of a list that an answer names."""
NOTHING = Message(
    "None of it is an e-mail address or a phone number with a country code. Correct the values, or name the "
    "country of the numbers."
)
COLUMNS = (
    *("Line", "Value", "Status", "Reasons", "Country", "Line type", "Credits", "Verified at", "Receipt"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationBody:
    """A validated request body."""

    values: list[str]
    country: str | None
    max_credits: int | None
    dry_run: bool
    fresh: bool
    webhook_url: str | None
    client_reference: str | None


def submit(body: VerificationBody) -> Response:
    """Submit the values for the caller, and wait as the caller prefers; or return the estimate.

    Raises:
        ValidationFailed: a value is not readable.

    """
    found = values.of_texts(body.values, body.country)
    if found.unreadable:
        errors = tuple(FieldError(f"/values/{each.line - 1}", each.detail) for each in found.unreadable)
        raise ValidationFailed(errors=errors)
    terms = terms_of(found, body.max_credits, is_fresh=body.fresh)
    if body.dry_run:
        return json_response({"estimate": estimate(found, terms)})
    items = tuple(value.request() for value in found.found)
    reference = {} if body.client_reference is None else {"client_reference": body.client_reference}
    request = JobRequest(
        kind=Kind.VERIFICATION,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        request={"max_credits": body.max_credits, **terms.request, **reference},
        dedup_key={
            "values": [list(value) for value in found.found],
            "max_credits": body.max_credits,
            **terms.request,
        },
        price=lists.hold_of(found, terms),
        items=items,
        webhook_url=body.webhook_url,
        is_fresh=body.fresh,
    )
    return submit_and_wait(request, client_reference=body.client_reference)


def terms_of(found: Values, max_credits: int | None, *, is_fresh: bool) -> Terms:
    """Return what the values cost the workspace, and on which it has verdicts that are repeated."""
    app = services()
    price = app.settings.prices[Kind.VERIFICATION]
    if is_fresh:
        return Terms(price=price, max_credits=max_credits, is_fresh=True)
    addresses = [value.text for value in found.found if value.field == "email"]
    workspace_id, max_age = caller().workspace_id, app.settings.default_max_age
    with app.database.reading() as session:
        now = database_clock.value(session)
        known = known_verdicts.reusable(session, workspace_id, addresses, max_age=max_age, now=now)
    return Terms(price=price, max_credits=max_credits, known=known.keys())


def estimate(found: Values, terms: Terms) -> dict[str, Any]:
    """Return what a verification costs at most, and how many values of each kind it has."""
    counts = {
        "credits_min": 0,
        "credits_max": lists.hold_of(found, terms),
        "values": len(found.found),
        "emails": found.emails,
        "known": len(terms.known),
        "phones": len(found.found) - found.emails,
        "duplicates": found.duplicates,
        "unreadable": len(found.unreadable),
    }
    return estimates.with_balance({**counts, "summary": estimate_sentences.of_verification(counts)})


def read_file(country: str | None) -> tuple[Values, dict[str, Any]]:
    """Return the values in the file of this request, and what its replays have in common.

    Raises:
        PermissionDenied: the caller may not start lists.
        ValidationFailed: the file cannot be read as a list, or nothing in it can be verified.

    """
    permissions.require(Permission.START_UPLOADS)
    with received_file(MAX_FILE_MB) as file:
        same = {"sha256": sha256(file.content).hexdigest(), "country": country}
        try:
            found = values.of_file(BytesIO(file.content), country)
        except InvalidValue as error:
            raise ValidationFailed(str(error), errors=(FieldError(f"/{PART}", str(error)),)) from error
    if not found.found:
        raise ValidationFailed(NOTHING, errors=(FieldError(f"/{PART}", NOTHING),))
    return found, same


def create_list(found: Values, terms: Terms, same: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Create the list with its jobs and send these to the workers; return it, and whether it is a replay."""
    current, app = caller(), services()
    with app.database.reading() as session:
        keys = session.keys
    new = lists.prepare(
        keys,
        found,
        terms,
        workspace_id=current.workspace_id,
        account_id=current.account_id,
        key_id=current.key_id,
    )
    with admission.transaction() as session:
        now = database_clock.now()
        body = {**same, "max_credits": terms.max_credits, **terms.request}
        if (reference := begin(session, now=now, body=body)) is not None:
            row = lists.get(session, current.workspace_id, reference)
            return to_public(lists.describe(session, row)), True
        row = lists.create(session, new, now=now)
        finish(session, row.id)
        described = to_public(lists.describe(session, row))
    job_ids = [job.job_id for job in new.jobs]
    app.publisher.publish(Kind.VERIFICATION, job_ids)  # otherwise the sweeper does
    log.info("list to verify", verification=described["id"], jobs=len(job_ids))
    return described, False


def to_public(described: dict[str, Any]) -> dict[str, Any]:
    """Return the representation of a list with its times as texts."""
    return described | {name: rfc3339(described[name]) for name in ("created_at", "finished_at")}


def with_unreadable(described: dict[str, Any], found: Values) -> dict[str, Any]:
    """Return the representation of a new list with the first lines that were not readable."""
    left_out = [each._asdict() for each in found.unreadable[:MAX_UNREADABLE]]
    return described | {"left_out": left_out}


def record_download(list_id: str) -> None:
    """Record that the verdicts of a list of the workspace are taken out of the service.

    Raises:
        NotFound: the workspace has no such list.
        PermissionDenied: the caller may not download results.

    """
    with services().database.reading() as session:
        lists.get(session, caller().workspace_id, list_id)
    record_export(Action.EXPORT_VERIFICATION, list_id)


def shown_rows(rows: list[ListRow]) -> list[ListRow]:
    """Return the verdicts as the caller may see them: without what they cost, if costs are hidden."""
    return [replace(row, credits=None) for row in rows] if costs.are_hidden() else rows


def download(list_id: str, file_format: str) -> Response:
    """Return the verdicts of a list as a file, in its order; `record_download` has the errors."""
    record_download(list_id)
    shown = map(shown_rows, list_values.batches(services().database, list_id))
    return table_download("verification", COLUMNS, _cells(shown), file_format, for_spreadsheet=True)


def _cells(batches: Iterator[list[ListRow]]) -> Iterator[dict[str, str | float]]:
    for row in chain.from_iterable(batches):
        cells: tuple[str | float, ...] = (
            *(row.line, row.value, row.status, ", ".join(row.reasons)),
            *(row.country or "", row.line_type or "", "" if row.credits is None else row.credits),
            *(row.verified_at or "", row.job_id),
        )
        yield dict(zip(COLUMNS, cells, strict=True))
