"""Retention: old entries are deleted, and the rest of the log can still be verified."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from audit_log_support import fault, log, record, seal, sealed, tamper
from sqlalchemy import delete
from sqlalchemy.exc import DBAPIError

from app.engine.audit_log import retention, sealing
from app.engine.audit_log.entries import AuditEntry
from app.engine.audit_log.sealing import Head
from app.engine.audit_log.verification import ChainFault, FaultKind
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import Database

TOMORROW = clock.now() + timedelta(days=1)


def prune(database: Database, last: Head) -> int:
    with database.transaction() as session:
        return retention.prune(session, last, now=database_clock.now())


def at(database: Database, position: int) -> Head:
    return Head(position, log(database)[position - 1].hash)


def test_the_rest_of_a_pruned_log_is_sound(database: Database) -> None:
    head = sealed(database)

    deleted = prune(database, at(database, 3))

    assert (deleted, [entry.position for entry in log(database)]) == (3, [4, 5])
    assert fault(database, head) is None


def test_the_log_goes_on_after_all_entries_were_pruned(database: Database) -> None:
    head = sealed(database, 2)
    prune(database, head)

    record(database, "3")
    after = seal(database)

    assert (after.position, fault(database, head, after)) == (3, None)


def test_the_database_refuses_deletions_again_after_pruning(database: Database) -> None:
    sealed(database)
    prune(database, at(database, 1))

    with pytest.raises(DBAPIError, match="append-only"), database.transaction() as session:
        session.execute(delete(AuditEntry))


def test_pruned_entries_cannot_be_put_back(database: Database) -> None:
    sealed(database)
    prune(database, at(database, 2))
    tamper(
        database,
        "INSERT INTO audit_log (position, pending_id, occurred_at, actor_kind, action, outcome, hash)"
        " SELECT 1, 900, occurred_at, 'account', 'reveal.email', 'succeeded', hash FROM audit_log"
        " WHERE position = 3",
    )

    assert fault(database) == ChainFault(1, FaultKind.INSERTED)


def test_entries_are_pruned_up_to_the_first_that_is_kept(database: Database) -> None:
    sealed(database, 2)
    with database.reading() as session:
        before_all = retention.last_before(session, datetime(2020, 1, 1, tzinfo=UTC))
        up_to_all = retention.last_before(session, TOMORROW)

    assert (before_all, up_to_all) == (None, at(database, 2))


def test_an_older_entry_behind_a_newer_one_is_kept(database: Database) -> None:
    """A transaction that took long is sealed after younger ones."""
    sealed(database, 3)
    tamper(database, "UPDATE audit_log SET occurred_at = '2020-01-01 00:00:00.000000' WHERE position <> 2")

    with database.reading() as session:
        last = retention.last_before(session, datetime(2021, 1, 1, tzinfo=UTC))

    assert last is not None
    assert (last.position, sealing.START.position) == (1, 0)
