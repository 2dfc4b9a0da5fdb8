"""Sealing: every recorded entry gets one position, whoever records and seals at the same time."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from audit_log_support import fault, log, record, recorded, seal, sealed

from app.domain.audit_actions import Action, Actor, ActorKind, Outcome
from app.engine.accounts import workspaces
from app.engine.audit_log import entries, sealing
from app.engine.audit_log.sealing import START
from app.infra import clock
from app.infra.database.db import Database

THREADS, EACH = 10, 20
VALUES = {
    "occurred_at": datetime(2026, 11, 20, 9, 30, 0, 125000, tzinfo=UTC),
    "actor_kind": "account",
    "actor_id": "acc_1",
    "action": "reveal.email",
    "object_id": "con_1",
    "workspace_id": "wks_1",
    "reason": None,
    "request_id": "job_1",
    "network": None,
    "outcome": "succeeded",
}


def test_an_entry_says_who_did_what_to_whom(database: Database) -> None:
    with database.transaction() as session:
        session.actor = Actor(ActorKind.ACCOUNT, "acc_1", "req_1")
        entries.record(
            session,
            Action.LIMIT_SET,
            object_id="key_1",
            workspace_id="wks_1",
            reason="month",
            network="ab12",
            outcome=Outcome.FAILED,
        )

    (entry,) = recorded(database)
    assert entry[1:] == (
        *("account", "acc_1", "limit.set", "key_1", "wks_1", "month", "req_1", "ab12", "failed"),
    )


def test_an_action_without_an_actor_is_of_the_system(database: Database) -> None:
    with database.transaction() as session:
        workspaces.create(session, name="Acme", now=clock.now())

    (entry,) = recorded(database)
    assert (entry.actor_kind, entry.actor_id, entry.action) == ("system", None, "workspace.create")


def test_an_entry_is_rolled_back_with_its_action(database: Database) -> None:
    with database.transaction() as session:
        entries.record(session, Action.API_KEY_CREATE, object_id="key_1")
        session.rollback()

    assert not recorded(database)


def test_sealed_entries_have_positions_without_gaps_and_a_new_hash_each(database: Database) -> None:
    head = sealed(database, 3)

    rows = log(database)
    assert [(row.position, row.object_id) for row in rows] == [(1, "1"), (2, "2"), (3, "3")]
    assert len({row.hash for row in rows}) == 3
    assert (head.position, head.hash) == (3, rows[-1].hash)
    assert not recorded(database)


def test_later_entries_continue_the_chain(database: Database) -> None:
    first = sealed(database, 2)
    record(database, "later")

    second = seal(database)

    assert (first.position, second.position) == (2, 3)
    assert fault(database, first, second) is None


def test_a_batch_leaves_the_rest_for_the_next(database: Database) -> None:
    record(database, "1", "2", "3")

    with database.transaction() as session:
        sealed_first = sealing.seal(session, limit=2)[0]

    assert (sealed_first, len(recorded(database))) == (2, 1)


def test_nothing_to_seal_leaves_the_head(database: Database) -> None:
    assert seal(database) == START


def test_the_hash_is_that_of_the_documentation(database: Database) -> None:
    """Anyone can compute it again from a file."""
    text = (
        '[7,"2026-11-20T09:30:00.125000+00:00","account","acc_1","reveal.email","con_1","wks_1",null,'
        '"job_1",null,"succeeded"]'
    )

    computed = sealing.digest(bytes(32), 7, VALUES)

    assert computed == hashlib.sha256(bytes(32) + text.encode()).digest()


def test_a_kill_between_insertion_and_commit_loses_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        """The end of the process."""

    def kill(*_arguments: object) -> None:
        raise KilledError

    record(database, "1", "2")
    insert_all = sealing.insert_all
    monkeypatch.setattr(sealing, "delete", kill)  # after the insertion into the log
    with pytest.raises(KilledError):
        seal(database)
    monkeypatch.undo()

    assert not log(database)
    head = seal(database)

    assert sealing.insert_all is insert_all
    assert (head.position, fault(database, head)) == (2, None)


def test_ten_threads_record_and_seal_at_the_same_time(database: Database) -> None:
    barrier = threading.Barrier(THREADS)

    def work(thread: int) -> None:
        barrier.wait()
        for number in range(EACH):
            record(database, f"{thread}-{number}")
            if number % 5 == 0:
                seal(database)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    head = seal(database)

    rows = log(database)
    assert {row.object_id for row in rows} == {f"{t}-{n}" for t in range(THREADS) for n in range(EACH)}
    assert all(after.position == before.position + 1 for before, after in pairwise(rows))
    assert (len(rows), fault(database, head)) == (THREADS * EACH, None)
