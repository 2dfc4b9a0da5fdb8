"""The outbox of pushes: which connections have something to do, and the turn of the worker that does it.

The pushes of a connection are made one after the other, by one worker that holds a lease on it: two pushes of
one contact cannot create it twice, tokens are renewed once, and the CRM's rate limit is kept. An item is
begun, sent with no transaction open, and finished (`push_attempts`).

A CRM may respond slowly, so one connection of a workspace has a turn at a time, the one whose last turn was
longest ago. Otherwise the connections of one workspace could occupy all threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select

from app.domain.event_types import EventType
from app.engine.events import events
from app.engine.work import items, turns
from app.engine.work.items import NewItem
from app.engine.work.specs import TURNS_FAILED
from app.engine.work.turns import LeaseLost
from app.engine.work.turns import Turn as WorkTurn
from app.features.crm import connections, properties
from app.features.crm.connections import (
    ACTIVE,
    PUSHING,
    READING,
    ConnectionStatus,
    Credentials,
    CrmConnection,
    reading_id,
)
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.pushes import PushItem
from app.features.crm.vendors.properties import Property
from app.infra.crypto.encryption import Undecryptable
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A worker's exclusive access to a connection."""

    connection_id: str
    workspace_id: str
    vendor: str
    base_url: str | None
    mapping: Mapping[str, str]
    constants: Mapping[str, str]
    new_people: RecordKind
    credentials: Credentials
    is_checked: bool
    account: str | None
    work: WorkTurn


def begin(session: Session, connection_id: str, *, now: Moment) -> Turn | None:
    """Begin a turn; return None if the connection is not due or another worker has it.

    A connection at which every worker fails is suspended instead.
    """
    connection = connections.locked(session, connection_id)
    work = turns.begin(session, PUSHING, connection_id, now=now)
    if work is None:
        return None
    if connection is None or connection.status not in ACTIVE:
        turns.end(session, work)
        return None
    if work.is_exhausted:
        _refuse(session, connection, work, TURNS_FAILED, now=now)
        return None
    try:
        credentials = connections.decrypted(session, connection)
    except Undecryptable:
        _refuse(session, connection, work, "secret_key_changed", now=now)
        return None
    return Turn(
        connection_id=connection.id,
        workspace_id=connection.workspace_id,
        vendor=connection.vendor,
        base_url=connection.base_url,
        mapping=connection.mapping,
        constants=connection.constants,
        new_people=RecordKind(connection.new_people),
        credentials=credentials,
        is_checked=connection.status == ConnectionStatus.CONNECTED,
        account=connection.account,
        work=work,
    )


def hold(session: Session, turn: Turn, *, now: Moment, progressed: bool = False) -> CrmConnection:
    """Renew the lease and lock the connection until the transaction ends.

    Raises:
        LeaseLost: the lease was lost.

    """
    connection = connections.locked(session, turn.connection_id)
    turns.renew(session, turn.work, now=now, progressed=progressed)
    if connection is None:
        raise LeaseLost
    return connection


def store_credentials(session: Session, turn: Turn, credentials: Credentials, *, now: Moment) -> None:
    """Store the tokens that the CRM issued during the turn."""
    connections.store_credentials(session, hold(session, turn, now=now), credentials)


def store_account(session: Session, turn: Turn, account: str, *, now: Moment) -> None:
    """Record the account of the CRM to which the credentials belong; empty if the CRM does not say it."""
    hold(session, turn, now=now).account = account
    session.flush()


def store_properties(session: Session, turn: Turn, found: Sequence[Property], *, now: Moment) -> None:
    """Store the properties of people that the CRM has."""
    connection = hold(session, turn, now=now)
    properties.store(session, connection, found, now=database_clock.value(session, now))


def confirm(session: Session, turn: Turn, *, now: Moment) -> None:
    """Record that the CRM accepted the credentials, and let its people be read."""
    connection = hold(session, turn, now=now)
    connection.status = ConnectionStatus.CONNECTED.value
    connection.error = None
    connection.checked_at = now
    session.flush()
    items.wake(session, READING, NewItem(reading_id(connection.id), connection.workspace_id, now))


def end(
    session: Session,
    turn: Turn,
    *,
    pause: timedelta = timedelta(0),
    refused: str | None = None,
    error: str | None = None,
    now: Moment,
) -> None:
    """Release the lease; the connection is due again when its next item is, and not before the pause ends.

    `refused` is why the credentials no longer work: pushes then wait until the workspace connects again.
    """
    connection = hold(session, turn, now=now)
    if refused is not None:
        _refuse(session, connection, turn.work, refused, now=now)
        return
    resume_at = database_clock.value(session, now) + pause
    connection.error, connection.resume_at = error, resume_at
    session.flush()
    next_at = session.scalar(
        select(func.min(PushItem.next_at)).where(
            PushItem.connection_id == turn.connection_id, PushItem.outcome.is_(None)
        )
    )
    if connection.status == ConnectionStatus.CHECKING:
        next_at = resume_at
    turns.end(session, turn.work, due_at=None if next_at is None else max(next_at, resume_at))


def _refuse(session: Session, connection: CrmConnection, work: WorkTurn, reason: str, *, now: Moment) -> None:
    """Suspend the pushes of the connection until the workspace connects again, and tell it so once.

    Who enters credentials that the CRM has not accepted yet sees it on the page.
    """
    connection.status = ConnectionStatus.RECONNECT.value
    connection.error = reason
    session.flush()
    if connection.checked_at is not None or _has_open_items(session, connection):
        events.record(
            session,
            connection.workspace_id,
            EventType.CRM_PUSH_FAILED,
            {"connection_id": connection.id, "vendor": connection.vendor, "push_id": None, "error": reason},
            dedup_key=f"crm:{connection.id}:{work.lease_token}",
            now=now,
        )
    if reason == TURNS_FAILED:
        turns.fail(session, work, reason, now=now)
    else:
        turns.end(session, work)


def _has_open_items(session: Session, connection: CrmConnection) -> bool:
    is_open = (PushItem.connection_id == connection.id, PushItem.outcome.is_(None))
    return session.scalar(select(PushItem.id).where(*is_open).limit(1)) is not None
