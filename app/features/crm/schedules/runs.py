"""The turns of workers at a schedule: when a run begins, what it waits for, and how it stops or ends.

A run begins in the transaction that sets when the schedule is due next, under the lease of its item of work.
So it happens once for each due time, however many workers are told, and two runs never overlap. A worker that
takes over continues where the last transaction ended. A schedule that is due while it runs skips that time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select

from app.domain.event_types import EventType
from app.domain.ids import new_id
from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.accounts.accounts import Account
from app.engine.events import events
from app.engine.work import turns
from app.engine.work.specs import TURNS_FAILED
from app.engine.work.turns import LeaseLost, Turn
from app.features.crm import connections
from app.features.crm.connections import ConnectionStatus, Credentials, CrmConnection
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.index.readings import RENEWAL_PAUSE, CrmReading
from app.features.crm.schedules import times
from app.features.crm.schedules.tables import CrmSchedule, CrmScheduleRun, RunStatus, ScheduleState
from app.infra.clock import rfc3339
from app.infra.crypto.encryption import Undecryptable
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

BUDGET_SPENT = "budget_spent"
ACCOUNT_DISABLED = "account_disabled"
NOT_PERMITTED = "not_permitted"
LIST_GONE, LIST_FORBIDDEN, LIST_REFUSED = "list_gone", "list_forbidden", "list_refused"
NOT_CONNECTED, NOT_READ = "not_connected", "not_read"
WAIT = timedelta(minutes=1)
"""The pause until it is checked again whether the CRM is connected, and its people are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a worker needs to read the list: the CRM, the list, and the position of the next page."""

    vendor: str
    base_url: str | None
    credentials: Credentials = field(repr=False)
    list_id: str
    kind: RecordKind
    position: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a worker does in its turn: it reads the list with `access`, or enriches if that is None."""

    schedule_id: str
    connection_id: str
    access: Access | None
    work: Turn


@dataclass(frozen=True, slots=True)
class Held:
    """A schedule that runs, with its connection, locked under the lease of a worker."""

    connection: CrmConnection
    schedule: CrmSchedule
    run: CrmScheduleRun

    @property
    def is_active(self) -> bool:
        """Return whether the run goes on; else it ends with what was found."""
        return self.schedule.state == ScheduleState.ACTIVE


def begin(session: Session, work: Turn, *, now: Moment) -> Step | None:
    """Return what the worker does now, after beginning a run that is due; None if the turn is over."""
    of = session.scalar(select(CrmSchedule.connection_id).where(CrmSchedule.id == work.id))
    connection = None if of is None else connections.locked(session, of)
    schedule = _locked(session, work.id)
    if connection is None or schedule is None:
        turns.end(session, work)  # it was deleted
        return None
    at = database_clock.value(session, now)
    if schedule.run_id is None and not _is_due(session, schedule, connection, at):
        session.flush()
        turns.end(session, work, due_at=schedule.next_at)
        return None
    run = None if schedule.run_id is None else session.get_one(CrmScheduleRun, schedule.run_id)
    is_reading = run is None or (run.status == RunStatus.READING and schedule.state == ScheduleState.ACTIVE)
    if not is_reading:
        return _step(schedule, work, None)
    obstacle = _obstacle(session, connection)
    credentials = None if obstacle else _credentials(session, connection, at)
    if credentials is None:
        _wait(session, schedule, work, obstacle or NOT_CONNECTED, due_at=at + WAIT)
        return None
    run = run or _begin_run(session, schedule, at)
    schedule.waiting = None
    session.flush()
    access = Access(
        vendor=connection.vendor,
        base_url=credentials.api_url or connection.base_url,
        credentials=credentials,
        list_id=schedule.list_id,
        kind=RecordKind(schedule.kind),
        position=run.position,
    )
    return _step(schedule, work, access)


def hold(session: Session, step: Step, *, now: Moment) -> Held:
    """Renew the lease, and lock the schedule until the transaction ends.

    Raises:
        LeaseLost: the lease was lost, or the schedule was deleted.

    """
    connection = connections.locked(session, step.connection_id)
    schedule = _locked(session, step.schedule_id)
    turns.renew(session, step.work, now=now, progressed=True)
    if connection is None or schedule is None or schedule.run_id is None:
        raise LeaseLost
    return Held(connection, schedule, session.get_one(CrmScheduleRun, schedule.run_id))


def go_on(session: Session, step: Step, *, pause: timedelta, now: Moment) -> None:
    """End the turn; the run goes on after the pause."""
    hold(session, step, now=now)
    turns.end(session, step.work, due_at=database_clock.value(session, now) + pause)


def wait(session: Session, step: Step, reason: str, *, pause: timedelta, now: Moment) -> None:
    """End the turn; the run goes on after the pause. `reason` is the code of what it waits for."""
    held = hold(session, step, now=now)
    due_at = database_clock.value(session, now) + pause
    _wait(session, held.schedule, step.work, reason, due_at=due_at)


def have_checked(session: Session, step: Step, *, now: Moment) -> None:
    """Have credentials checked that the CRM refused, and go on when they are accepted."""
    held = hold(session, step, now=now)
    at = database_clock.value(session, now)
    connections.have_checked(session, held.connection, now=at)
    _wait(session, held.schedule, step.work, NOT_CONNECTED, due_at=at + WAIT)


