"""`flask accounts link` and `unlink`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from apiflask import APIFlask
from click.testing import Result
from settings_support import change_settings
from users_support import SignedInUser

from cli.commands import group

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask) -> Run:
    return lambda *arguments: app.test_cli_runner().invoke(group("accounts"), arguments)


def test_a_company_account_is_linked_to_one_account_until_it_is_removed(
    app: APIFlask, run: Run, user: SignedInUser
) -> None:
    change_settings(app, oidc_issuer="https://login.example")
    bob = user.colleague(email="bob@acme.example")

    linked = run("link", user.email, "sub-1")
    taken = run("link", bob.email, "sub-1")
    removed = run("unlink", user.email)
    free = run("link", bob.email, "sub-1")

    assert linked.output == f"{user.email} signs in with sub-1.\n"
    assert (taken.exit_code, free.exit_code) == (1, 0)
    assert "signs in to another account" in taken.output
    assert removed.output == f"{user.email} has no company account now: 1 removed.\n"


def test_without_a_provider_no_company_account_can_be_linked(run: Run, user: SignedInUser) -> None:
    result = run("link", user.email, "sub-1")

    assert result.exit_code == 1
    assert "OIDC_ISSUER is not set" in result.output
