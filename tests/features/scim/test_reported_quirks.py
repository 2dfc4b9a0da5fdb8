"""Bodies of Microsoft Entra that other servers refused, as reported in their issue trackers.

scimmyjs/scimmy#86 (active as a text in lower case), pond/scimitar#43 (`$ref` that is null, "False"),
MicrosoftDocs/azure-docs#30826 and Captain-P-Goldfish/SCIM-SDK#149 (remove with the values to remove),
Captain-P-Goldfish/SCIM-SDK#416 and scim-for-keycloak#73 (an address that a filter does not find),
Captain-P-Goldfish/SCIM-SDK#668 (other addresses stay), AzureAD/SCIMReferenceCode#87 (remove with another
value). Addresses: lightdash/lightdash#15753 and growthbook/growthbook#5258 (a request of the root),
MicrosoftDocs/azure-docs#33506 (a slash at the end), MicrosoftDocs/entra-docs#949 (a flag behind the address).
"""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from scim_support import IdentityProvider
from users_support import bearer

WORK = 'emails[type eq "work"].value'


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    return IdentityProvider.of(app)


def emails(user: Any) -> dict[str, str]:
    return {one.get("type"): one.get("value") for one in user.get("emails", [])}


@pytest.mark.parametrize("value", ["false", "False", False, {"active": "False"}])
def test_a_user_is_unassigned(idp: IdentityProvider, value: Any) -> None:
    user = idp.create()
    named = {} if isinstance(value, dict) else {"path": "active"}

    response = idp.patch(f"/Users/{user['id']}", {"op": "Replace", **named, "value": value})

    assert (response.status_code, response.get_json(force=True)["active"]) == (200, False)
    assert idp.account(user["id"]).disabled_at is not None


@pytest.mark.parametrize("path", ["members", None])
def test_only_the_members_who_are_named_leave_a_group(idp: IdentityProvider, path: str | None) -> None:
    bob, cat = idp.create()["id"], idp.create("cat@acme.example")["id"]
    group = idp.group("Sales", bob, cat)
    gone: dict[str, Any] = {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": bob}]}
    if path is None:
        gone = {"op": "Remove", "path": f'members[value eq "{bob}"]'}

    response = idp.patch(f"/Groups/{group['id']}", gone)

    assert response.status_code in {200, 204}
    members = idp.call("GET", f"/Groups/{group['id']}").get_json(force=True)["members"]
    assert [member["value"] for member in members] == [cat]


@pytest.mark.parametrize("op", ["Add", "Replace", "add", "replace"])
def test_an_address_that_the_filter_does_not_find_is_added(idp: IdentityProvider, op: str) -> None:
    user = idp.create(emails=[{"type": "home", "value": "bob@home.example"}])

    response = idp.patch(f"/Users/{user['id']}", {"op": op, "path": WORK, "value": "bob@acme.example"})

    assert emails(response.get_json(force=True)) == {"home": "bob@home.example", "work": "bob@acme.example"}


def test_an_address_is_replaced_and_the_others_stay(idp: IdentityProvider) -> None:
    both = [{"type": "work", "value": "bob@acme.example"}, {"type": "home", "value": "bob@home.example"}]
    user = idp.create(emails=both)

    response = idp.patch(f"/Users/{user['id']}", {"op": "replace", "path": WORK, "value": "rob@acme.example"})

    assert emails(response.get_json(force=True)) == {"work": "rob@acme.example", "home": "bob@home.example"}


def test_an_address_that_is_removed_is_gone(idp: IdentityProvider) -> None:
    user = idp.create(emails=[{"type": "work", "value": "bob@acme.example", "primary": True}])

    response = idp.patch(
        f"/Users/{user['id']}", {"op": "Remove", "path": WORK, "value": "other@acme.example"}
    )

    assert response.status_code == 200
    assert "emails" not in response.get_json(force=True)
    assert idp.account(user["id"]).email == "bob@acme.example"


def test_attributes_come_by_their_full_names(idp: IdentityProvider) -> None:
    user, core = idp.create(), "urn:ietf:params:scim:schemas:core:2.0:User:"

    response = idp.patch(
        f"/Users/{user['id']}",
        {"op": "Add", "value": {f"{core}displayName": "Rob Ross", "name.familyName": "Ross"}},
        {"op": "Replace", "path": f"{core}active", "value": "True"},
    )

    changed = response.get_json(force=True)
    assert (changed["displayName"], changed["name"]["familyName"]) == ("Rob Ross", "Ross")


@pytest.mark.parametrize(
    "path", ["/", "//Users", "/Users/", "//Users//", "///Users", "/Users?aadOptscim062020&filter=", ""]
)
def test_an_address_may_end_in_a_slash_or_a_flag(idp: IdentityProvider, path: str) -> None:
    user = idp.create()

    response = idp.client.get(f"/scim/v2{path}", headers=bearer(idp.token))

    assert response.status_code == 200
    assert user["id"] in [found["id"] for found in response.get_json(force=True)["Resources"]]


def test_a_user_is_created_changed_searched_and_deleted_below_an_address_with_a_slash(
    idp: IdentityProvider,
) -> None:
    user = idp.call("POST", "//Users", {"userName": "bob@acme.example"}).get_json(force=True)
    changed = idp.patch(f"//Users/{user['id']}", {"op": "replace", "path": "active", "value": False})
    found = idp.call("POST", "//Users/.search/", {"filter": 'userName eq "bob@acme.example"'})
    described = idp.call("GET", "//ServiceProviderConfig/")
    deleted = idp.call("DELETE", f"//Users/{user['id']}/")

    assert changed.get_json(force=True)["active"] is False
    assert found.get_json(force=True)["totalResults"] == 1
    assert (described.status_code, deleted.status_code) == (200, 204)
    assert idp.call("GET", f"/Users/{user['id']}").status_code == 404


def test_the_root_takes_no_other_method_and_no_request_without_a_token(idp: IdentityProvider) -> None:
    refused = idp.call("POST", "/", {"userName": "bob@acme.example"})

    assert (refused.status_code, refused.mimetype) == (405, "application/scim+json")
    assert idp.client.get("/scim/v2//Users").status_code == 401
    assert idp.client.get("/scim/v2x//Users").status_code == 404
