"""The journal has every change before anybody relies on it, and nothing but digests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jobs_support import NOW
from sqlalchemy import text

from app.domain.errors import JournalUnwritable
from app.engine.contacts.suppressions import suppression_checks, suppression_journal, suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.clock import rfc3339
from app.infra.database.db import Database
from app.infra.database.session import DataSettings, JournalLines, Session

ADA = Identifier("email", "ada@acme.com")
BOB = Identifier("phone", "+12025550143")


@pytest.fixture
def journal(database: Database, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "suppressions.journal"
    database.settings = DataSettings(suppression_journal=path)
    return path


def lines(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]


def test_changes_are_recorded_as_digests(database: Database, journal: Path) -> None:
    with database.transaction() as session:
        suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)
    with database.transaction() as session:
        suppressions.remove(session, [BOB])

    recorded = lines(journal)
    assert [(line["action"], line["kind"], line["reason"], line["list"]) for line in recorded] == [
        ("add", "email", "asked", ""),
        ("add", "phone", "asked", ""),
        ("remove", "phone", "asked", ""),
    ]
    assert recorded[1]["digests"] == recorded[2]["digests"]
    assert recorded[0]["at"] == rfc3339(NOW)
    assert "ada" not in journal.read_text()


def test_what_is_listed_already_is_not_recorded_again(database: Database, journal: Path) -> None:
    for _ in range(2):
        with database.transaction() as session:
            suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    assert len(lines(journal)) == 1


def test_a_change_is_recorded_once_however_often_its_session_commits(
    database: Database, journal: Path
) -> None:
    with Session(database.engine, keys=database.keys, settings=database.settings) as session:
        suppressions.suppress(session, [ADA], reason="asked", now=NOW)
        session.commit()
        session.execute(text("SELECT 1"))
        session.commit()

    assert len(lines(journal)) == 1


def test_a_removal_that_is_rolled_back_is_not_recorded(database: Database, journal: Path) -> None:
    with database.transaction() as session:
        suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    with Session(database.engine, keys=database.keys, settings=database.settings) as session:
        suppressions.remove(session, [ADA])
        session.rollback()
        session.execute(text("SELECT 1"))
        session.commit()

    assert [line["action"] for line in lines(journal)] == ["add"]


def test_nothing_is_suppressed_if_the_journal_cannot_be_written(database: Database, tmp_path: Path) -> None:
    database.settings = DataSettings(suppression_journal=tmp_path / "missing" / "journal")

    with pytest.raises(JournalUnwritable), database.transaction() as session:
        suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    with database.reading() as session:
        assert suppression_checks.suppressed(session, [ADA]) == frozenset()


def test_without_a_journal_nothing_is_recorded(database: Database) -> None:
    with database.transaction() as session:
        suppressions.suppress(session, [ADA], reason="asked", now=NOW)
        assert session.journal_lines == JournalLines()


def test_several_journals_are_read_in_the_order_of_time(database: Database, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("first", "second")]
    for hours, path in enumerate((*paths, paths[0])):
        database.settings = DataSettings(suppression_journal=path)
        with database.transaction() as session:
            at = NOW + timedelta(hours=hours)
            suppressions.suppress(session, [Identifier("email", f"{hours}@acme.com")], reason="a", now=at)
    with paths[1].open("a") as file:
        file.write('\n{"action":"add"\n')

    unreadable: list[str] = []
    read = list(suppression_journal.read(paths, unreadable=unreadable))

    assert [line.at for line in read] == [NOW + timedelta(hours=hours) for hours in range(3)]
    assert unreadable == ["second:3"]


def test_a_session_that_commits_twice_records_a_change_once(database: Database, journal: Path) -> None:
    with database.transaction() as session:
        suppressions.suppress(session, [ADA], reason="asked", now=NOW)
        session.commit()

    assert len(lines(journal)) == 1
