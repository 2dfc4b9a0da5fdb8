from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.audit_actions import SYSTEM, Actor, ActorKind
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import DataSettings

KEYS = DigestKeys(b"a secret key", b"a suppression key")


def test_a_session_has_the_keys_and_the_settings_of_its_database(tmp_path: Path) -> None:
    settings = DataSettings(suppression_journal=tmp_path / "journal")
    database = Database(f"sqlite:///{tmp_path / 'data.db'}", keys=KEYS, settings=settings)
    database.actor = Actor(ActorKind.COMMAND, "ada")

    with database.transaction() as writing, database.reading() as reading:
        shown = {(session.keys, session.settings, session.actor) for session in (writing, reading)}

    assert shown == {(KEYS, settings, database.actor)}
    database.close()


def test_a_session_without_keys_says_so(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'data.db'}")

    with database.reading() as session, pytest.raises(RuntimeError, match="with keys"):
        _ = session.keys

    assert (session.settings, session.actor) == (DataSettings(), SYSTEM)
    database.close()
