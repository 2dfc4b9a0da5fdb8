from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from apiflask import APIFlask
from audit_support import Days, busy_days
from click.testing import Result
from jobs_support import NOW, set_clock
from sqlalchemy import text

from app.engine.audit import audits, rule_checks
from app.engine.audit.invariants import RULES
from app.infra.database import database_clock
from app.infra.database.db import Database

Run = Callable[..., Result]
SPOILED = "UPDATE workspaces SET spent = spent + 1 WHERE id = '{}'"


@pytest.fixture(autouse=True)
def _at_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, lambda: NOW)


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(args=["audit", "ledger", *arguments])


@pytest.fixture
def days(database: Database) -> Days:
    with database.transaction() as session:
        return busy_days(session)


@pytest.fixture
def spoiled(database: Database, days: Days) -> str:
    """A workspace whose balance does not match its ledger."""
    with database.transaction() as session:
        session.execute(text(SPOILED.format(days.other)))
    return days.other


def last(database: Database) -> Any:
    with database.reading() as session:
        return audits.last(session, now=database_clock.now())


def test_a_consistent_ledger_is_reported_rule_by_rule(run: Run, days: Days) -> None:
    result = run()

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert sum(line.startswith("ok ") for line in lines) == len(RULES)
    assert lines[-1].startswith(f"All {len(RULES)} rules hold: 3 workspaces, 13 jobs and ")


def test_a_violation_is_reported_with_its_id_and_the_next_step(run: Run, spoiled: str) -> None:
    result = run()

    assert result.exit_code == 1
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["1", "broken", "balance_is_the_sum"] in [cells[:3] for cells in lines]
    assert [
        "balance_is_the_sum",
        spoiled,
        *["available", "5,", "held", "0,", "spent", "0"],
        *["available", "5,", "held", "0,", "spent", "1"],
    ] in lines
    assert ["balance_is_the_sum", *RULES[0].next_step.split()] in lines
    assert f"1 of {len(RULES)} rules are broken" in result.stdout


def test_many_violations_are_counted_up_to_the_maximum(
    run: Run, spoiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_checks, "MAX_VIOLATIONS", 1)

    assert "1 or more broken  balance_is_the_sum" in run().stdout


def test_the_json_has_the_same_result(run: Run, spoiled: str) -> None:
    result = run("--json")

    body = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (body["ok"], body["workspaces"], body["rules"]) == (False, 3, len(RULES))
    assert body["faults"] == [
        {
            "rule": "balance_is_the_sum",
            "id": spoiled,
            "workspace_id": spoiled,
            "expected": "available 5, held 0, spent 0",
            "found": "available 5, held 0, spent 1",
            "next_step": RULES[0].next_step,
        }
    ]


def test_an_audit_of_everything_is_stored(run: Run, spoiled: str, database: Database) -> None:
    run()

    audit = last(database)
    assert (audit.at, audit.jobs, len(audit.faults)) == (NOW, 13, 1)


def test_an_audit_of_one_workspace_ignores_others_and_is_not_stored(
    run: Run, spoiled: str, days: Days, database: Database
) -> None:
    sound, broken = run("--workspace", days.workspace), run("--workspace", spoiled)

    assert (sound.exit_code, broken.exit_code) == (0, 1)
    assert "1 workspaces" in sound.stdout
    assert last(database) is None


def test_an_unknown_workspace_is_reported_as_a_message(run: Run) -> None:
    result = run("--workspace", "nobody")

    assert result.exit_code == 1
    assert "There is no workspace 'nobody'" in result.output
