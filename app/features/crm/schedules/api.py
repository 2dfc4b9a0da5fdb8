"""/api/crm/connections/<id>/schedules: lists of a CRM that are enriched regularly, and their runs."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import AdminRequired, NotFound, PurposeRequired, ValidationFailed
from app.features.crm import connections
from app.features.crm.schedules import changes, enrichment, listing, schedules, sentences
from app.features.crm.schedules.listing import Receipt, RunSummary
from app.features.crm.schedules.schemas import (
    NewScheduleSchema,
    ReceiptsQuery,
    RunsQuery,
    ScheduleChangeSchema,
    ScheduleResponseSchema,
    ScheduleRunResponseSchema,
    ScheduleRunsResponseSchema,
    SchedulesResponseSchema,
)
from app.features.crm.schedules.tables import CrmSchedule
from app.features.crm.schedules.times import DAYS, Every
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.languages.texts import in_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.paging import split
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("crm_schedules", __name__, tag="CRM")
PATH = "/api/crm/connections/<connection_id>/schedules"
OF_CONNECTION = {"connection_id": id_parameter("crm")}
OF_SCHEDULE = OF_CONNECTION | {"schedule_id": id_parameter("crs")}
REPLAY: dict[int | str, Any] = {
    200: {
        "description": "A replay of the creating request: the schedule as it is now.",
        "content": {"application/json": {"schema": ScheduleResponseSchema}},
    }
}


@blueprint.get(PATH)
@Operation(errors=(NotFound,), path_parameters=OF_CONNECTION)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.output(SchedulesResponseSchema)
def index(connection_id: str) -> Response:
    """List the schedules of a connection."""
    workspace_id = caller().workspace_id
    with services().database.reading() as session:
        connections.get(session, workspace_id, connection_id)
        found = schedules.of_connection(session, workspace_id, connection_id)
        shown = [to_json(session, schedule) for schedule in found]
    return json_response({"schedules": shown})


@blueprint.post(PATH)
@Operation(
    errors=(AdminRequired, NotFound, PurposeRequired),
    takes_idempotency_key=True,
    path_parameters=OF_CONNECTION,
)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(NewScheduleSchema, arg_name="body")
@blueprint.output(ScheduleResponseSchema, status_code=201, description="The schedule.")
@blueprint.doc(responses=REPLAY)
def create(connection_id: str, body: dict[str, Any]) -> Response:
    """Have a list of the CRM enriched regularly; only an admin can do it, from a session.

    Each run asks for people whose record lacks a field, within the budget, and fills the empty properties of
    their records. What people edited in the CRM is kept. The account pays, within its spending limits.
    """
    schedule, is_replayed = changes.create(connection_id, body)
    return _described(schedule, 200 if is_replayed else 201, replayed=is_replayed)


@blueprint.get(f"{PATH}/<schedule_id>")
@Operation(errors=(NotFound,), path_parameters=OF_SCHEDULE)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.output(ScheduleResponseSchema)
def show(connection_id: str, schedule_id: str) -> Response:
    """Return a schedule."""
    with services().database.reading() as session:
        schedule = schedules.get(session, caller().workspace_id, connection_id, schedule_id)
    return _described(schedule)


@blueprint.post(f"{PATH}/<schedule_id>")
@Operation(errors=(AdminRequired, NotFound), takes_idempotency_key=True, path_parameters=OF_SCHEDULE)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(ScheduleChangeSchema, arg_name="body")
@blueprint.output(ScheduleResponseSchema)
def change(connection_id: str, schedule_id: str, body: dict[str, Any]) -> Response:
    """Change the settings of a schedule; only an admin can do it, from a session."""
    schedule, is_replayed = changes.change(connection_id, schedule_id, body)
    return _described(schedule, replayed=is_replayed)


@blueprint.post(f"{PATH}/<schedule_id>/pause")
@Operation(errors=(AdminRequired, NotFound), takes_idempotency_key=True, path_parameters=OF_SCHEDULE)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(ScheduleResponseSchema)
def pause(connection_id: str, schedule_id: str) -> Response:
    """Pause a schedule: what was asked for is still found and pushed; only an admin can do it."""
    schedule, is_replayed = changes.command(connection_id, schedule_id, "pause")
    return _described(schedule, replayed=is_replayed)


@blueprint.post(f"{PATH}/<schedule_id>/resume")
@Operation(errors=(AdminRequired, NotFound), takes_idempotency_key=True, path_parameters=OF_SCHEDULE)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(ScheduleResponseSchema)
def resume(connection_id: str, schedule_id: str) -> Response:
    """Let a schedule go on that was paused or has stopped; the admin who does it pays from then on."""
    schedule, is_replayed = changes.command(connection_id, schedule_id, "resume")
    return _described(schedule, replayed=is_replayed)


@blueprint.post(f"{PATH}/<schedule_id>/run")
@Operation(
    errors=(AdminRequired, NotFound, ValidationFailed),
    takes_idempotency_key=True,
    path_parameters=OF_SCHEDULE,
)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(ScheduleResponseSchema)
def run(connection_id: str, schedule_id: str) -> Response:
    """Run an active schedule now, unless it runs already; only an admin can do it, from a session."""
    schedule, is_replayed = changes.command(connection_id, schedule_id, "run")
    return _described(schedule, replayed=is_replayed)


@blueprint.delete(f"{PATH}/<schedule_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters=OF_SCHEDULE)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete(connection_id: str, schedule_id: str) -> Response:
    """Delete a schedule with its runs; the CRM keeps what was pushed."""
    changes.delete(connection_id, schedule_id)
    return Response(status=204)


@blueprint.get(f"{PATH}/<schedule_id>/runs")
@Operation(errors=(NotFound, ValidationFailed), path_parameters=OF_SCHEDULE)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.input(RunsQuery, location="query", arg_name="query")
@blueprint.output(ScheduleRunsResponseSchema)
def runs(connection_id: str, schedule_id: str, query: dict[str, Any]) -> Response:
    """List the runs of a schedule, newest first."""
    limit = query["limit"]
    with services().database.reading() as session:
        schedule = schedules.get(session, caller().workspace_id, connection_id, schedule_id)
        found = listing.latest(session, schedule, before=query.get("cursor"), limit=limit + 1)
    page, next_cursor = split(found, limit, "run.id")
    return json_response({"runs": list(map(_run_json, page)), "next_cursor": next_cursor})


@blueprint.get(f"{PATH}/<schedule_id>/runs/<run_id>")
@Operation(errors=(NotFound, ValidationFailed), path_parameters=OF_SCHEDULE | {"run_id": id_parameter("csr")})
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.input(ReceiptsQuery, location="query", arg_name="query")
@blueprint.output(ScheduleRunResponseSchema)
def show_run(connection_id: str, schedule_id: str, run_id: str, query: dict[str, Any]) -> Response:
    """Return a run with the receipts of its people."""
    limit = query["limit"]
    with services().database.reading() as session:
        schedule = schedules.get(session, caller().workspace_id, connection_id, schedule_id)
        found = listing.get(session, schedule, run_id)
        rows = listing.receipts(session, schedule, found.run, first=query["cursor"], limit=limit + 1)
    following = rows[limit].record.number if len(rows) > limit else None
    items = [_receipt_json(row) for row in rows[:limit]]
    return json_response({"run": _run_json(found), "items": items, "next_cursor": following})


def to_json(session: Session, schedule: CrmSchedule) -> dict[str, Any]:
    """Return the schedule with what it has spent this month."""
    reason = schedule.reason or schedule.waiting
    weekday = schedule.weekday
    return {
        "id": schedule.id,
        "connection_id": schedule.connection_id,
        "name": schedule.name,
        "list_id": schedule.list_id,
        "kind": schedule.kind,
        "fields": schedule.fields,
        "every": (Every.DAY if weekday is None else Every.WEEK).value,
        "weekday": None if weekday is None else DAYS[weekday].lower(),
        "hour": schedule.hour,
        "max_people": schedule.max_people,
        "monthly_credits": schedule.monthly_credits,
        "spent_this_month": enrichment.spent(session, schedule.id, at=database_clock.value(session)),
        "refresh_days": schedule.refresh_days,
        "purpose": schedule.purpose,
        "state": schedule.state,
        "reason": reason,
        "reason_message": in_response(sentences.reason_sentence(reason)) or None,
        "is_running": schedule.run_id is not None,
        "next_run_at": clock.rfc3339(schedule.next_at),
        "paid_by": schedule.account_id,
        "created_at": clock.rfc3339(schedule.created_at),
    }


def _described(schedule: CrmSchedule, status: int = 200, *, replayed: bool = False) -> Response:
    with services().database.reading() as session:
        shown = to_json(session, schedule)
    return json_response({"schedule": shown}, status, REPLAYED if replayed else None)


def _run_json(summary: RunSummary) -> dict[str, Any]:
    found = summary.run
    return {
        "id": found.id,
        "due_at": clock.rfc3339(found.due_at),
        "status": found.status,
        "members": found.members,
        "unindexed": found.unindexed,
        "is_partial": found.is_partial,
        "people": found.people,
        "outcomes": {outcome: count for outcome, count in summary.counts.items() if outcome is not None},
        "credits_charged": found.charged,
        "reason": found.reason,
        "reason_message": in_response(sentences.reason_sentence(found.reason)) or None,
        "push_id": found.push_id,
        "started_at": clock.rfc3339(found.started_at),
        "finished_at": clock.rfc3339(found.finished_at),
    }


def _receipt_json(receipt: Receipt) -> dict[str, Any]:
    record, push = receipt.record, receipt.push
    return {
        "record_id": record.crm_id,
        "asked": list(filter(None, record.asked.split(","))),
        "outcome": record.outcome,
        "error": record.error,
        "error_message": in_response(sentences.error_sentence(record.error)) or None,
        "credits_charged": record.charged,
        "job_id": record.job_id,
        "contact_id": record.contact_id,
        "marks": record.marks,
        "push_outcome": None if push is None else push.outcome,
        "push_actions": {} if push is None else push.actions,
    }
