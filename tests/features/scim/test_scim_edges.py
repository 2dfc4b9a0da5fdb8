"""Requests that identity providers may send by the specification, although few do."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from scim_support import IdentityProvider

from app.engine.accounts import accounts
from app.engine.accounts.accounts import EmailTaken
from app.features.scim import access


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    return IdentityProvider.of(app)


def members(idp: IdentityProvider, group_id: str) -> list[str]:
    found = idp.call("GET", f"/Groups/{group_id}").get_json(force=True)
    return [member["value"] for member in found.get("members", [])]


@pytest.mark.parametrize("resource", ["Users", "Groups"])
def test_a_search_may_be_a_post(idp: IdentityProvider, resource: str) -> None:
    idp.group("Sales", idp.create()["id"])

    found = idp.call("POST", f"/{resource}/.search", {"startIndex": 1})

    assert found.get_json(force=True)["totalResults"] >= 1


def test_a_member_may_be_named_by_its_address(idp: IdentityProvider) -> None:
    bob, group = idp.create()["id"], idp.group("Sales")
    reference = {"$ref": f"https://contacts.example/scim/v2/Users/{bob}"}

    idp.patch(f"/Groups/{group['id']}", {"op": "add", "path": "members", "value": [reference]})

    assert members(idp, group["id"]) == [bob]


def test_attributes_of_lists_and_plain_ones_can_be_asked_for(idp: IdentityProvider) -> None:
    bob = idp.create(name={"givenName": "Bob", "familyName": "Ray"})
    group = idp.group("Sales", bob["id"])

    shown = idp.call("GET", f"/Groups/{group['id']}", attributes="members.value,displayName.x").get_json(
        force=True
    )

    assert [list(member) for member in shown["members"]] == [["value"]]


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        ({"op": "remove", "path": "urn:acme:extension:2.0:User:level"}, 200),
        ({"op": "add", "value": {"not a path!": 1}}, 200),
        ({"op": "remove", "path": "name.givenName"}, 200),
        ({"op": "remove", "path": "displayName"}, 200),
        ({"op": "replace", "path": "emails", "value": [{"value": "bob@acme.example"}]}, 200),
        ({"op": "replace", "path": "emails.value", "value": "bob@acme.example"}, 200),
        ({"op": "add", "path": "not a path!", "value": 1}, 400),
    ],
)
def test_an_operation_is_applied_ignored_or_refused(
    idp: IdentityProvider, operation: dict[str, Any], status: int
) -> None:
    user = idp.create(name={"givenName": "Bob", "familyName": "Ray"}, displayName="Bob")

    response = idp.patch(f"/Users/{user['id']}", operation)

    assert response.status_code == status, response.text


def test_an_address_that_is_taken_meanwhile_is_refused(
    idp: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_arguments: object, **_options: object) -> None:
        raise EmailTaken

    monkeypatch.setattr(accounts, "create", taken)

    response = idp.call("POST", "/Users", {"userName": "bob@acme.example"})

    assert (response.status_code, response.get_json(force=True)["scimType"]) == (409, "uniqueness")


def test_an_account_that_the_provider_does_not_manage_keeps_its_role(idp: IdentityProvider) -> None:
    admin = idp.admin.account_id

    with idp.admin.database.transaction() as session:
        access.apply(session, idp.admin.workspace_id, [admin])

    assert idp.account(admin).role == "admin"
