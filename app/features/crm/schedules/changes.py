"""What admins do with the schedules of a CRM connection, through the API and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.features.crm import connections
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.schedules import memberships, schedules
from app.features.crm.schedules.tables import CrmSchedule
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission, public_urls, purposes
from app.web.bodies.idempotency_header import begin, finish, is_replay
from app.web.sign_in.admins import admin_caller

Command: TypeAlias = Literal["pause", "resume", "run"]


def create(connection_id: str, settings: Mapping[str, Any]) -> tuple[CrmSchedule, bool]:
    """Insert a schedule (see `NewScheduleSchema`); return it, and whether the request is a replay.

    Raises:
        PurposeRequired: everybody's values need a purpose, and none is stated.
        ValidationFailed: the CRM can have no such list, or the connection has too many schedules.

    """
    if refusal := purposes.check(settings["purpose"]):
        raise refusal
    with admission.transaction() as session:
        admin = admin_caller(session)
        connection = connections.get(session, admin.workspace_id, connection_id, lock=True)
        now = database_clock.value(session)
        reference = begin(session, now=now)
        if reference:
            return schedules.get(session, admin.workspace_id, connection_id, reference), True
        _check_list(connection.vendor, settings)
        schedule = schedules.create(
            session,
            connection,
            settings,
            account_id=admin.account_id,
            origin=public_urls.absolute("/"),
            now=now,
        )
        finish(session, schedule.id)
    log.info("crm schedule created", account=admin.account_id, schedule=schedule.id)
    return schedule, False


def change(connection_id: str, schedule_id: str, settings: Mapping[str, Any]) -> tuple[CrmSchedule, bool]:
    """Store other settings (see `ScheduleChangeSchema`); return the schedule, and whether it is a replay.

    Raises:
        ValidationFailed: the purpose is not one that can be stated.

    """
    if settings.get("purpose") is not None:
        purposes.check(settings["purpose"])
    with admission.transaction() as session:
        admin = admin_caller(session)
        schedule = schedules.get(session, admin.workspace_id, connection_id, schedule_id, lock=True)
        now = database_clock.value(session)
        if is_replay(session, schedule_id, now=now):
            return schedule, True
        schedules.change(session, schedule, settings, now=now)
    log.info("crm schedule changed", account=admin.account_id, schedule=schedule_id)
    return schedule, False


def command(connection_id: str, schedule_id: str, what: Command) -> tuple[CrmSchedule, bool]:
    """Pause, resume or run a schedule; return it, and whether the request is a replay.

    Raises:
        ValidationFailed: it is to be run, and is not active.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        schedule = schedules.get(session, admin.workspace_id, connection_id, schedule_id, lock=True)
        now = database_clock.value(session)
        if is_replay(session, schedule_id, now=now):
            return schedule, True
        match what:
            case "pause":
                schedules.pause(session, schedule)
            case "resume":
                schedules.resume(session, schedule, account_id=admin.account_id, now=now)
            case _:
                schedules.run_now(session, schedule, now=now)
    log.info("crm schedule commanded", account=admin.account_id, schedule=schedule_id, command=what)
    return schedule, False


def delete(connection_id: str, schedule_id: str) -> None:
    """Delete the schedule with its runs; what was pushed stays in the CRM."""
    with admission.transaction() as session:
        admin = admin_caller(session)
        schedules.delete(
            session, schedules.get(session, admin.workspace_id, connection_id, schedule_id, lock=True)
        )
    log.info("crm schedule deleted", account=admin.account_id, schedule=schedule_id)


def _check_list(vendor: str, settings: Mapping[str, Any]) -> None:
    try:
        memberships.check(vendor, settings["list_id"], RecordKind(settings["kind"]))
    except InvalidValue as error:
        raise ValidationFailed(errors=(FieldError("/list_id", str(error)),)) from error
