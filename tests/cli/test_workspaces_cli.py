from __future__ import annotations

import json
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from jobs_support import DIGEST_KEYS
from sqlalchemy import text

from app.engine.events import endpoints
from cli.workspaces import group


@pytest.fixture
def run(app: APIFlask) -> Any:
    runner = app.test_cli_runner()

    def run(*arguments: str) -> Result:
        return runner.invoke(group, arguments)

    return run


def test_a_workspace_is_created_without_credits(run: Any) -> None:
    created = json.loads(run("create", " Acme ", "--json").stdout)

    listed = json.loads(run("list", "--json").stdout)
    assert created["id"].startswith("wks_")
    assert (created["name"], created["credits"]) == ("Acme", {"balance": 0, "reserved": 0})
    assert listed == {"workspaces": [created]}


def test_the_output_without_json_is_text(run: Any) -> None:
    empty = run("list").stdout
    created = run("create", "Acme").stdout
    listed = run("list").stdout

    assert "There are no workspaces" in empty
    assert created.startswith("Created wks_")
    assert listed.endswith("  0 credits  Acme\n")


def test_the_webhook_secret_of_a_workspace_is_shown(run: Any) -> None:
    created = json.loads(run("create", "Acme", "--json").stdout)

    secret = json.loads(run("webhook-secret", "Acme", "--json").stdout)["secret"]

    assert secret == endpoints.workspace_secret(DIGEST_KEYS, created["id"])


@pytest.mark.parametrize(
    ("name", "fault"),
    [("  ", "must not be empty"), ("a\nb", "line breaks"), ("a\x1b[2J", "control characters")],
)
def test_a_workspace_needs_a_name_in_one_line(run: Any, name: str, fault: str) -> None:
    result = run("create", name)

    assert result.exit_code == 2
    assert fault in result.stderr


def test_an_unusable_database_is_reported_as_a_message(app: APIFlask, run: Any) -> None:
    broken = app.extensions["services"].database.engine
    with broken.begin() as connection:
        connection.execute(text("ALTER TABLE workspaces RENAME TO elsewhere"))

    result = run("list")

    with broken.begin() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO workspaces"))
    assert result.exit_code == 1
    assert "The database cannot be used" in result.stderr
