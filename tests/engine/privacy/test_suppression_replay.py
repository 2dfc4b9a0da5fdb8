from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from jobs_support import NOW

from app.engine.contacts.suppressions import suppression_checks, suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import suppression_replay
from app.infra.database.db import Database
from app.infra.database.session import DataSettings
from app.settings import Settings

ADA, BOB, EVE = (Identifier("email", f"{name}@acme.com") for name in ("ada", "bob", "eve"))


@pytest.fixture
def journal(settings: Settings, database: Database, tmp_path: Path) -> Path:
    """A journal with two additions and the removal of one of them; the list is empty again."""
    path = tmp_path / "suppressions.journal"
    journal = DataSettings(suppression_journal=path)
    recording = Database(settings.database_url, keys=database.keys, settings=journal)
    with recording.transaction() as session:
        suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)
    with recording.transaction() as session:
        suppressions.remove(session, [BOB])
    recording.close()
    with database.transaction() as session:
        suppressions.remove(session, [ADA])
    return path


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_lines_are_applied_in_transactions_of_any_size(
    database: Database, journal: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(suppression_replay, "BATCH_SIZE", batch)

    applied = suppression_replay.apply(database, [journal])

    assert (applied.read, applied.added, applied.removed, applied.other_key) == (3, 2, 1, 0)
    with database.reading() as session:
        assert suppression_checks.suppressed(session, [ADA, BOB, EVE]) == {ADA}


def test_an_empty_journal_changes_nothing(database: Database, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    assert suppression_replay.apply(database, [tmp_path / "empty"]) == suppression_replay.Applied()


def test_digests_of_another_key_are_counted_and_left_out(database: Database, journal: Path) -> None:
    lines = [json.loads(line) | {"key": "another"} for line in journal.read_text().splitlines()]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))

    applied = suppression_replay.apply(database, [journal])

    assert applied == dataclasses.replace(suppression_replay.Applied(), read=3, other_key=3)
