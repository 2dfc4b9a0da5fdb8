"""The reading of a CRM into the index: in full at first and then daily, between that by what was changed.

A pass consists of pages. The position after a page is stored in the transaction that stores its people, so a
worker that takes over continues there. A full pass that has ended forgets the records that it did not read.

Changes are found by the CRM's clock. A pass begins `OVERLAP` before the latest change seen by the one before,
because changes are committed, and indexed by the CRM, in another order than that of their time. What is read
twice is stored once. The clocks of the CRM and of this server may differ by up to `MAX_SKEW`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ForeignKey, or_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.work import turns
from app.engine.work.items import WorkItem
from app.engine.work.specs import TURNS_FAILED
from app.engine.work.turns import LeaseLost
from app.engine.work.turns import Turn as WorkTurn
from app.features.crm import connections
from app.features.crm.connections import READING, ConnectionStatus, Credentials, CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.vendors.errors import NOT_ACCEPTED
from app.features.crm.vendors.reading import Page
from app.infra.crypto.encryption import Undecryptable
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

FULL_EVERY = timedelta(days=1)
MAX_SKEW = timedelta(hours=1)
OVERLAP = timedelta(minutes=5)
INTERVAL = timedelta(seconds=50)
"""The pause after a pass: with the time to the next sweep, a change is seen within a minute."""
RENEWAL_PAUSE = timedelta(seconds=5)
MAX_RECORDS = 1_000_000
"""The records of one pass; the rest of a larger CRM is not read."""
MAX_STAGES = 100
RECORD_LIMIT = "record_limit"


class CrmReading(Base):
    """How far a CRM has been read.

    `started_at` is when the pass under way began, null between passes; `full_started_at` when the last full
    one did. `position` is the vendor's. The pass reads what was changed since `since`, by the CRM's clock;
    `latest_at` is the latest change that it has seen, and `read` counts its records. `records` is how many
    are in the index. `finished_at` is the end of the last pass, `error` the code of what stops this one, and
    `notes` the codes of what was not read. `stages` are those that were seen, `MAX_STAGES` at most.
    """

    __tablename__ = "crm_readings"

    connection_id: Mapped[str] = mapped_column(
        ForeignKey("crm_connections.id", ondelete="CASCADE"), primary_key=True
    )
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    is_full: Mapped[bool]
    full_started_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    position: Mapped[str | None]
    since: Mapped[datetime | None]
    latest_at: Mapped[datetime | None]
    read: Mapped[int]
    records: Mapped[int]
    finished_at: Mapped[datetime | None]
    error: Mapped[str | None]
    notes: Mapped[list[Any]]
    stages: Mapped[list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the next page begins: what was changed since then, or all people if it is None."""

    since: datetime | None
    position: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A worker's exclusive right to read the CRM of a connection.

    `began` is when the pass did. `waits_for_pushes`: pushes are due, which the requests of the turn would
    delay. `is_refused_again`: the CRM refused the credentials in the last turn too.
    """

    connection_id: str
    workspace_id: str
    vendor: str
    base_url: str | None
    mapping: Mapping[str, str]
    credentials: Credentials = field(repr=False)
    place: Place
    began: datetime
    waits_for_pushes: bool
    is_refused_again: bool
    work: WorkTurn


def of_workspace(session: Session, workspace_id: str) -> dict[str, CrmReading]:
    """Return how far the CRMs of the workspace have been read, by connection."""
    found = session.scalars(select(CrmReading).where(CrmReading.workspace_id == workspace_id))
    return {reading.connection_id: reading for reading in found}


def begin(session: Session, work_id: str, *, now: Moment) -> Turn | None:
    """Begin a turn; return None if the reading is not due, or the CRM may not be called now."""
    connection = connections.locked(session, connections.read_by(work_id))
    work = turns.begin(session, READING, work_id, now=now)
    if work is None:
        return None
    if connection is None or connection.status != ConnectionStatus.CONNECTED:
        turns.end(session, work)  # it is due again when the credentials have been accepted
        return None
    at = database_clock.value(session, now)
    reading = _reading(session, connection)
    if work.is_exhausted:
        reading.error = TURNS_FAILED
        session.flush()
        turns.fail(session, work, TURNS_FAILED, now=now)
        return None
    if connection.resume_at is not None and connection.resume_at > at:
        turns.end(session, work, due_at=connection.resume_at)
        return None
    try:
        credentials = connections.decrypted(session, connection)
    except Undecryptable:
        connections.have_checked(session, connection, now=at)  # which says what is wrong
        turns.end(session, work)
        return None
    began = reading.started_at
    if began is None:
        began = at
        _begin_pass(reading, at)
        session.flush()
    return Turn(
        connection_id=connection.id,
        workspace_id=connection.workspace_id,
        vendor=connection.vendor,
        base_url=connection.base_url,
        mapping=connection.mapping,
        credentials=credentials,
        place=_place(reading),
        began=began,
        waits_for_pushes=_are_pushes_due(session, connection.id, at),
        is_refused_again=reading.error == NOT_ACCEPTED,
        work=work,
    )


def store(session: Session, turn: Turn, page: Page, *, now: Moment) -> Place | None:
    """Store a page and the position after it; return where the next one begins, None if it is the last one.

    The last page ends the pass, but not a full one, which `end_full` does: its position stays until then, so
    that a worker that takes over reads it again.

    Raises:
        LeaseLost: the connection was deleted or refused meanwhile, or another worker reads it.

    """
    connection, reading = _held(session, turn, now=now, progressed=True)
    at = database_clock.value(session, now)
    people = page.people
    if not reading.is_full:
        people = crm_index.without_unchanged(session, connection.id, people)
    reading.records += crm_index.store(session, connection, people, now=at)
    for kind, crm_id in page.gone:
        reading.records -= crm_index.forget(session, connection.id, kind, [crm_id])
    reading.read += len(page.people)
    reading.notes = sorted({*reading.notes, *page.notes})
    seen = {person.stage for person in people if person.stage}
    reading.stages = sorted({*reading.stages, *seen})[:MAX_STAGES]
    changes = [person.changed_at for person in page.people if person.changed_at is not None]
    reading.latest_at = max([*changes, *filter(None, [reading.latest_at])], default=None)
    is_last = page.position is None
    if reading.read >= MAX_RECORDS and not is_last:
        is_last = True
        reading.notes = sorted({*reading.notes, RECORD_LIMIT})
    if not is_last:
        reading.position = page.position
    elif not reading.is_full:
        _end_pass(session, reading, at)
    session.flush()
    return None if is_last else _place(reading)


def end_full(session: Session, turn: Turn, *, now: Moment) -> bool:
    """Delete some records that the CRM no longer has, or end the full pass; return whether it is over.

    Raises:
        LeaseLost: as in `store`.

    """
    connection, reading = _held(session, turn, now=now, progressed=True)
    at = database_clock.value(session, now)
    if crm_index.forget_unread(session, connection.id, before=reading.started_at or at):
        return False
    _end_pass(session, reading, at)
    session.flush()
    return True


def end(
    session: Session,
    turn: Turn,
    *,
    pause: timedelta,
    error: str | None = None,
    starts_over: bool = False,
    now: Moment,
) -> None:
    """Release the lease; the CRM is read on after the pause. `starts_over`: the pass begins anew."""
    _connection, reading = _held(session, turn, now=now)
    reading.error = error
    if starts_over:
        reading.started_at = None
        reading.full_started_at = None if reading.is_full else reading.full_started_at
    session.flush()
    turns.end(session, turn.work, due_at=database_clock.value(session, now) + pause)


def refuse(session: Session, turn: Turn, *, now: Moment) -> None:
    """Have credentials checked that the CRM refused: pushes renew them, or ask to connect again."""
    connections.locked(session, turn.connection_id)  # first: the lock of `_held` would have to be raised
    connection, reading = _held(session, turn, now=now)
    reading.error = NOT_ACCEPTED
    connections.have_checked(session, connection, now=database_clock.value(session, now))
    turns.end(session, turn.work)


def await_renewal(session: Session, turn: Turn, *, now: Moment) -> None:
    """Let a turn of pushes renew the token that expires: two workers could make each other's invalid."""
    connection, _reading = _held(session, turn, now=now)
    at = database_clock.value(session, now)
    connections.wake(session, connection, now=at)
    turns.end(session, turn.work, due_at=at + RENEWAL_PAUSE)


