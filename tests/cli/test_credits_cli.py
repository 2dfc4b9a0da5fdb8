from __future__ import annotations

import json
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from sqlalchemy import select

from app.engine.accounts import workspaces
from app.engine.ledger.credits import LedgerEntry
from app.infra import clock
from cli.credits import group


@pytest.fixture
def run(app: APIFlask) -> Any:
    runner = app.test_cli_runner()

    def run(*arguments: str) -> Result:
        return runner.invoke(group, arguments)

    return run


def add_workspace(app: APIFlask, name: str = "Acme") -> str:
    with app.extensions["services"].database.transaction() as session:
        return workspaces.create(session, name=name, now=clock.now()).id


def test_granted_credits_are_in_the_ledger_with_their_reason(app: APIFlask, run: Any) -> None:
    workspace_id = add_workspace(app)

    granted = json.loads(run("grant", workspace_id, "250", "--reason", "invoice 7", "--json").stdout)

    with app.extensions["services"].database.reading() as session:
        entry = session.scalars(select(LedgerEntry)).one()
    assert granted == {
        "workspace": {"id": workspace_id, "name": "Acme"},
        "credits": {"balance": 250, "reserved": 0},
    }
    assert (entry.kind, entry.available, entry.reason) == ("grant", 250, "invoice 7")
    assert json.loads(run("show", workspace_id, "--json").stdout) == granted


def test_a_workspace_can_be_named(app: APIFlask, run: Any) -> None:
    add_workspace(app)

    granted = run("grant", "Acme", "250", "--reason", "demo").stdout

    assert granted == "Acme has 250 credits, and 0 reserved for open jobs.\n"
    assert run("show", "Acme").stdout == granted


def test_an_ambiguous_workspace_name_is_an_error(app: APIFlask, run: Any) -> None:
    ids = [add_workspace(app), add_workspace(app)]

    result = run("grant", "Acme", "250", "--reason", "demo")

    assert result.exit_code == 1
    assert all(workspace_id in result.stderr for workspace_id in ids)


def test_an_unknown_workspace_is_an_error(run: Any) -> None:
    result = run("grant", "wks_unknown", "250", "--reason", "demo")

    assert result.exit_code == 1
    assert "There is no workspace 'wks_unknown'" in result.stderr


@pytest.mark.parametrize("amount", ["0", "-5", "1.5", "much", "99999999999999999999"])
def test_an_amount_is_a_positive_whole_number(app: APIFlask, run: Any, amount: str) -> None:
    workspace_id = add_workspace(app)

    result = run("grant", workspace_id, "--reason", "demo", "--", amount)

    assert result.exit_code == 2
    assert json.loads(run("show", workspace_id, "--json").stdout)["credits"]["balance"] == 0
