"""The steps of an erasure, each in its own transaction: suppress, search again, delete."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TypeAlias

from app.domain.audit_actions import Actor
from app.domain.errors import Unavailable
from app.engine.contacts.suppressions import suppressions
from app.engine.privacy import erasure
from app.engine.privacy.erasure import ErasurePlan
from app.engine.privacy.holdings import all_holdings
from app.infra.database import database_clock
from app.infra.database.db import Database, is_deadlock
from app.infra.database.session import Session

Planner: TypeAlias = Callable[[Session], ErasurePlan]
DEADLOCK_RETRIES = 3


def erase(database: Database, make_plan: Planner, *, actor: Actor | None = None) -> ErasurePlan:
    """Erase the person of the plan, and return what was erased.

    The plan is made twice: once the person is suppressed, no new data arrives. The audit log names `actor`,
    by default the actor of the database's sessions. If the database becomes unavailable, the person may be
    suppressed already, and nothing is deleted.
    """
    with database.reading(no_deadline=True) as session:
        plan = make_plan(session)
    with database.transaction() as session:
        suppressions.suppress(session, plan.to_suppress, now=database_clock.now(), **suppressions.ERASURE)
    with database.transaction() as session:
        for holdings in all_holdings():
            holdings.await_writers(session)
    with database.reading(no_deadline=True) as session:
        plan = make_plan(session)
    _delete(database, plan, actor)
    empty_log(database)
    return plan


def _delete(database: Database, plan: ErasurePlan, actor: Actor | None) -> None:
    """Delete the data in the plan; try again after a deadlock.

    Like a worker that claims a job, an erasure locks jobs before contacts, and a refund does the reverse.
    """
    retries = 0
    while True:
        try:
            with database.transaction(no_deadline=True) as session:
                if actor is not None:
                    session.actor = actor
                return erasure.erase(session, plan, now=database_clock.value(session))
        except Unavailable as error:
            retries += 1
            if retries > DEADLOCK_RETRIES or not is_deadlock(error):
                raise


def empty_log(database: Database) -> None:
    """Checkpoint and truncate SQLite's write-ahead log, which still contains the deleted data."""
    if not database.is_sqlite:
        return  # only on PostgreSQL
    with closing(database.engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
