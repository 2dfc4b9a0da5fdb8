from __future__ import annotations

import json
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from jobs_support import LIFETIME

from app.domain.callers import Scope
from app.engine.accounts import accounts, api_keys, sessions, workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.sessions import LoginSession
from app.infra import clock
from app.infra.crypto import passwords
from cli.accounts import group

EMAIL = "ada@acme.example"
PASSWORD = "correct horse battery staple"


@pytest.fixture
def run(app: APIFlask) -> Any:
    runner = app.test_cli_runner()

    def run(*arguments: str, typed: str = "") -> Result:
        return runner.invoke(group, arguments, input=typed)

    return run


@pytest.fixture
def workspace_id(app: APIFlask) -> str:
    with app.extensions["services"].database.transaction() as session:
        return workspaces.create(session, name="Acme", now=clock.now()).id


@pytest.fixture
def tokens(app: APIFlask, workspace_id: str) -> tuple[str, str]:
    """The ids of a session and an API key of one account."""
    now = clock.now()
    with app.extensions["services"].database.transaction() as session:
        account = accounts.create(
            session,
            workspace_id,
            email=EMAIL,
            name="Ada",
            password_hash="hash",
            api_access=True,
            now=now,
        )
        started, _ = sessions.start(session, account.id, network=b"", lifetime=LIFETIME, now=now)
        key, _ = api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=None, now=now)
        return started.id, key.id


def ended(app: APIFlask, tokens: tuple[str, str]) -> tuple[bool, bool]:
    with app.extensions["services"].database.reading() as session:
        return (
            session.get_one(LoginSession, tokens[0]).revoked_at is not None,
            session.get_one(ApiKey, tokens[1]).revoked_at is not None,
        )


def stored(app: APIFlask) -> Account:
    with app.extensions["services"].database.reading() as session:
        account = accounts.by_email(session, EMAIL)
    assert account is not None
    return account


def create(
    run: Any, *arguments: str, workspace: str = "Acme", email: str = EMAIL, typed: str = PASSWORD
) -> Result:
    options = ["--workspace", workspace, "--name", "Ada", "--password-stdin", "--json"]
    result: Result = run("create", email, *options, *arguments, typed=typed)
    return result


def test_an_account_is_created_with_a_password_from_standard_input(
    app: APIFlask, run: Any, workspace_id: str
) -> None:
    result = create(run, "--role", "admin", "--api-access", typed=PASSWORD + "\n")

    account = json.loads(result.stdout)
    assert account == {
        "id": stored(app).id,
        "email": EMAIL,
        "name": "Ada",
        "role": "admin",
        "api_access": True,
        "disabled": False,
        "totp": False,
        "workspace_id": workspace_id,
        "created_at": account["created_at"],
    }
    assert passwords.verify(stored(app).password_hash, PASSWORD)
    assert json.loads(run("list", "--json").stdout) == {"accounts": [account]}


def test_the_first_account_of_a_workspace_is_its_admin_and_the_others_are_members(
    run: Any, workspace_id: str
) -> None:
    created = [
        json.loads(create(run, *role, workspace=workspace_id, email=email).stdout)
        for email, role in (
            ("first@acme.example", ()),
            ("second@acme.example", ()),
            ("third@acme.example", ("--role", "admin")),
        )
    ]

    assert [account["role"] for account in created] == ["admin", "member", "admin"]
    assert {account["api_access"] for account in created} == {False}


def test_the_first_account_can_be_a_member(run: Any, workspace_id: str) -> None:
    assert json.loads(create(run, "--role", "member").stdout)["role"] == "member"


def test_a_member_becomes_an_admin_and_stays_signed_in(
    app: APIFlask, run: Any, tokens: tuple[str, str]
) -> None:
    promoted = run("set-role", EMAIL, "admin")

    assert promoted.stdout == f"{EMAIL} is an admin of its workspace.\n"
    assert json.loads(run("list", "--json").stdout)["accounts"][0]["role"] == "admin"
    assert ended(app, tokens) == (False, False)


def test_a_password_is_prompted_for_twice(app: APIFlask, run: Any, workspace_id: str) -> None:
    arguments = ("create", " ADA@acme.example", "--workspace", workspace_id, "--name", "Ada")

    result = run(*arguments, typed=f"{PASSWORD}\n{PASSWORD}\n")

    assert result.exit_code == 0
    assert f"for {EMAIL}, an admin of its workspace." in result.stdout
    assert PASSWORD not in result.output
    assert passwords.verify(stored(app).password_hash, PASSWORD)


