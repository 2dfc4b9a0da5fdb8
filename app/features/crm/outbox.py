"""The outbox of pushes: which connections have something to do, and the turn of the worker that does it.

The pushes of a connection are made one after the other, by one worker that holds a lease on it: two pushes of
one contact cannot create it twice, tokens are renewed once, and the CRM's rate limit is kept. An item is
begun, sent with no transaction open, and finished (`push_attempts`).

A CRM may respond slowly, so one connection of a workspace has a turn at a time, the one whose last turn was
longest ago. Otherwise the connections of one workspace could occupy all threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import aliased
from sqlalchemy.sql import ColumnElement

from app.domain.event_types import EventType
from app.engine.events import events
from app.features.crm import connections
from app.features.crm.connections import ACTIVE, ConnectionStatus, Credentials, CrmConnection
from app.features.crm.pushes import PushItem
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.infra.database.statements import IdRow, Statement

LEASE = timedelta(seconds=90)
"""It is renewed before each contact and before each request that writes, so a late worker writes nothing."""
REPUBLISH_AFTER = timedelta(minutes=1)
BATCH = 20
MAX_TURNS = 10
"""Turns without progress after which a connection is suspended; more than the attempts of one push."""
TURNS_FAILED = "turns_failed"


class LeaseLost(Exception):  # noqa: N818 -- it names what happened
    """Another worker has the connection, or it was deleted or reconnected; nothing is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A worker's exclusive access to a connection."""

    connection_id: str
    workspace_id: str
    vendor: str
    base_url: str | None
    mapping: Mapping[str, str]
    credentials: Credentials
    is_checked: bool
    account: str | None
    lease: int


def any_due(session: Session, *, now: Moment) -> bool:
    """Return whether any connection is due."""
    return _any_due(now).first(session, {}) is not None


@lru_cache(maxsize=8)
def _any_due(now: Moment) -> Statement[IdRow]:
    return Statement(IdRow, lambda _dialect: select(CrmConnection.id).where(_due(now)).limit(1))


def claim_due(session: Session, *, now: Moment) -> list[str]:
    """Mark the due connections as published and return their ids, at most one of a workspace."""
    waiting_since = func.coalesce(CrmConnection.resume_at, CrmConnection.due_at)
    query = select(CrmConnection).where(_due(now)).order_by(waiting_since, CrmConnection.id).limit(BATCH)
    claimed: dict[str, str] = {}
    for connection in session.scalars(query.with_for_update(skip_locked=True, key_share=True)):
        if connection.workspace_id not in claimed:
            connection.published_at = now
            claimed[connection.workspace_id] = connection.id
    session.flush()
    return list(claimed.values())


def begin(session: Session, connection_id: str, *, now: Moment) -> Turn | None:
    """Take the lease of a connection; return None if it is not due or another worker has it.

    A connection at which every worker fails is suspended instead.
    """
    row = session.execute(
        update(CrmConnection)
        .where(CrmConnection.id == connection_id, _ready(now))
        .values(
            lease=CrmConnection.lease + 1,
            leased_until=now + LEASE,
            published_at=None,
            attempts=CrmConnection.attempts + 1,
        )
        .returning(CrmConnection.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if row is None:
        return None
    connection = session.get_one(CrmConnection, connection_id, populate_existing=True)
    if connection.attempts > MAX_TURNS:
        _refuse(session, connection, TURNS_FAILED, now=now)
        return None
    try:
        credentials = connections.decrypted(session, connection)
    except Undecryptable:
        _refuse(session, connection, "secret_key_changed", now=now)
        return None
    return Turn(
        connection_id=connection.id,
        workspace_id=connection.workspace_id,
        vendor=connection.vendor,
        base_url=connection.base_url,
        mapping=connection.mapping,
        credentials=credentials,
        is_checked=connection.status == ConnectionStatus.CONNECTED,
        account=connection.account,
        lease=connection.lease,
    )


def hold(session: Session, turn: Turn, *, now: Moment) -> CrmConnection:
    """Renew the lease and lock the connection until the transaction ends.

    Raises:
        LeaseLost: the lease was lost.

    """
    held = session.execute(
        update(CrmConnection)
        .where(CrmConnection.id == turn.connection_id, CrmConnection.lease == turn.lease)
        .values(leased_until=now + LEASE)
        .returning(CrmConnection.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if held is None:
        raise LeaseLost
    return session.get_one(CrmConnection, turn.connection_id, populate_existing=True)


def store_credentials(session: Session, turn: Turn, credentials: Credentials, *, now: Moment) -> None:
    """Store the tokens that the CRM issued during the turn."""
    connections.store_credentials(session, hold(session, turn, now=now), credentials)


def store_account(session: Session, turn: Turn, account: str, *, now: Moment) -> None:
    """Record the account of the CRM to which the credentials belong; empty if the CRM does not say it."""
    hold(session, turn, now=now).account = account
    session.flush()


def confirm(session: Session, turn: Turn, *, now: Moment) -> None:
    """Record that the CRM accepted the credentials."""
    connection = hold(session, turn, now=now)
    connection.status = ConnectionStatus.CONNECTED.value
    connection.error = None
    connection.checked_at = now
    session.flush()


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
    next_at = session.scalar(
        select(func.min(PushItem.next_at)).where(
            PushItem.connection_id == turn.connection_id, PushItem.outcome.is_(None)
        )
    )
    if refused is not None:
        _refuse(session, connection, refused, now=now)
    else:
        connection.error = error
        is_checking = connection.status == ConnectionStatus.CHECKING
        connection.due_at = now if is_checking else next_at
        connection.resume_at = now + pause
    connection.leased_until, connection.attempts = None, 0
    session.flush()


def _refuse(session: Session, connection: CrmConnection, reason: str, *, now: Moment) -> None:
    """Suspend the pushes of the connection until the workspace connects again, and tell it so once."""
    connection.status = ConnectionStatus.RECONNECT.value
    connection.error = reason
    connection.due_at = None
    connection.leased_until, connection.attempts = None, 0
    events.record(
        session,
        connection.workspace_id,
        EventType.CRM_PUSH_FAILED,
        {"connection_id": connection.id, "vendor": connection.vendor, "push_id": None, "error": reason},
        dedup_key=f"crm:{connection.id}:{connection.lease}",
        now=now,
    )
    session.flush()


def _ready(now: Moment) -> ColumnElement[bool]:
    return (
        or_(*(CrmConnection.status == status for status in ACTIVE))
        & (CrmConnection.due_at <= now)
        & or_(CrmConnection.resume_at.is_(None), CrmConnection.resume_at <= now)
        & or_(CrmConnection.leased_until.is_(None), CrmConnection.leased_until <= now)
    )


def _due(now: Moment) -> ColumnElement[bool]:
    unsent = CrmConnection.published_at.is_(None) | (CrmConnection.published_at <= now - REPUBLISH_AFTER)
    other = aliased(CrmConnection)
    is_other_busy = (
        select(other.id)
        .where(
            other.workspace_id == CrmConnection.workspace_id,
            other.id != CrmConnection.id,
            or_(other.leased_until > now, other.published_at > now - REPUBLISH_AFTER),
        )
        .exists()
    )
    return _ready(now) & unsent & ~is_other_busy
