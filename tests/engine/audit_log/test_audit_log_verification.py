"""Verification: whatever is done to the log, the first entry that is wrong is named."""

from __future__ import annotations

import pytest
from audit_log_support import fault, log, record, seal, sealed, tamper
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.domain.errors import InvalidValue
from app.engine.audit_log import heads, sealing, verification
from app.engine.audit_log.sealing import Head
from app.engine.audit_log.verification import ChainFault, FaultKind
from app.infra.database.db import Database

FORGED = (
    "INSERT INTO audit_log (position, pending_id, occurred_at, actor_kind, action, outcome, hash)"
    " SELECT {}, 900, occurred_at, 'account', 'reveal.email', 'succeeded', hash FROM audit_log"
    " WHERE position = 2"
)
SWAPPED = (
    "UPDATE audit_log SET position = 99 WHERE position = 2",
    "UPDATE audit_log SET position = 2 WHERE position = 4",
    "UPDATE audit_log SET position = 4 WHERE position = 99",
)
REHASHED = "UPDATE audit_log SET hash = {} WHERE position = 5"
MOVED = "UPDATE audit_log SET position = {} WHERE position = {}"
CHANGES = {
    "actor": "UPDATE audit_log SET actor_id = 'acc_other' WHERE position = 3",
    "time": "UPDATE audit_log SET occurred_at = '2020-01-01 00:00:00.000000' WHERE position = 3",
    "object": "UPDATE audit_log SET object_id = 'other' WHERE position = 3",
    "workspace": "UPDATE audit_log SET workspace_id = NULL WHERE position = 3",
    "outcome": "UPDATE audit_log SET outcome = 'failed' WHERE position = 3",
    "reason": "UPDATE audit_log SET reason = 'x' WHERE position = 3",
    "request": "UPDATE audit_log SET request_id = 'x' WHERE position = 3",
    "network": "UPDATE audit_log SET network = 'x' WHERE position = 3",
    "action": "UPDATE audit_log SET action = 'x' WHERE position = 3",
    "kind": "UPDATE audit_log SET actor_kind = 'x' WHERE position = 3",
}


@pytest.fixture
def head(database: Database) -> Head:
    """The head of a log of five entries."""
    return sealed(database)


def test_a_log_that_nobody_touched_is_sound(database: Database, head: Head) -> None:
    with database.reading() as session:
        result = verification.verify(session, [head])

    assert (result.fault, result.entries, result.pending, result.heads) == (None, 5, 0, 1)
    assert result.head == head


@pytest.mark.usefixtures("head")
@pytest.mark.parametrize("column", CHANGES)
def test_a_changed_value_is_found(database: Database, column: str) -> None:
    tamper(database, CHANGES[column])

    assert fault(database) == ChainFault(3, FaultKind.CHANGED)


@pytest.mark.usefixtures("head")
def test_a_deleted_entry_is_found(database: Database) -> None:
    tamper(database, "DELETE FROM audit_log WHERE position = 2")

    assert fault(database) == ChainFault(2, FaultKind.MISSING)


@pytest.mark.usefixtures("head")
def test_a_deleted_entry_is_found_when_the_others_move_up(database: Database) -> None:
    tamper(
        database,
        "DELETE FROM audit_log WHERE position = 2",
        *(MOVED.format(to, to + 1) for to in (2, 3, 4)),
    )

    assert fault(database) == ChainFault(2, FaultKind.CHANGED)


@pytest.mark.usefixtures("head")
def test_the_first_entries_cannot_be_deleted(database: Database) -> None:
    tamper(database, "DELETE FROM audit_log WHERE position < 3")

    assert fault(database) == ChainFault(1, FaultKind.MISSING)


def test_an_inserted_entry_is_found(database: Database, head: Head) -> None:
    tamper(database, FORGED.format(head.position + 1))

    assert fault(database) == ChainFault(6, FaultKind.CHANGED)


@pytest.mark.usefixtures("head")
def test_swapped_entries_are_found(database: Database) -> None:
    tamper(database, *SWAPPED)

    assert fault(database) == ChainFault(2, FaultKind.CHANGED)


def test_a_truncated_log_is_found_with_a_head_that_was_kept(database: Database, head: Head) -> None:
    tamper(database, "DELETE FROM audit_log WHERE position > 3")

    assert fault(database, head) == ChainFault(4, FaultKind.MISSING)
    assert fault(database) is None  # which is why heads are kept apart


def test_a_truncated_log_that_went_on_is_found(database: Database, head: Head) -> None:
    tamper(database, "DELETE FROM audit_log WHERE position > 3")
    record(database, "new 4", "new 5", "new 6")
    seal(database)

    assert fault(database) is None
    assert fault(database, head) == ChainFault(5, FaultKind.REPLACED)


def test_a_chain_that_was_computed_anew_is_found(database: Database, head: Head) -> None:
    tamper(database, "UPDATE audit_log SET object_id = 'other' WHERE position = 5")
    entry = log(database)[4]
    values = {name: getattr(entry, name) for name in ("position", *verification.FIELDS)}
    forged = sealing.digest(log(database)[3].hash, 5, values)
    literal = f"X'{forged.hex()}'" if database.is_sqlite else f"decode('{forged.hex()}', 'hex')"
    tamper(database, REHASHED.format(literal))

    assert fault(database) is None
    assert fault(database, head) == ChainFault(5, FaultKind.REPLACED)


def test_long_logs_are_read_in_batches(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "BATCH", 2)
    head = sealed(database)

    assert fault(database, head) is None
    tamper(database, "UPDATE audit_log SET reason = 'x' WHERE position = 5")
    assert fault(database, head) == ChainFault(5, FaultKind.CHANGED)


@pytest.mark.parametrize("kind", FaultKind)
def test_a_fault_names_its_entry(kind: FaultKind) -> None:
    assert "Entry 12 " in str(ChainFault(12, kind))


def test_the_database_refuses_changes(database: Database, head: Head) -> None:
    record(database, "pending")
    for statement in (
        "UPDATE audit_log SET reason = 'x'",
        "DELETE FROM audit_log",
        "UPDATE audit_log_pending SET reason = 'x'",
        "DELETE FROM audit_log_pending",
        *(() if database.is_sqlite else ("TRUNCATE audit_log", "TRUNCATE audit_log_pending")),
    ):
        with pytest.raises(DBAPIError, match="append-only"), database.transaction() as session:
            session.execute(text(statement))

    assert (seal(database).position, fault(database, head)) == (6, None)


def test_heads_are_read_from_their_lines(head: Head) -> None:
    assert list(heads.parse([f"{heads.line(head)}\n", "\n"])) == [head]


def test_a_line_that_a_crash_cut_off_is_ignored(head: Head) -> None:
    assert list(heads.parse([f"{heads.line(head)}\n", '{"posi'])) == [head]


def test_a_line_that_is_no_head_is_an_error(head: Head) -> None:
    with pytest.raises(InvalidValue, match="Line 1 is not a head"):
        list(heads.parse(["something else\n", heads.line(head)]))
