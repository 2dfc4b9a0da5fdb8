"""The steps of an erasure, each in its own transaction: suppress, search again, delete."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TypeAlias

from sqlalchemy.orm import Session

from app.core.audit_log.entries import ACTOR
from app.core.contacts import suppressions
from app.core.privacy import erasure
from app.core.privacy.erasure import ErasurePlan
from app.core.uploads import erasure as upload_erasure
from app.domain.audit_actions import Actor
from app.infra import database_clock
from app.infra.db import Database

Planner: TypeAlias = Callable[[Session], ErasurePlan]


def erase(database: Database, make_plan: Planner, *, actor: Actor | None = None) -> ErasurePlan:
    """Erase the person of the plan, and return what was erased.

    The plan is made twice: once the person is suppressed, no new data arrives. The audit log names `actor`,
    by default that of the database's sessions.
    """
    with database.reading(no_deadline=True) as session:
        plan = make_plan(session)
    with database.transaction() as session:
        suppressions.suppress(session, plan.to_suppress, now=database_clock.now(), **suppressions.ERASURE)
    with database.transaction() as session:
        upload_erasure.await_writers(session)
    with database.reading(no_deadline=True) as session:
        plan = make_plan(session)
    with database.transaction(no_deadline=True) as session:
        if actor is not None:
            session.info[ACTOR] = actor
        erasure.erase(session, plan, now=database_clock.value(session))
    empty_log(database)
    return plan


def empty_log(database: Database) -> None:
    """Checkpoint and truncate SQLite's write-ahead log, which still contains the deleted data."""
    if not database.is_sqlite:
        return  # only on PostgreSQL
    with closing(database.engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