@pytest.mark.parametrize("password", ["", "seven77", "x" * 129])
def test_a_password_of_invalid_length_is_rejected(run: Any, workspace_id: str, password: str) -> None:
    result = create(run, workspace=workspace_id, typed=password)

    assert result.exit_code == 1
    assert "8 to 128 characters" in result.stderr


def test_an_email_can_have_only_one_account(run: Any, workspace_id: str) -> None:
    create(run, workspace=workspace_id)

    again = create(run, workspace=workspace_id)

    assert again.exit_code == 1
    assert "already" in again.stderr


def test_an_unknown_workspace_is_named(run: Any) -> None:
    result = create(run, workspace="wks_unknown")

    assert result.exit_code == 1
    assert "wks_unknown" in result.stderr


def test_an_invalid_email_is_rejected(run: Any) -> None:
    result = run("disable", "no e-mail")

    assert result.exit_code == 2
    assert "not an e-mail address" in result.stderr


def test_an_unknown_email_is_named(run: Any) -> None:
    result = run("disable", "eve@acme.example")

    assert result.exit_code == 1
    assert "no account with eve@acme.example" in result.stderr


def test_a_new_password_ends_sessions_and_keys(app: APIFlask, run: Any, tokens: tuple[str, str]) -> None:
    result = run("set-password", EMAIL, "--password-stdin", typed="another password")

    assert result.exit_code == 0
    assert passwords.verify(stored(app).password_hash, "another password")
    assert ended(app, tokens) == (True, True)


def test_disabling_ends_sessions_and_keys_and_enabling_does_not_restore_them(
    app: APIFlask, run: Any, tokens: tuple[str, str]
) -> None:
    disabled = json.loads(run("disable", EMAIL, "--json").stdout)
    enabled = json.loads(run("enable", EMAIL, "--json").stdout)

    assert (disabled["disabled"], enabled["disabled"]) == (True, False)
    assert ended(app, tokens) == (True, True)


def test_api_access_can_be_revoked_and_granted(app: APIFlask, run: Any, tokens: tuple[str, str]) -> None:
    account = json.loads(run("revoke-api-access", EMAIL, "--json").stdout)
    granted = json.loads(run("grant-api-access", EMAIL, "--json").stdout)

    assert (account["api_access"], granted["api_access"]) == (False, True)
    assert ended(app, tokens) == (False, True)


def test_the_list_without_json_is_a_table(run: Any, tokens: tuple[str, str]) -> None:
    run("disable", EMAIL)

    header, row = run("list").stdout.splitlines()

    assert tokens
    at = header.index("e-mail")
    assert header[at:].split("  ")[-1] == "disabled"
    assert row[at:].split() == [EMAIL, "member", "yes", "yes"]
    assert row.index("yes") == header.index("api access")


def test_an_empty_list_says_what_to_do(run: Any) -> None:
    assert "flask accounts create" in run("list").stdout


def test_the_sessions_of_an_account_are_listed(run: Any, tokens: tuple[str, str]) -> None:
    output = json.loads(run("sessions", EMAIL, "--json").stdout)["sessions"]

    (shown,) = output
    assert shown["id"] == tokens[0]
    assert set(shown) == {"id", "client", "created_at", "last_used_at", "expires_at"}
    assert run("sessions", EMAIL).stdout.startswith(f"{tokens[0]}  last used ")


def test_sign_out_ends_the_sessions_but_not_the_keys(
    app: APIFlask, run: Any, tokens: tuple[str, str]
) -> None:
    output = run("sign-out", EMAIL).stdout

    assert output == f"{EMAIL} is signed out: 1 session(s) ended.\n"
    assert ended(app, tokens) == (True, False)
    assert run("sessions", EMAIL).stdout == f"{EMAIL} has no sessions.\n"


@pytest.mark.parametrize("command", ["sessions", "sign-out"])
def test_sessions_of_an_unknown_account_are_an_error(run: Any, command: str) -> None:
    result = run(command, "eve@acme.example")

    assert result.exit_code == 1
    assert "no account with eve@acme.example" in result.stderr


def test_a_user_who_lost_the_app_signs_in_without_a_code_after_a_reset(
    app: APIFlask, run: Any, workspace_id: str
) -> None:
    create(run)
    with app.extensions["services"].database.transaction() as session:
        accounts.locked(session, stored(app).id).totp_enabled_at = clock.now()

    result = run("reset-totp", EMAIL)

    assert result.output == f"{EMAIL} signs in without a code until it sets up an app again.\n"
    assert stored(app).totp_enabled_at is None
