"""Groups as Okta and Microsoft Entra send them, and what they give to their members."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from page_support import Visitor, visitor
from scim_support import IdentityProvider
from settings_support import change_settings
from stored_support import statements
from users_support import create_user

from app.domain.permissions import ALL, Permission
from app.engine.accounts import accounts, permissions
from app.engine.accounts.accounts import Role
from app.features.scim import access, groups
from app.features.scim.commands import group as commands


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    return IdentityProvider.of(app)


@pytest.fixture
def bob(idp: IdentityProvider) -> str:
    return str(idp.create()["id"])


def members(idp: IdentityProvider, group_id: str) -> set[str]:
    shown = idp.call("GET", f"/Groups/{group_id}").get_json(force=True)
    return {member["value"] for member in shown["members"]}


def map_group(idp: IdentityProvider, group_id: str, role: str | None, given: list[str] | None) -> Any:
    body = {"role": role, "permissions": given}
    return idp.admin.client.put(f"/api/scim/groups/{group_id}", json=body, headers=idp.admin.headers)


def permitted(idp: IdentityProvider, account_id: str) -> set[Permission]:
    with idp.admin.database.reading() as session:
        return set(permissions.of_account(session, account_id))


def test_a_group_is_created_found_renamed_and_deleted(idp: IdentityProvider, bob: str) -> None:
    made = idp.group("Sales", bob)
    path = f"/Groups/{made['id']}"

    found = idp.call("GET", "/Groups", filter='displayName eq "SALES"', excludedAttributes="members")
    idp.patch(path, {"op": "replace", "value": {"id": made["id"], "displayName": "Sales EMEA"}})
    renamed = idp.call("GET", path).get_json(force=True)
    deleted = idp.call("DELETE", path)

    assert [("members" in one, one["id"]) for one in found.get_json(force=True)["Resources"]] == [
        (False, made["id"])
    ]
    assert (renamed["displayName"], renamed["members"][0]["value"]) == ("Sales EMEA", bob)
    assert (deleted.status_code, idp.call("GET", path).status_code) == (204, 404)


def test_two_groups_of_a_name_are_a_conflict(idp: IdentityProvider) -> None:
    idp.group("Sales")

    assert idp.call("POST", "/Groups", {"displayName": "sales"}).status_code == 409


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": 'members[value eq "{bob}"]'},
        {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": "{bob}"}]},
        {"op": "replace", "path": "members", "value": [{"value": "{eve}", "display": "eve"}]},
    ],
    ids=["the RFC and Okta", "Entra", "Okta, all"],
)
def test_a_member_leaves_a_group(idp: IdentityProvider, bob: str, operation: dict[str, Any]) -> None:
    eve = idp.create("eve@acme.example")["id"]
    made = idp.group("Sales", bob, eve)
    text = str(operation).replace("{bob}", bob).replace("{eve}", eve)

    idp.patch(f"/Groups/{made['id']}", eval(text))  # noqa: S307 -- the dictionary above

    assert members(idp, made["id"]) == {eve}


def test_members_are_added_one_by_one_and_all_removed(idp: IdentityProvider, bob: str) -> None:
    eve = idp.create("eve@acme.example")["id"]
    path = f"/Groups/{idp.group('Sales', bob)['id']}"

    idp.patch(path, {"op": "Add", "path": "members", "value": [{"value": eve}, {"value": bob}]})
    both = members(idp, path.rpartition("/")[2])
    idp.patch(path, {"op": "remove", "path": "members"})

    assert both == {bob, eve}
    assert members(idp, path.rpartition("/")[2]) == set()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"displayName": " "},
        {"displayName": "x", "members": "y"},
        {"displayName": "x", "members": [{"value": "acc_1"}]},
        {"displayName": "x", "members": [{}]},
        {"displayName": "x", "externalId": 5},
    ],
)
def test_a_group_with_wrong_values_is_refused(idp: IdentityProvider, body: dict[str, Any]) -> None:
    assert idp.call("POST", "/Groups", body).status_code == 400


def test_a_workspace_has_a_thousand_groups_at_most(
    idp: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MAX_GROUPS", 1)
    idp.group("Sales")

    assert idp.call("POST", "/Groups", {"displayName": "Support"}).status_code == 403


def test_an_account_of_another_workspace_is_no_member(app: APIFlask, idp: IdentityProvider) -> None:
    stranger = create_user(app, email="eve@babbage.example")

    refused = idp.call("POST", "/Groups", {"displayName": "x", "members": [{"value": stranger.account_id}]})

    assert refused.status_code == 400


def test_a_group_with_a_role_makes_its_members_admins_and_others_members(
    idp: IdentityProvider, bob: str
) -> None:
    eve = idp.create("eve@acme.example")["id"]
    made = idp.group("Admins", bob)

    map_group(idp, made["id"], "admin", None)
    first = [idp.account(each).role for each in (bob, eve)]
    idp.patch(f"/Groups/{made['id']}", {"op": "replace", "path": "members", "value": [{"value": eve}]})

    assert first == ["admin", "member"]
    assert [idp.account(each).role for each in (bob, eve)] == ["member", "admin"]
    assert idp.account(idp.admin.account_id).role == "admin"  # whom the provider does not manage


def test_the_last_admin_stays_an_admin(idp: IdentityProvider) -> None:
    admin = idp.admin.account_id
    made = idp.group("Admins", admin)
    map_group(idp, made["id"], "admin", None)

    idp.patch(f"/Groups/{made['id']}", {"op": "remove", "path": "members"})

    assert idp.account(admin).role == "admin"


def test_a_group_is_a_seat_with_permissions(idp: IdentityProvider, bob: str) -> None:
    readers, exporters = idp.group("Readers", bob), idp.group("Exporters", bob)

    map_group(idp, readers["id"], None, [])
    nothing = permitted(idp, bob)
    map_group(idp, exporters["id"], None, ["export"])
    some = permitted(idp, bob)
    for made in (readers, exporters):
        idp.call("DELETE", f"/Groups/{made['id']}")

    assert (nothing, some, permitted(idp, bob)) == (set(), {Permission.EXPORT}, ALL)
    mapped = [entry for entry in recorded(idp.admin.database) if entry.action == "scim_group.map"]
    assert [entry.reason for entry in mapped] == [
        "role=none permissions=nothing",
        "role=none permissions=export",
    ]


def test_a_group_that_is_not_there_is_not_mapped(idp: IdentityProvider) -> None:
    assert map_group(idp, f"scg_{'0' * 24}", None, None).status_code == 404


def test_a_member_of_a_group_shows_it(idp: IdentityProvider, bob: str) -> None:
    made = idp.group("Sales", bob)

    shown = idp.call("GET", f"/Users/{bob}").get_json(force=True)["groups"]

    assert shown == [{"value": made["id"], "display": "Sales"}]


def test_an_admin_rotates_and_ends_the_token(idp: IdentityProvider) -> None:
    headers, old = idp.admin.headers, idp.token

    idp.token = idp.admin.client.post("/api/scim/token", headers=headers).get_json()["token"]
    new_works = idp.call("GET", "/Users").status_code
    shown = idp.admin.client.get("/api/scim", headers=headers).get_json()
    ended = [idp.admin.client.delete("/api/scim/token", headers=headers).status_code for _ in range(2)]
    is_over = idp.call("GET", "/Users").status_code
    idp.token = old

    assert (new_works, ended, is_over, idp.call("GET", "/Users").status_code) == (200, [204, 204], 401, 401)
    assert shown["base_url"] == "http://localhost/scim/v2"
    assert idp.token.startswith("scim_")


def test_the_page_shows_the_token_once_and_maps_groups(
    app: APIFlask, idp: IdentityProvider, bob: str
) -> None:
    browser: Visitor = visitor(app, idp.admin)
    made = idp.group("Readers", bob)

    shown = browser.send("/admin/provisioning/token").text
    browser.send(f"/admin/provisioning/groups/{made['id']}", role="admin", has_seat="1", permissions="export")
    text = browser.open("/admin/provisioning").text
    ended = browser.send("/admin/provisioning/token/revoke").text

    assert "scim_" in shown
    assert idp.account(bob).role == "admin"
    assert "Readers" in text
    assert "The token has ended" in ended


def test_the_page_says_that_there_are_no_groups(app: APIFlask, idp: IdentityProvider) -> None:
    assert "No groups yet" in visitor(app, idp.admin).open("/admin/provisioning").text


def test_commands_rotate_and_end_the_token(app: APIFlask, idp: IdentityProvider) -> None:
    runner, workspace = app.test_cli_runner(), idp.admin.workspace_id

    made = runner.invoke(commands, ["rotate-token", workspace])
    idp.token = made.stdout.splitlines()[1]
    works = idp.call("GET", "/Users").status_code
    ended = [runner.invoke(commands, ["revoke-token", workspace]).stdout.strip() for _ in range(2)]

    assert works == 200
    assert ended == ["The token has ended.", "There is no token."]


def test_groups_change_nothing_of_an_operator(app: APIFlask, idp: IdentityProvider) -> None:
    root = idp.admin.colleague(email="root@acme.example")
    with idp.admin.database.transaction() as session:
        accounts.set_role(session, root.account_id, Role.ADMIN)
    change_settings(app, operators=("root@acme.example",))
    made = idp.group("Sales", root.account_id)

    answer = map_group(idp, made["id"], "member", [])

    assert (answer.status_code, members(idp, made["id"])) == (200, {root.account_id})
    account = idp.account(root.account_id)
    assert (account.role, account.permissions) == (Role.ADMIN, None)


def test_members_of_a_group_without_a_role_take_no_statements_of_their_own(
    app: APIFlask, idp: IdentityProvider
) -> None:
    ids = [idp.create(f"person{number}@acme.example")["id"] for number in range(6)]
    idp.group("Sales", *ids)
    workspace_id = idp.admin.workspace_id
    with app.app_context(), idp.admin.database.transaction() as session:
        with statements(session.get_bind()) as one:  # type: ignore[arg-type]
            access.apply(session, workspace_id, ids[:1])
        with statements(session.get_bind()) as all_:  # type: ignore[arg-type]
            access.apply(session, workspace_id, ids)

    assert len(one) == len(all_) == 3
