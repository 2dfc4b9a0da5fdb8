"""Requests as identity providers send them, with invented people.

The bodies follow documents and reports. Okta: its reference of SCIM 2.0, Metatavu/keycloak-scim-server#100,
Captain-P-Goldfish/SCIM-SDK#419 and #757. JumpCloud: its page on custom SCIM integrations. Keycloak:
Captain-P-Goldfish/scim-for-keycloak#126 and #132. OneLogin and authentik: goauthentik/authentik#11249 and the
tests of its provider. Google: getprobo/probo#807. Entra: onyx-dot-app/onyx#14074.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from apiflask import APIFlask
from scim_support import PATCH, IdentityProvider
from users_support import bearer
from werkzeug.test import TestResponse

from app.features.scim import protocol
from app.web.bodies import body as bodies

USER, GROUP = (f"urn:ietf:params:scim:schemas:core:2.0:{name}" for name in ("User", "Group"))
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
EMAIL = "bob.ross+it@acme.example"


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    return IdentityProvider.of(app)


def members(idp: IdentityProvider, group_id: str) -> set[str]:
    found = idp.call("GET", f"/Groups/{group_id}").get_json(force=True)
    return {member["value"] for member in found["members"]}


def okta(idp: IdentityProvider, method: str, path: str, body: Any = None) -> TestResponse:
    headers = bearer(idp.token) | {
        "Accept": "application/scim+json",
        "Accept-Charset": "utf-8",
        "User-Agent": "Okta SCIM Client 1.0.0",
    }
    if body is not None:
        headers["Content-Type"] = "application/scim+json; charset=utf-8"
    return idp.client.open(f"/scim/v2{path}", method=method, json=body, headers=headers)


def okta_user(**changes: Any) -> dict[str, Any]:
    return {
        "schemas": [USER],
        "userName": EMAIL,
        "name": {"givenName": "Bob", "familyName": "Ross"},
        "emails": [{"primary": True, "value": EMAIL, "type": "work"}],
        "displayName": "Bob Ross",
        "locale": "en-US",
        "externalId": "00u1a2b3c4d5E6f7G8h9",
        "groups": [],
        "password": "Tm90LXN0b3JlZA",
        "active": True,
    } | changes


def test_okta_looks_a_user_up_by_an_encoded_address_in_another_case(idp: IdentityProvider) -> None:
    query = "filter=userName%20eq%20%22BOB.Ross%2Bit%40acme.example%22&startIndex=1&count=100"

    before = okta(idp, "GET", f"/Users?{query}").get_json(force=True)
    made = okta(idp, "POST", "/Users", okta_user())
    after = okta(idp, "GET", f"/Users?{query}").get_json(force=True)

    assert (before["totalResults"], before["startIndex"], before["Resources"]) == (0, 1, [])
    assert made.status_code == 201
    assert [user["id"] for user in after["Resources"]] == [made.get_json(force=True)["id"]]


def test_a_password_that_okta_sends_along_is_neither_stored_nor_shown(idp: IdentityProvider) -> None:
    made = okta(idp, "POST", "/Users", okta_user())

    signed_in = idp.client.post("/api/ext/login", json={"email": EMAIL, "password": "Tm90LXN0b3JlZA"})

    assert "Tm90LXN0b3JlZA" not in made.text
    assert "password" not in idp.call("GET", f"/Users/{made.get_json(force=True)['id']}").text
    assert signed_in.status_code == 401


def test_okta_is_told_of_a_user_who_exists(idp: IdentityProvider) -> None:
    first = okta(idp, "POST", "/Users", okta_user()).get_json(force=True)

    again = okta(idp, "POST", "/Users", okta_user(userName=EMAIL.upper()))

    error = again.get_json(force=True)
    assert (again.status_code, error["status"], error["scimType"]) == (409, "409", "uniqueness")
    assert idp.call("GET", f"/Users/{first['id']}").get_json(force=True)["userName"] == EMAIL


def test_okta_deactivates_with_put_and_assigns_the_same_account_again(idp: IdentityProvider) -> None:
    made = okta(idp, "POST", "/Users", okta_user()).get_json(force=True)
    path = f"/Users/{made['id']}"

    shown = okta(idp, "GET", path).get_json(force=True)
    left = okta(idp, "PUT", path, {**shown, "active": False}).get_json(force=True)
    found = okta(idp, "GET", f"/Users?filter=userName%20eq%20%22{EMAIL.replace('+', '%2B')}%22")
    back = okta(idp, "PUT", path, okta_user(id=made["id"])).get_json(force=True)

    assert (left["active"], back["active"]) == (False, True)
    assert [user["active"] for user in found.get_json(force=True)["Resources"]] == [False]
    assert idp.account(made["id"]).disabled_at is None


def test_okta_pushes_a_group_renames_it_and_changes_its_members(idp: IdentityProvider) -> None:
    bob = okta(idp, "POST", "/Users", okta_user()).get_json(force=True)["id"]
    eve = idp.create("eve@acme.example")["id"]
    made = okta(idp, "POST", "/Groups", {"schemas": [GROUP], "displayName": "Sales", "members": []})
    group_id = made.get_json(force=True)["id"]
    steps = [
        {"op": "replace", "value": {"id": group_id, "displayName": "Sales EMEA"}},
        {"op": "replace", "value": {"members": [{"value": bob}]}},
        {"op": "add", "path": "members", "value": [{"value": eve, "display": "eve@acme.example"}]},
        {"op": "remove", "path": f'members[value eq "{bob}"]'},
        {"op": "replace", "path": "members", "value": []},
    ]

    seen = []
    for step in steps:
        answer = okta(idp, "PATCH", f"/Groups/{group_id}", {"schemas": [PATCH], "Operations": [step]})
        seen.append((answer.status_code, members(idp, group_id)))

    assert seen == [(200, set()), (200, {bob}), (200, {bob, eve}), (200, {eve}), (200, set())]
    shown = idp.call("GET", f"/Groups/{group_id}").get_json(force=True)
    assert shown["displayName"] == "Sales EMEA"


def test_okta_puts_a_whole_group(idp: IdentityProvider) -> None:
    bob, group = idp.create()["id"], idp.group("Sales")
    body = {
        "schemas": [GROUP],
        "id": group["id"],
        "displayName": "Sales EMEA",
        "members": [{"value": bob, "display": "bob@acme.example"}],
    }

    assert okta(idp, "PUT", f"/Groups/{group['id']}", body).status_code == 200
    assert members(idp, group["id"]) == {bob}


@pytest.mark.parametrize("prefix", ["", "bearer ", "Bearer Bearer "])
def test_the_token_is_taken_as_an_admin_typed_it_into_okta(idp: IdentityProvider, prefix: str) -> None:
    found = idp.client.get("/scim/v2/Users", headers={"Authorization": f"{prefix}{idp.token}"})

    assert found.status_code == 200


def test_the_token_is_not_taken_by_another_scheme(idp: IdentityProvider) -> None:
    refused = idp.client.get("/scim/v2/Users", headers={"Authorization": f"Basic {idp.token}"})

    assert refused.status_code == 401


def test_jumpcloud_tests_the_connection_with_a_user_and_a_group_twice(idp: IdentityProvider) -> None:
    user = {
        "schemas": [USER, ENTERPRISE],
        "userName": EMAIL,
        "emails": [{"value": EMAIL, "type": "Work"}],
        "name": {"familyName": "User", "givenName": "Test", "formatted": "Test User"},
        "active": True,
        ENTERPRISE: {"department": "", "organization": ""},
    }

    statuses = []
    for _ in range(2):
        made = idp.call("POST", "/Users", user)
        user_id = made.get_json(force=True)["id"]
        changed = idp.call("PUT", f"/Users/{user_id}", user | {"id": user_id, "active": False})
        group = idp.call("POST", "/Groups", {"schemas": [GROUP], "displayName": "Test group"})
        path = f"/Groups/{group.get_json(force=True)['id']}"
        added = idp.patch(path, {"op": "add", "path": "members", "value": [{"value": user_id}]})
        removed = idp.patch(path, {"op": "remove", "path": "members", "value": [{"value": user_id}]})
        gone = [idp.call("DELETE", one) for one in (path, f"/Users/{user_id}")]
        statuses.append([one.status_code for one in (made, changed, group, added, removed, *gone)])

    assert statuses == [[201, 200, 201, 200, 200, 204, 204]] * 2


def test_onelogin_finds_a_group_by_its_name_and_changes_its_members(idp: IdentityProvider) -> None:
    bob = idp.create(externalId="184467", name={"givenName": "Bob", "familyName": None})["id"]
    group_id = idp.group("Sales")["id"]

    found = idp.call("GET", "/Groups", filter='displayName eq "Sales"', startIndex="1", count="100")
    member = {"op": "add", "path": "members", "value": [{"value": bob}]}
    added = idp.patch(f"/Groups/{group_id}", member)
    idp.patch(
        f"/Users/{bob}",
        {"op": "replace", "path": "name", "value": {"givenName": "Robert", "familyName": "Ross"}},
        {"op": "replace", "path": "active", "value": "false"},
    )

    assert [group["id"] for group in found.get_json(force=True)["Resources"]] == [group_id]
    assert (added.status_code, members(idp, group_id)) == (200, {bob})
    account = idp.account(bob)
    assert (account.name, account.disabled_at is None) == ("Robert Ross", False)


def test_google_sends_no_primary_address_and_titles_that_are_not_stored(idp: IdentityProvider) -> None:
    body = {
        "schemas": [USER, ENTERPRISE],
        "userName": EMAIL,
        "externalId": "103829174650",
        "name": {"givenName": "Bob", "familyName": "Ross"},
        "emails": [{"value": "bob@home.example", "type": "home"}, {"value": EMAIL, "type": "work"}],
        "title": "Painter",
        "preferredLanguage": "en",
        ENTERPRISE: {"manager": {"value": "eve@acme.example"}},
    }

    made = idp.call("POST", "/Users", body)

    account = idp.account(made.get_json(force=True)["id"])
    assert (made.status_code, account.email, account.name) == (201, EMAIL, "Bob Ross")
    assert "title" not in made.get_json(force=True)


def test_keycloak_sends_its_own_id_and_puts_users_whole(idp: IdentityProvider) -> None:
    own_id = "48ac54b1-0000-4000-8000-4c077dd57e9c"
    body = {
        "schemas": [USER],
        "id": own_id,
        "externalId": own_id,
        "userName": "bob.ross",
        "emails": [{"primary": True, "value": EMAIL}],
        "name": {"givenName": "Bob", "familyName": "Ross"},
        "active": True,
    }

    made = idp.call("POST", "/Users", body).get_json(force=True)
    put = idp.call("PUT", f"/Users/{made['id']}", body | {"title": "CTO"}).get_json(force=True)
    group = idp.call("POST", "/Groups", {"schemas": [GROUP], "id": own_id, "displayName": "Engineering"})

    assert (put["id"], put["externalId"], put["userName"]) == (made["id"], own_id, "bob.ross")
    assert made["id"] != own_id
    assert group.get_json(force=True)["id"].startswith("scg_")


def test_authentik_renames_a_group_with_an_empty_path_and_photos_are_left_out(
    idp: IdentityProvider,
) -> None:
    group_id = idp.group("Sales")["id"]
    photos = [{"value": "https://sso.acme.example/photo.png"}]

    user = idp.create(EMAIL, photos=photos, phoneNumbers=[], name={"formatted": "Bob Ross", "givenName": ""})
    renamed = idp.patch(
        f"/Groups/{group_id}",
        {"op": "replace", "path": None, "value": {"displayName": "Sales EMEA", "externalId": "7f3a"}},
    ).get_json(force=True)

    assert (renamed["displayName"], renamed["externalId"]) == ("Sales EMEA", "7f3a")
    assert (idp.account(user["id"]).name, user["name"]) == ("Bob Ross", {"formatted": "Bob Ross"})


def test_whom_entra_renames_when_deleting_keeps_the_address(idp: IdentityProvider) -> None:
    bob = idp.create()
    path, deleted = f"/Users/{bob['id']}", f"283405f5d1c24e7f9a0b3c4d5e6f7a8b{bob['userName']}"

    left = idp.patch(
        path,
        {"op": "Replace", "path": "userName", "value": deleted},
        {"op": "Replace", "path": "active", "value": "False"},
    )
    gone = idp.account(bob["id"])
    idp.patch(path, {"op": "Replace", "value": {"userName": bob["userName"], "active": "True"}})

    assert (left.status_code, left.get_json(force=True)["userName"]) == (200, deleted)
    assert (gone.email, gone.disabled_at is None) == ("bob@acme.example", False)
    back = idp.account(bob["id"])
    assert (back.email, back.disabled_at) == ("bob@acme.example", None)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Bob\u00a0Ross", "Bob Ross"),
        ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0639\u0644\u06cc\u0631\u0636\u0627"),
        (" Bob Ross\n", "Bob Ross"),
        ("\u200b", "bob"),
    ],
)
def test_a_name_has_characters_that_cannot_be_seen(idp: IdentityProvider, name: str, shown: str) -> None:
    user = idp.create(displayName=name)

    found = idp.call("GET", "/Users", filter=f'displayName eq "{name.strip()}"').get_json(force=True)

    assert idp.account(user["id"]).name == shown
    assert found["totalResults"] == 1


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "emails", "value": [{"value": "rob@acme.example", "primary": True}]},
        {"op": "add", "path": "emails", "value": [{"value": "home@acme.example", "primary": "True"}]},
        {"op": "replace", "path": 'emails[type eq "home"].primary', "value": True},
    ],
    ids=["a new address", "a known address", "one attribute"],
)
def test_a_new_primary_address_is_the_only_one(idp: IdentityProvider, operation: dict[str, Any]) -> None:
    emails = [
        {"value": "bob@acme.example", "type": "work", "primary": True},
        {"value": "home@acme.example", "type": "home"},
    ]
    user = idp.create(emails=emails)

    changed = idp.patch(f"/Users/{user['id']}", operation).get_json(force=True)

    [primary] = [email["value"] for email in changed["emails"] if email.get("primary")]
    assert idp.account(user["id"]).email == primary != "bob@acme.example"


def test_an_empty_list_of_members_to_remove_removes_nobody(idp: IdentityProvider) -> None:
    bob = idp.create()["id"]
    group_id = idp.group("Sales", bob)["id"]

    idp.patch(f"/Groups/{group_id}", {"op": "remove", "path": "members", "value": []})

    assert members(idp, group_id) == {bob}


def test_a_large_group_is_replaced_whole(idp: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    bob, group_id = idp.create()["id"], idp.group("Sales")["id"]
    body = {"displayName": "Sales", "members": [{"value": bob, "display": "x" * 60}] * 5000}

    accepted = idp.call("PUT", f"/Groups/{group_id}", body)
    monkeypatch.setattr(protocol, "MAX_BYTES", 256 * 1024)
    refused = idp.call("PUT", f"/Groups/{group_id}", body)

    assert (accepted.status_code, members(idp, group_id)) == (200, {bob})
    assert (refused.status_code, refused.mimetype) == (413, "application/scim+json")
    assert "Send at most 256 KiB" in refused.get_json(force=True)["detail"]


def test_a_body_in_chunks_is_not_longer_than_elsewhere(idp: IdentityProvider) -> None:
    group_id = idp.group("Sales")["id"]
    short, long = ({"displayName": "x" * length} for length in (10, bodies.MAX_BYTES))

    def replaced(values: dict[str, str]) -> TestResponse:
        return idp.client.put(
            f"/scim/v2/Groups/{group_id}",
            input_stream=io.BytesIO(json.dumps(values).encode()),
            content_type="application/scim+json",
            headers=bearer(idp.token),
            environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
        )

    assert replaced(short).status_code == 200
    refused = replaced(long)
    assert refused.status_code == 413
    assert "A chunked body may have at most 256 KiB" in refused.get_json(force=True)["detail"]
