"""/crm/connections/<id>/schedules: lists of a CRM that are enriched regularly, and their last runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, flash, request

from app.domain.errors import FieldError, PurposeRequired, ValidationFailed
from app.domain.messages import Message
from app.features.crm import connections
from app.features.crm.connections import CrmConnection
from app.features.crm.schedules import changes, enrichment, listing, schedules, sentences
from app.features.crm.schedules.changes import Command
from app.features.crm.schedules.schemas import FIELDS, NewScheduleSchema, ScheduleChangeSchema
from app.features.crm.schedules.tables import CrmSchedule
from app.features.crm.schedules.times import DAYS, Every
from app.features.crm.schemas import crm_named
from app.infra.database import database_clock
from app.web.pages import forms, paging, purpose_choices
from app.web.pages.access import admin_only, signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("crm_schedules_page", __name__, template_folder="templates")
blueprint.add_app_template_filter(sentences.reason_sentence, "crm_schedule_reason")
blueprint.add_app_template_filter(sentences.error_sentence, "crm_schedule_error")
PATH = "/crm/connections/<connection_id>/schedules"
RUNS = 20
DEFAULTS: Mapping[str, Any] = {
    "name": "",
    "list_id": "",
    "kind": "contact",
    "fields": ["email"],
    "when": Every.DAY.value,
    "hour": 4,
    "max_people": 100,
    "monthly_credits": 500,
    "refresh_days": "",
    "purpose": None,
}
_NUMBERS = ("hour", "max_people", "monthly_credits")
_DONE = {
    "pause": Message("The schedule is paused."),
    "resume": Message("The schedule goes on."),
    "run": Message("The schedule runs now."),
}


_TIMES = [
    (Every.DAY.value, Message("Every day")),
    ("monday", Message("Every Monday")),
    ("tuesday", Message("Every Tuesday")),
    ("wednesday", Message("Every Wednesday")),
    ("thursday", Message("Every Thursday")),
    ("friday", Message("Every Friday")),
    ("saturday", Message("Every Saturday")),
    ("sunday", Message("Every Sunday")),
]


@blueprint.get(PATH)
@signed_in
@limited(Policy.READ)
def index(connection_id: str) -> Response:
    """Show the schedules of a connection, and the form of a new one."""
    return _index(connection_id)


@blueprint.post(PATH)
@admin_only
@limited(Policy.WRITE)
def create(connection_id: str) -> Response:
    """Make a schedule."""
    sent = _sent() | forms.texts("list_id", "kind")
    try:
        settings = forms.load(NewScheduleSchema(), _body(sent))
        schedule, _is_replay = changes.create(connection_id, settings)
    except InvalidForm as invalid:
        return _index(connection_id, 422, sent=sent, errors=invalid.messages)
    except PurposeRequired:
        return _index(connection_id, 422, sent=sent, errors={"purpose": purpose_choices.MISSING})
    except ValidationFailed as problem:
        return _index(connection_id, 422, sent=sent, errors=_messages(problem))
    flash("The schedule is stored. It runs when it is due, or at once when you ask for it.", "success")
    return go_to("crm_schedules_page.show", connection_id=connection_id, schedule_id=schedule.id)


@blueprint.get(f"{PATH}/<schedule_id>")
@signed_in
@limited(Policy.READ)
def show(connection_id: str, schedule_id: str) -> Response:
    """Show a schedule with its last runs."""
    return _show(connection_id, schedule_id)


@blueprint.post(f"{PATH}/<schedule_id>")
@admin_only
@limited(Policy.WRITE)
def change(connection_id: str, schedule_id: str) -> Response:
    """Store other settings."""
    sent = _sent()
    try:
        settings = forms.load(ScheduleChangeSchema(), _body(sent))
        changes.change(connection_id, schedule_id, settings)
    except InvalidForm as invalid:
        return _show(connection_id, schedule_id, 422, sent=sent, errors=invalid.messages)
    except ValidationFailed as problem:
        return _show(connection_id, schedule_id, 422, sent=sent, errors=_messages(problem))
    flash("The settings are stored.", "success")
    return go_to("crm_schedules_page.show", connection_id=connection_id, schedule_id=schedule_id)


@blueprint.post(f"{PATH}/<schedule_id>/pause")
@admin_only
@limited(Policy.WRITE)
def pause(connection_id: str, schedule_id: str) -> Response:
    """Pause the schedule."""
    return _command(connection_id, schedule_id, "pause")


@blueprint.post(f"{PATH}/<schedule_id>/resume")
@admin_only
@limited(Policy.WRITE)
def resume(connection_id: str, schedule_id: str) -> Response:
    """Let the schedule go on, at the cost of this admin."""
    return _command(connection_id, schedule_id, "resume")


@blueprint.post(f"{PATH}/<schedule_id>/run")
@admin_only
@limited(Policy.WRITE)
def run(connection_id: str, schedule_id: str) -> Response:
    """Run the schedule now."""
    return _command(connection_id, schedule_id, "run")


@blueprint.post(f"{PATH}/<schedule_id>/delete")
@admin_only
@limited(Policy.WRITE)
def delete(connection_id: str, schedule_id: str) -> Response:
    """Delete the schedule."""
    changes.delete(connection_id, schedule_id)
    flash("The schedule and its receipts are deleted. The CRM keeps what was filled in.", "success")
    return go_to("crm_schedules_page.index", connection_id=connection_id)


@blueprint.get(f"{PATH}/<schedule_id>/runs/<run_id>")
@signed_in
@limited(Policy.READ)
def receipts(connection_id: str, schedule_id: str, run_id: str) -> Response:
    """Show a run with the receipt of each person."""
    first = forms.number(request.args.get("first", "0"))
    if not isinstance(first, int):
        raise ValidationFailed(errors=(FieldError("/first", "Use the link of the previous page."),))
    with services().database.reading() as session:
        connection = connections.get(session, caller().workspace_id, connection_id)
        schedule = schedules.get(session, caller().workspace_id, connection_id, schedule_id)
        found = listing.get(session, schedule, run_id)
        rows = listing.receipts(session, schedule, found.run, first=first, limit=paging.ROWS + 1)
    return page(
        "crm_schedule_run.html",
        connection=connection,
        crm=crm_named(connection.vendor),
        schedule=schedule,
        summary=found,
        receipts=rows[: paging.ROWS],
        following=rows[paging.ROWS].record.number if len(rows) > paging.ROWS else None,
    )


def _command(connection_id: str, schedule_id: str, what: Command) -> Response:
    changes.command(connection_id, schedule_id, what)
    flash(_DONE[what], "success")
    return go_to("crm_schedules_page.show", connection_id=connection_id, schedule_id=schedule_id)


def _index(
    connection_id: str,
    status: int = 200,
    *,
    sent: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    with services().database.reading() as session:
        connection = connections.get(session, caller().workspace_id, connection_id)
        found = schedules.of_connection(session, caller().workspace_id, connection_id)
    return page(
        "crm_schedules.html",
        status,
        schedules=found,
        values=DEFAULTS if sent is None else {**DEFAULTS, **sent},
        errors=errors or {},
        **_shared(connection),
    )


def _show(
    connection_id: str,
    schedule_id: str,
    status: int = 200,
    *,
    sent: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    with services().database.reading() as session:
        connection = connections.get(session, caller().workspace_id, connection_id)
        schedule = schedules.get(session, caller().workspace_id, connection_id, schedule_id)
        runs = listing.latest(session, schedule, limit=RUNS)
        at = database_clock.value(session)
        spent = enrichment.spent(session, schedule_id, at=at)
    return page(
        "crm_schedule.html",
        status,
        schedule=schedule,
        runs=runs,
        spent=spent,
        is_live=bool(schedule.run_id or schedule.waiting or (schedule.next_at and schedule.next_at <= at)),
        values=_stored(schedule) if sent is None else {**_stored(schedule), **sent},
        errors=errors or {},
        **_shared(connection),
    )


def _shared(connection: CrmConnection) -> dict[str, Any]:
    crm = crm_named(connection.vendor)
    return {
        "connection": connection,
        "crm": crm,
        "lists": crm.member_lists,
        "kinds": [("contact", "Contacts"), ("lead", "Leads")] if crm.lead_prefix else [],
        "fields": FIELDS,
        "times": _TIMES,
        "hours": [(str(hour), f"{hour:02}:00 UTC") for hour in range(24)],
        "purposes": purpose_choices.offered(),
    }


def _sent() -> dict[str, Any]:
    """Return the settings in the form as texts, and the fields that are checked."""
    names = ("name", "when", *_NUMBERS, "refresh_days", "purpose")
    return forms.texts(*names) | {"fields": [name for name in FIELDS if forms.text(name)]}


def _body(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that the schemas of the API take."""
    body = {name: value for name, value in sent.items() if name != "when"}
    body |= {name: forms.number(body[name]) for name in _NUMBERS if name in body}
    refresh_days = sent.get("refresh_days", "")
    body["refresh_days"] = forms.number(refresh_days) if refresh_days else None
    when = sent.get("when", Every.DAY.value)
    weekly = {"every": Every.WEEK.value, "weekday": when}
    return body | ({"every": when, "weekday": None} if when == Every.DAY else weekly)


def _stored(schedule: CrmSchedule) -> dict[str, Any]:
    """Return the settings of a schedule as the form has them."""
    when = Every.DAY.value if schedule.weekday is None else DAYS[schedule.weekday].lower()
    return {
        "name": schedule.name,
        "fields": schedule.fields,
        "when": when,
        "hour": schedule.hour,
        "max_people": schedule.max_people,
        "monthly_credits": schedule.monthly_credits,
        "refresh_days": schedule.refresh_days or "",
        "purpose": schedule.purpose,
    }


def _messages(problem: ValidationFailed) -> dict[str, str]:
    return forms.messages(problem.errors) or {"": problem.detail}