def await_writers(session: Session) -> None:
    """Wait until the people whom workers are storing are committed; they lock their reading first.

    Those that begin later know who was suppressed before this was called.
    """
    under_way = select(CrmReading.connection_id).where(CrmReading.started_at.is_not(None))
    session.execute(under_way.order_by(CrmReading.connection_id).with_for_update()).all()


def _held(
    session: Session, turn: Turn, *, now: Moment, progressed: bool = False
) -> tuple[CrmConnection, CrmReading]:
    """Renew the lease, and lock the reading until the transaction ends.

    Raises:
        LeaseLost: the lease was lost, or the credentials are not accepted any more.

    """
    connection = connections.kept(session, turn.connection_id)
    turns.renew(session, turn.work, now=now, progressed=progressed)
    if connection is None or connection.status != ConnectionStatus.CONNECTED:
        raise LeaseLost
    return connection, _reading(session, connection)


def _reading(session: Session, connection: CrmConnection) -> CrmReading:
    """Return the reading of a connection, locked; a new one for a CRM that was never read."""
    query = select(CrmReading).where(CrmReading.connection_id == connection.id).with_for_update()
    reading = session.scalar(query.execution_options(populate_existing=True))
    if reading is None:
        reading = CrmReading(
            connection_id=connection.id,
            workspace_id=connection.workspace_id,
            is_full=True,
            read=0,
            records=0,
            notes=[],
            stages=[],
        )
        session.add(reading)
    return reading


def _begin_pass(reading: CrmReading, at: datetime) -> None:
    full_started_at = reading.full_started_at
    reading.is_full = reading.since is None or full_started_at is None or full_started_at <= at - FULL_EVERY
    if reading.is_full:
        reading.full_started_at = at
    reading.started_at, reading.position, reading.latest_at = at, None, None
    reading.read, reading.notes = 0, _lasting(reading)


def _lasting(reading: CrmReading) -> list[str]:
    """Return the notes of the last full pass, which hold until the next one."""
    return [] if reading.is_full else reading.notes


def _end_pass(session: Session, reading: CrmReading, at: datetime) -> None:
    started_at = reading.started_at or at
    if reading.is_full:
        reading.records = crm_index.size(session, reading.connection_id)
        reading.since = started_at - MAX_SKEW
    else:
        latest = min(reading.latest_at or started_at - MAX_SKEW, started_at + MAX_SKEW)
        since = max(latest, started_at - MAX_SKEW) - OVERLAP
        reading.since = max(since, reading.since or since)
    reading.started_at, reading.finished_at, reading.error = None, at, None


def _place(reading: CrmReading) -> Place:
    return Place(since=None if reading.is_full else reading.since, position=reading.position)


def _are_pushes_due(session: Session, connection_id: str, at: datetime) -> bool:
    is_due = or_(WorkItem.due_at <= at, WorkItem.lease_until > at)
    return session.scalar(select(WorkItem.id).where(WorkItem.id == connection_id, is_due)) is not None
