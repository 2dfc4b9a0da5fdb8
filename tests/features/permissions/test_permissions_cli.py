from __future__ import annotations

import json
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from users_support import SignedInUser

from app.features.permissions.commands import group


@pytest.fixture
def run(app: APIFlask, user: SignedInUser) -> Any:
    runner = app.test_cli_runner()

    def run(*arguments: str) -> Result:
        return runner.invoke(group, arguments)

    return run


def test_members_and_an_account_are_changed_and_listed(user: SignedInUser, run: Any) -> None:
    run("set-members", user.workspace_id, "--deny", "export", "--deny", "push")
    run("set", user.email, "--allow", "push", "--deny", "see_costs")

    lines = [line.split() for line in run("list", user.workspace_id).stdout.splitlines()]

    assert lines == [
        ["account", "role", "export", "reveal_phones", "push", "see_costs", "start_uploads"],
        ["members", "by", "default", "member", "no", "yes", "no", "yes", "yes"],
        [user.email, "member", "no", "yes", "yes", "no", "yes"],
    ]


def test_an_account_follows_its_workspace_again(user: SignedInUser, run: Any) -> None:
    run("set", user.email, "--deny", "push")

    [account] = json.loads(run("set", user.email, "--default", "push", "--json").stdout)["accounts"]

    assert (account["own"], account["permissions"]["push"]) == ({}, True)
