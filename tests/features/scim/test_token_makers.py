"""A token outlives the admin who made it, and is then named to those who can make another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import visitor
from scim_support import IdentityProvider

from app.engine.accounts import accounts
from app.engine.accounts.accounts import Role
from app.features.scim import checks
from app.features.scim.commands import group as commands
from app.infra import clock
from app.settings import Settings
from cli.checks.findings import Level

LEFT = "made the token and is no longer an admin"


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    """A provider whose token was made by a second admin of the workspace, Bob."""
    provider = IdentityProvider.of(app)
    bob = provider.admin.colleague()
    with bob.database.transaction() as session:
        accounts.set_role(session, bob.account_id, Role.ADMIN)
    provider.token = bob.client.post("/api/scim/token", headers=bob.headers).get_json()["token"]
    return provider


def described(idp: IdentityProvider) -> Any:
    return idp.admin.client.get("/api/scim", headers=idp.admin.headers).get_json()["token"]


def findings(settings: Settings) -> list[tuple[str, Level]]:
    return [(each.what, each.level) for each in checks.findings(settings)]


def test_a_token_names_the_admin_who_made_it(
    app: APIFlask, idp: IdentityProvider, settings: Settings
) -> None:
    maker = described(idp)["created_by"]
    page = visitor(app, idp.admin).open("/admin/provisioning").text

    assert (maker["name"], maker["is_admin"]) == ("Bob", True)
    assert ("Bob" in page, LEFT in page, findings(settings)) == (True, False, [])


@pytest.mark.parametrize("how", ["deactivated by the provider", "demoted"])
def test_a_token_whose_maker_left_works_and_is_named(
    app: APIFlask, idp: IdentityProvider, settings: Settings, how: str
) -> None:
    maker_id = described(idp)["created_by"]["id"]
    if how == "demoted":
        with idp.admin.database.transaction() as session:
            accounts.set_role(session, maker_id, Role.MEMBER)
    else:
        idp.patch(f"/Users/{maker_id}", {"op": "replace", "path": "active", "value": False})

    works = idp.call("GET", "/Users").status_code
    page = visitor(app, idp.admin).open("/admin/provisioning").text

    assert (works, described(idp)["created_by"]["is_admin"]) == (200, False)
    assert LEFT in page
    assert findings(settings) == [("SCIM token of Acme", Level.NOTE)]


def test_a_new_token_ends_the_one_of_a_leaver(idp: IdentityProvider, settings: Settings) -> None:
    with idp.admin.database.transaction() as session:
        accounts.disable(session, described(idp)["created_by"]["id"], now=clock.now())

    idp.admin.client.post("/api/scim/token", headers=idp.admin.headers)

    assert (idp.call("GET", "/Users").status_code, findings(settings)) == (401, [])
    assert described(idp)["created_by"]["id"] == idp.admin.account_id


def test_a_token_of_a_command_has_no_maker(app: APIFlask, idp: IdentityProvider, settings: Settings) -> None:
    app.test_cli_runner().invoke(commands, ["rotate-token", idp.admin.workspace_id])

    assert (described(idp)["created_by"], findings(settings)) == (None, [])
    assert "an operator of the server" in visitor(app, idp.admin).open("/admin/provisioning").text


def test_a_database_without_tables_has_no_findings(settings: Settings, tmp_path: Path) -> None:
    empty = replace(settings, database_url=f"sqlite:///{tmp_path / 'empty.sqlite3'}")

    assert findings(empty) == []
