from __future__ import annotations

from dataclasses import replace

import pytest
from company_filter_support import SIGNING_KEY, build_filter

from app.features.company_filter import checks
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database
from app.settings import Settings
from cli.checks.findings import Level

SEED, OTHER_SEED = bytes(32), bytes(range(32))


def levels(settings: Settings, seed: bytes | None, seconds: int = 600) -> list[tuple[Level, str]]:
    changed = replace(settings, company_filter_oprf_key=seed, company_filter_seconds=seconds)
    return [(finding.level, finding.state) for finding in checks.findings(changed)]


@pytest.mark.parametrize(
    ("stored", "setting", "expected"),
    [
        (None, None, []),
        (SEED, SEED, [Level.OK]),
        (SEED, OTHER_SEED, [Level.NOTE]),
        (SEED, None, [Level.NOTE]),
        (None, SEED, [Level.NOTE]),
    ],
)
def test_a_stored_file_that_does_not_fit_the_setting_is_a_note(
    settings: Settings, database: Database, stored: bytes | None, setting: bytes | None, expected: list[Level]
) -> None:
    build_filter(database, SIGNING_KEY, None if stored is None else OprfKey.derive(stored))

    assert [level for level, _state in levels(settings, setting)] == expected


def test_a_key_without_a_file_is_a_note(settings: Settings, database: Database) -> None:
    build_filter(database, SIGNING_KEY)

    [(level, state)] = levels(settings, SEED, seconds=0)

    assert level is Level.NOTE
    assert "no file is built" in state


def test_an_unreachable_database_is_reported_by_another_check(settings: Settings) -> None:
    unreachable = replace(settings, database_url="postgresql+psycopg://x@127.0.0.1:1/x")

    assert levels(unreachable, SEED) == []
