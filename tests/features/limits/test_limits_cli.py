from __future__ import annotations

import json
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from users_support import SignedInUser, create_user

from app.domain.callers import Scope
from app.engine.accounts import api_keys
from app.features.limits.commands import group
from app.infra import clock


@pytest.fixture
def run(app: APIFlask, user: SignedInUser) -> Any:
    runner = app.test_cli_runner()

    def run(*arguments: str) -> Result:
        return runner.invoke(group, arguments)

    return run


def a_key(user: SignedInUser) -> str:
    with user.database.transaction() as session:
        return api_keys.create(
            session, user.account_id, name="script", scopes=Scope, expires_at=None, now=clock.now()
        )[0].id


def test_an_account_is_limited_by_its_email_and_listed(user: SignedInUser, run: Any) -> None:
    run("set", user.email, "500")

    listed = json.loads(run("list", user.workspace_id, "--json").stdout)["limits"]

    assert [(limit["subject"]["id"], limit["period"], limit["credits"]) for limit in listed] == [
        (user.account_id, "month", 500)
    ]


def test_a_key_gets_a_spending_cap_that_is_shown_as_a_table(user: SignedInUser, run: Any) -> None:
    key_id = a_key(user)

    result = run("set", key_id, "20", "--period", "total")

    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["subject", "name", "period", "credits", "spent", "held", "left", "resets"],
        [key_id, "script", "total", "20", "0", "0", "20"],
    ]


def test_without_a_workspace_the_limits_of_all_are_listed(
    app: APIFlask, user: SignedInUser, run: Any
) -> None:
    other = create_user(app, email="grace@navy.example")
    for each in (user, other):
        run("set", each.email, "5")

    listed = json.loads(run("list", "--json").stdout)["limits"]

    assert {limit["subject"]["id"] for limit in listed} == {user.account_id, other.account_id}


def test_a_limit_is_removed(user: SignedInUser, run: Any) -> None:
    run("set", user.account_id, "5")

    removed = run("remove", user.account_id)

    assert removed.stdout == "There are no limits.\n"
    assert run("list", user.workspace_id).stdout == "There are no limits.\n"


@pytest.mark.parametrize("subject", ["nobody@acme.example", "key_nothing", "no e-mail"])
def test_an_unknown_subject_is_an_error(run: Any, subject: str) -> None:
    result = run("set", subject, "5")

    assert result.exit_code == 1
    assert f"There is no account or API key '{subject}'" in result.output


def test_a_revoked_key_is_an_unknown_subject(user: SignedInUser, run: Any) -> None:
    key_id = a_key(user)
    with user.database.transaction() as session:
        api_keys.revoke(session, user.account_id, key_id, now=clock.now())

    assert run("set", key_id, "5").exit_code == 1


def test_an_account_has_no_spending_cap(user: SignedInUser, run: Any) -> None:
    result = run("set", user.email, "5", "--period", "total")

    assert "An account has a monthly limit only" in result.output
