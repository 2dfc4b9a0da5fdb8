from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.features.page_rules import checks, rules_file
from app.settings import Settings
from cli.checks.findings import Level

pytestmark = pytest.mark.any_database


def test_the_shipped_rules_need_no_finding(settings: Settings) -> None:
    assert list(checks.findings(settings)) == []


@pytest.mark.parametrize(
    ("version", "level", "state"),
    [(2**53 - 1, Level.OK, "valid, version 9007199254740991"), (1, Level.NOTE, "older than the shipped")],
)
def test_a_file_needs_a_larger_version_than_the_shipped_one(
    settings: Settings, tmp_path: Path, version: int, level: Level, state: str
) -> None:
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(json.loads(rules_file.SHIPPED.read_text()) | {"version": version}))

    [finding] = checks.findings(replace(settings, page_rules_file=str(file)))

    assert finding.level is level
    assert state in finding.state


def test_a_file_that_cannot_be_used_is_an_error_with_its_reason(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text("{}")

    [finding] = checks.findings(replace(settings, page_rules_file=str(file)))

    assert finding.level is Level.ERROR
    assert "/version: Missing data" in finding.state


def test_what_is_turned_off_must_exist(settings: Settings) -> None:
    [good] = checks.findings(replace(settings, page_rules_off=("gmail",)))
    [bad] = checks.findings(replace(settings, page_rules_off=("gmial",)))

    assert (good.level, bad.level) == (Level.OK, Level.ERROR)
    assert "'gmial'" in bad.state