def await_renewal(session: Session, step: Step, *, now: Moment) -> None:
    """Let a turn of pushes renew a token that expires, as the reading of the CRM does."""
    held = hold(session, step, now=now)
    at = database_clock.value(session, now)
    connections.wake(session, held.connection, now=at)
    turns.end(session, step.work, due_at=at + RENEWAL_PAUSE)


def refuse(session: Session, step: Step, reason: str, *, now: Moment) -> None:
    """Stop the schedule because its list cannot be read; the run ends with the next turn."""
    held = hold(session, step, now=now)
    at = database_clock.value(session, now)
    stop(session, held.schedule, held.connection, reason, run=held.run, at=at)
    turns.end(session, step.work, due_at=at)


def stop(
    session: Session,
    schedule: CrmSchedule,
    connection: CrmConnection,
    reason: str,
    *,
    run: CrmScheduleRun | None = None,
    at: datetime,
) -> None:
    """Stop a locked schedule until it is resumed, or until next month if its budget is spent; say so once."""
    resumes_at = None
    if reason == BUDGET_SPENT:
        resumes_at = times.next_month(schedule.hour, schedule.weekday, at=at)
    schedule.state, schedule.reason = ScheduleState.STOPPED.value, reason
    schedule.waiting, schedule.next_at = None, resumes_at
    if run is not None:
        run.reason = reason
    session.flush()
    data = {
        "connection_id": connection.id,
        "vendor": connection.vendor,
        "schedule_id": schedule.id,
        "run_id": None if run is None else run.id,
        "reason": reason,
        "resumes_at": None if resumes_at is None else rfc3339(resumes_at),
    }
    key = f"crm_schedule:{schedule.id if run is None else run.id}:{rfc3339(at)}"
    type_ = EventType.CRM_SCHEDULE_STOPPED
    events.record(session, schedule.workspace_id, type_, data, dedup_key=key, now=at)


def give_up(session: Session, work: Turn, *, now: Moment) -> None:
    """Stop a schedule at which every worker fails; its run remains as it is, and goes on if it is resumed."""
    of = session.scalar(select(CrmSchedule.connection_id).where(CrmSchedule.id == work.id))
    connection = None if of is None else connections.locked(session, of)
    schedule = _locked(session, work.id)
    if connection is None or schedule is None:
        raise LeaseLost
    if schedule.state == ScheduleState.ACTIVE:
        stop(session, schedule, connection, TURNS_FAILED, at=database_clock.value(session, now))
    turns.fail(session, work, TURNS_FAILED, now=now)


def lacks_payer(session: Session, schedule: CrmSchedule) -> str | None:
    """Return why the account that pays for the schedule cannot, or None if it can.

    It acts through the schedule: it reveals the fields, and pushes the people.
    """
    query = select(Account.id).where(Account.id == schedule.account_id, Account.disabled_at.is_(None))
    if session.scalar(query) is None:
        return ACCOUNT_DISABLED
    needed = {Permission.PUSH} | ({Permission.REVEAL_PHONES} if "phone" in schedule.fields else set())
    return None if needed <= permissions.of_account(session, schedule.account_id) else NOT_PERMITTED


def _is_due(session: Session, schedule: CrmSchedule, connection: CrmConnection, at: datetime) -> bool:
    """Return whether a run is to begin; a schedule whose budget was spent goes on in a new month."""
    if schedule.next_at is None or schedule.next_at > at:
        return False
    if schedule.reason == BUDGET_SPENT:
        schedule.state, schedule.reason = ScheduleState.ACTIVE.value, None
    if reason := lacks_payer(session, schedule):
        stop(session, schedule, connection, reason, at=at)
        return False
    return True


def _obstacle(session: Session, connection: CrmConnection) -> str | None:
    """Return the code of what the schedule has to wait for before its list can be read."""
    if connection.status != ConnectionStatus.CONNECTED:
        return NOT_CONNECTED
    reading = session.get(CrmReading, connection.id)
    return NOT_READ if reading is None or reading.finished_at is None else None


def _credentials(session: Session, connection: CrmConnection, at: datetime) -> Credentials | None:
    """Return the credentials; None if their key is lost, which a turn of pushes then says."""
    try:
        return connections.decrypted(session, connection)
    except Undecryptable:
        connections.have_checked(session, connection, now=at)
        return None


def _begin_run(session: Session, schedule: CrmSchedule, at: datetime) -> CrmScheduleRun:
    run = CrmScheduleRun(
        id=new_id("csr"),
        schedule_id=schedule.id,
        workspace_id=schedule.workspace_id,
        due_at=schedule.next_at or at,
        status=RunStatus.READING.value,
        members=0,
        unindexed=0,
        is_partial=False,
        people=0,
        jobs=0,
        charged=0,
        started_at=at,
    )
    session.add(run)
    schedule.run_id = run.id
    schedule.next_at = times.next_due(schedule.hour, schedule.weekday, after=at)
    session.flush()
    return run


def _wait(session: Session, schedule: CrmSchedule, work: Turn, reason: str, *, due_at: datetime) -> None:
    schedule.waiting = reason
    session.flush()
    turns.end(session, work, due_at=due_at)


def _step(schedule: CrmSchedule, work: Turn, access: Access | None) -> Step:
    return Step(schedule_id=schedule.id, connection_id=schedule.connection_id, access=access, work=work)


def _locked(session: Session, schedule_id: str) -> CrmSchedule | None:
    query = select(CrmSchedule).where(CrmSchedule.id == schedule_id).with_for_update(key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))
