"""Users in the forms of Okta and Microsoft Entra; reported bodies are in test_reported_quirks.py."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from scim_support import IdentityProvider
from settings_support import change_settings
from sqlalchemy import update
from users_support import bearer, create_user

from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, Role
from app.features.scim import protocol
from app.features.scim.tables import ScimUser
from app.infra import clock
from app.infra.crypto import passwords

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
OKTA_CREATE: dict[str, Any] = {
    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
    "userName": "bob@acme.example",
    "name": {"givenName": "Bob", "familyName": "Ross"},
    "emails": [{"primary": True, "value": "bob@acme.example", "type": "work"}],
    "displayName": "Bob Ross",
    "locale": "en-US",
    "externalId": "00ujl29u0le5T6Aj10h7",
    "groups": [],
    "password": "1mz050nq",
    "active": True,
}
ENTRA_CREATE: dict[str, Any] = {
    "schemas": [
        "urn:ietf:params:scim:schemas:core:2.0:User",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
    ],
    "externalId": "bob",
    "userName": "Bob.Ross@acme.example",
    "active": True,
    "displayName": "Bob Ross",
    "emails": [{"primary": True, "type": "work", "value": "bob@acme.example"}],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "Bob Ross", "familyName": "Ross", "givenName": "Bob"},
    "title": "Painter",
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "Art"},
}


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    return IdentityProvider.of(app)


def listed(idp: IdentityProvider, wanted: str = "", **query: str) -> Any:
    given = {"filter": wanted} if wanted else {}
    return idp.call("GET", "/Users", **given, **query).get_json(force=True)


@pytest.mark.parametrize("body", [OKTA_CREATE, ENTRA_CREATE], ids=["Okta", "Entra"])
def test_a_user_is_created_as_an_account(idp: IdentityProvider, body: dict[str, Any]) -> None:
    response = idp.call("POST", "/Users", body)

    made = response.get_json(force=True)
    account = idp.account(made["id"])
    assert (response.status_code, response.mimetype) == (201, "application/scim+json")
    assert response.headers["Location"] == made["meta"]["location"]
    assert (account.email, account.name, account.role) == ("bob@acme.example", "Bob Ross", "member")
    assert (made["userName"], made["externalId"]) == (body["userName"], body["externalId"])
    assert passwords.is_unusable(account.password_hash)
    assert "password" not in made


def test_the_provider_finds_accounts_that_it_did_not_create(idp: IdentityProvider) -> None:
    found = listed(idp, f'userName eq "{idp.admin.email.upper()}"')["Resources"]

    assert [user["id"] for user in found] == [idp.admin.account_id]


def test_an_account_that_exists_is_taken_over_and_nobody_gets_a_second_one(idp: IdentityProvider) -> None:
    bob = idp.admin.colleague(email="bob@acme.example")

    made = idp.create("bob.ross", emails=[{"value": "bob@acme.example"}], externalId="b1")
    again = idp.call("POST", "/Users", {"userName": "BOB.ROSS", "emails": [{"value": "b@acme.example"}]})

    assert made["id"] == bob.account_id
    assert (again.status_code, again.get_json(force=True)["scimType"]) == (409, "uniqueness")


def test_a_user_who_exists_is_a_conflict(idp: IdentityProvider) -> None:
    idp.create()

    assert idp.call("POST", "/Users", OKTA_CREATE).status_code == 409


def test_the_first_account_of_a_workspace_is_its_admin(app: APIFlask, idp: IdentityProvider) -> None:
    with idp.admin.database.transaction() as session:
        session.delete(session.get_one(Account, idp.admin.account_id))

    made = [idp.create(email) for email in ("bob@acme.example", "eve@acme.example")]

    assert [idp.account(user["id"]).role for user in made] == ["admin", "member"]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "value": {"active": False}},
        {"op": "Replace", "path": "active", "value": "False"},
        {"op": "Replace", "path": "active", "value": [{"$ref": None, "value": "False"}]},
        {"op": "replace", "path": "active", "value": {"active": False}},
        {"op": "add", "path": "urn:ietf:params:scim:schemas:core:2.0:User:active", "value": False},
    ],
    ids=["Okta", "Entra", "Entra, older", "an object", "a URN"],
)
def test_a_leaver_loses_every_session_and_key_with_the_request(
    idp: IdentityProvider, operation: dict[str, Any]
) -> None:
    bob = idp.admin.colleague(email="bob@acme.example")
    key = bob.make_key()
    before = [bob.client.get("/api/ext/session", headers=bearer(t)) for t in (bob.session_token, key)]

    left = idp.patch(f"/Users/{bob.account_id}", operation)

    after = [bob.client.get("/api/ext/session", headers=bearer(t)) for t in (bob.session_token, key)]
    assert [response.status_code for response in before] == [200, 200]
    assert (left.status_code, left.get_json(force=True)["active"]) == (200, False)
    assert [response.get_json()["code"] for response in after] == ["token_revoked"] * 2


def test_a_deleted_user_loses_all_and_is_gone_for_the_provider(idp: IdentityProvider) -> None:
    bob = idp.admin.colleague(email="bob@acme.example")

    deleted = idp.call("DELETE", f"/Users/{bob.account_id}")

    assert deleted.status_code == 204
    assert bob.client.get("/api/ext/session", headers=bob.headers).status_code == 401
    assert idp.call("GET", f"/Users/{bob.account_id}").status_code == 404
    assert listed(idp, 'userName eq "bob@acme.example"')["totalResults"] == 0
    assert idp.call("DELETE", f"/Users/{bob.account_id}").status_code == 404


def test_who_comes_back_gets_the_same_account(idp: IdentityProvider) -> None:
    first = idp.create()
    idp.call("DELETE", f"/Users/{first['id']}")

    second = idp.create()

    assert second["id"] == first["id"]
    assert idp.account(first["id"]).disabled_at is None


def test_a_deactivated_user_is_reactivated_without_sessions(idp: IdentityProvider) -> None:
    bob = idp.admin.colleague(email="bob@acme.example")
    path = f"/Users/{bob.account_id}"
    idp.patch(path, {"op": "replace", "value": {"active": False}})

    kept = idp.call("PUT", path, {"userName": "bob@acme.example"}).get_json(force=True)
    back = idp.patch(path, {"op": "replace", "value": {"active": True}}).get_json(force=True)

    assert (kept["active"], back["active"]) == (False, True)
    assert bob.client.get("/api/ext/session", headers=bob.headers).status_code == 401


def test_whom_an_operator_disabled_only_an_operator_enables(idp: IdentityProvider) -> None:
    bob = idp.admin.colleague(email="bob@acme.example")
    with idp.admin.database.transaction() as session:
        accounts.disable(session, bob.account_id, now=clock.now())

    refused = idp.patch(f"/Users/{bob.account_id}", {"op": "replace", "value": {"active": True}})

    assert (refused.status_code, refused.get_json(force=True)["status"]) == (403, "403")


def test_the_account_of_an_operator_is_not_changed(app: APIFlask, idp: IdentityProvider) -> None:
    bob = idp.admin.colleague(email="bob@acme.example")
    change_settings(app, operators=("bob@acme.example",))

    answers = [
        idp.patch(f"/Users/{bob.account_id}", {"op": "replace", "value": {"active": False}}),
        idp.call("DELETE", f"/Users/{bob.account_id}"),
        idp.call("POST", "/Users", OKTA_CREATE),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert idp.account(bob.account_id).disabled_at is None


def test_an_address_of_another_workspace_is_neither_created_nor_taken(
    app: APIFlask, idp: IdentityProvider
) -> None:
    stranger = create_user(app, email="eve@babbage.example")
    bob = idp.create()

    created = idp.call("POST", "/Users", {"userName": "eve@babbage.example"})
    unknown = idp.call("POST", "/Users", {"userName": "nobody@babbage.example"})
    renamed = idp.patch(
        f"/Users/{bob['id']}", {"op": "replace", "value": {"userName": "eve@babbage.example"}}
    )
    changed = idp.patch(f"/Users/{stranger.account_id}", {"op": "replace", "value": {"active": False}})

    assert [answer.status_code for answer in (created, unknown, renamed, changed)] == [403, 403, 403, 404]
    assert created.get_json(force=True)["detail"] == unknown.get_json(force=True)["detail"]
    assert listed(idp, f'id eq "{stranger.account_id}"')["totalResults"] == 0


def test_an_address_that_a_colleague_has_is_a_conflict(idp: IdentityProvider) -> None:
    bob = idp.create()

    taken = idp.patch(f"/Users/{bob['id']}", {"op": "replace", "value": {"userName": idp.admin.email}})

    assert (taken.status_code, idp.account(bob["id"]).email) == (409, "bob@acme.example")


def test_okta_replaces_a_user_with_put(idp: IdentityProvider) -> None:
    made = idp.call("POST", "/Users", OKTA_CREATE).get_json(force=True)
    body = OKTA_CREATE | {"id": made["id"], "meta": made["meta"], "displayName": "Robert Ross"}

    changed = idp.call("PUT", f"/Users/{made['id']}", body).get_json(force=True)

    assert (changed["displayName"], idp.account(made["id"]).name) == ("Robert Ross", "Robert Ross")
    assert recorded(idp.admin.database)[-1].actor_kind == "scim"


def test_entra_sends_several_operations_with_dotted_names_and_extensions(idp: IdentityProvider) -> None:
    made = idp.call("POST", "/Users", ENTRA_CREATE).get_json(force=True)

    changed = idp.patch(
        f"/Users/{made['id']}",
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "robert@acme.example"},
        {"op": "Add", "path": 'emails[type eq "home"].value', "value": "bob@home.example"},
        {"op": "Replace", "path": "name.familyName", "value": "Rossi"},
        {
            "op": "Add",
            "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager",
            "value": "x",
        },
        {"op": "replace", "value": {"displayName": "Robert Rossi", "name.givenName": "Robert", "title": "y"}},
        {"op": "Remove", "path": "externalId"},
    ).get_json(force=True)

    account = idp.account(made["id"])
    assert (account.email, account.name) == ("robert@acme.example", "Robert Rossi")
    assert changed["name"] == {"formatted": "Bob Ross", "familyName": "Rossi", "givenName": "Robert"}
    assert {"value": "bob@home.example", "type": "home"} in changed["emails"]
    assert "externalId" not in changed


@pytest.mark.parametrize(
    ("operation", "scim_type"),
    [
        ({"op": "delete", "path": "active"}, "invalidSyntax"),
        ({"op": "remove"}, "noTarget"),
        ({"op": "replace", "path": "emails[", "value": 1}, "invalidPath"),
        ({"op": "replace", "path": "id", "value": "acc_1"}, "mutability"),
        ({"op": "replace", "path": "active", "value": "perhaps"}, "invalidValue"),
        ({"op": "replace", "value": "x"}, "invalidValue"),
        ({"op": "replace", "path": "name", "value": "x"}, "invalidValue"),
        ({"op": "replace", "path": "emails", "value": [1]}, "invalidValue"),
        ({"op": "remove", "path": "userName"}, "invalidValue"),
        ({"op": "replace", "path": "userName", "value": "ada"}, None),
        ("x", "invalidSyntax"),
    ],
)
def test_a_patch_that_cannot_be_applied_changes_nothing(
    idp: IdentityProvider, operation: Any, scim_type: str | None
) -> None:
    bob = idp.create(emails=[{"value": "bob@acme.example", "type": "work"}])
    path = f"/Users/{bob['id']}"

    refused = idp.patch(path, {"op": "replace", "value": {"displayName": "Other"}}, operation)

    if scim_type is None:
        assert refused.get_json(force=True)["userName"] == "ada"  # the address is that of work
        return
    assert (refused.status_code, refused.get_json(force=True)["scimType"]) == (400, scim_type)
    assert idp.call("GET", path).get_json(force=True).get("displayName") is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"userName": ""},
        {"userName": "ada"},
        {"userName": 7},
        {"userName": "a@acme.example", "name": "Ada"},
        {"userName": "a@acme.example", "emails": {}},
        {"userName": "a@acme.example", "emails": ["b"]},
        {"userName": "a@acme.example", "active": "maybe"},
        {"userName": "a@acme.example", "displayName": "a\u0000b"},
        {"userName": "a@acme.example", "displayName": "a\nb"},
        {"userName": "a@acme.example", "emails": [{"value": "no address"}]},
    ],
)
def test_a_user_with_wrong_values_is_refused(idp: IdentityProvider, body: dict[str, Any]) -> None:
    refused = idp.call("POST", "/Users", body)

    assert (refused.status_code, refused.get_json(force=True)["scimType"]) == (400, "invalidValue")


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ('userName eq "BOB@acme.example"', ["Bob"]),
        ('externalId eq "b-1"', ["Bob"]),
        ('externalId eq "B-1"', []),
        ('externalId eq "b-1" and active eq true', ["Bob"]),
        ('active eq "False"', []),
        ('name.familyName sw "ro" or userName co "eve"', ["Bob", "Eve"]),
        ('not (userName co "@acme")', []),
        ('emails[type eq "work" and value ew "acme.example"]', ["Ada Lovelace", "Bob"]),
        ('emails.value eq "bob@acme.example"', ["Bob"]),
        ("externalId pr", ["Bob"]),
        ('displayName ne "Bob" and userName ne "eve@acme.example"', ["Ada Lovelace"]),
        ("externalId eq null", ["Ada Lovelace", "Eve"]),
        ('meta.created gt "2000-01-01T00:00:00Z"', ["Ada Lovelace", "Bob", "Eve"]),
        ("meta.created gt 5", []),
        ('urn:ietf:params:scim:schemas:core:2.0:User:userName eq "eve@acme.example"', ["Eve"]),
    ],
)
def test_users_are_found_by_a_filter(idp: IdentityProvider, wanted: str, names: list[str]) -> None:
    idp.create(
        displayName="Bob",
        externalId="b-1",
        name={"familyName": "Ross"},
        emails=[{"value": "bob@acme.example", "type": "work"}],
    )
    idp.create("eve@acme.example", displayName="Eve")

    assert [user["displayName"] for user in listed(idp, wanted)["Resources"]] == names


@pytest.mark.parametrize(
    "wanted",
    [
        "userName",
        'userName is "x"',
        'userName eq "x',
        "userName eq x",
        '(userName eq "x"',
        'userName eq "x" userName',
        "x" * 3000,
        "(" * 50 + 'userName eq "x"' + ")" * 50,
    ],
)
def test_a_text_that_is_no_filter_is_refused(idp: IdentityProvider, wanted: str) -> None:
    refused = idp.call("GET", "/Users", filter=wanted)

    assert (refused.status_code, refused.get_json(force=True)["scimType"]) == (400, "invalidFilter")


def test_users_come_by_page(idp: IdentityProvider) -> None:
    for name in ("bob", "eve"):
        idp.create(f"{name}@acme.example")

    second = listed(idp, startIndex="2", count="1")
    none = listed(idp, startIndex="-5", count="0")

    assert (second["totalResults"], second["startIndex"], second["itemsPerPage"]) == (3, 2, 1)
    assert second["Resources"][0]["userName"] == "bob@acme.example"
    assert (none["totalResults"], none["startIndex"], none["Resources"]) == (3, 1, [])
    assert idp.call("GET", "/Users", count="many").status_code == 400


def test_a_request_names_the_attributes_that_it_wants(idp: IdentityProvider) -> None:
    idp.create(name={"givenName": "Bob", "familyName": "Ross"})
    wanted = 'userName eq "bob@acme.example"'

    [some] = listed(idp, wanted, attributes="userName,name.givenName")["Resources"]
    [rest] = listed(idp, wanted, excludedAttributes="name.givenName,meta,id")["Resources"]

    assert some.keys() == {"schemas", "id", "userName", "name"}
    assert some["name"] == {"givenName": "Bob"}
    assert rest["name"] == {"familyName": "Ross"}
    assert "meta" not in rest
    assert "id" in rest


def test_a_wrong_token_is_refused_in_the_form_of_scim(idp: IdentityProvider) -> None:
    for headers in ({}, bearer("scim_wrong"), bearer(idp.admin.session_token)):
        refused = idp.client.get("/scim/v2/Users", headers=headers)
        assert (refused.status_code, refused.mimetype) == (401, "application/scim+json")
        assert refused.headers["WWW-Authenticate"] == 'Bearer realm="scim"'


def test_the_token_opens_nothing_else(idp: IdentityProvider) -> None:
    refused = idp.client.get("/api/ext/session", headers=bearer(idp.token))

    assert refused.get_json()["code"] == "invalid_token"


def test_too_many_requests_wait(idp: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "RATE", "1/minute")

    answers = [idp.call("GET", "/Users") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/Me", 501),
        ("POST", "/Bulk", 501),
        ("GET", "/Nothing", 404),
        ("DELETE", "/Users", 405),
        ("GET", "/Schemas/nothing", 404),
        ("GET", "/Users/acc_1", 404),
        ("GET", "/Schemas?filter=x", 403),
    ],
)
def test_what_is_not_there_is_said_in_the_form_of_scim(
    idp: IdentityProvider, method: str, path: str, status: int
) -> None:
    refused = idp.client.open(f"/scim/v2{path}", method=method, headers=bearer(idp.token))

    assert (refused.status_code, refused.get_json(force=True)["status"]) == (status, str(status))


@pytest.mark.parametrize("body", [b"[]", b"{", b"", b'{"userName": "a", "userName": "b"}'])
def test_a_body_that_is_no_object_is_refused(idp: IdentityProvider, body: bytes) -> None:
    headers = bearer(idp.token) | {"Content-Type": "application/scim+json; charset=utf-8"}

    refused = idp.client.post("/scim/v2/Users", data=body, headers=headers)

    assert (refused.status_code, refused.mimetype) == (400, "application/scim+json")


@pytest.mark.parametrize("operations", [None, [], {}, [{}] * 1001])
def test_a_patch_without_operations_is_refused(idp: IdentityProvider, operations: Any) -> None:
    assert idp.call("PATCH", f"/Users/{idp.admin.account_id}", {"Operations": operations}).status_code == 400


def test_the_last_admin_who_leaves_loses_access_too(idp: IdentityProvider) -> None:
    left = idp.patch(f"/Users/{idp.admin.account_id}", {"op": "replace", "value": {"active": False}})

    assert left.status_code == 200
    assert idp.admin.client.get("/api/ext/session", headers=idp.admin.headers).status_code == 401


def test_the_userName_of_a_deleted_user_is_free(idp: IdentityProvider) -> None:  # noqa: N802 -- SCIM's name
    first = idp.create("bob.ross", emails=[{"value": "bob@acme.example"}])
    idp.call("DELETE", f"/Users/{first['id']}")

    second = idp.create("bob.ross", emails=[{"value": "robert@acme.example"}])

    assert second["id"] != first["id"]


def test_use_of_the_token_is_noted_and_another_workspace_has_its_own(
    app: APIFlask, idp: IdentityProvider
) -> None:
    idp.create()
    with idp.admin.database.transaction() as session:
        rows = session.query(ScimUser).all()
        session.execute(update(Account).values(role=Role.ADMIN.value))

    shown = idp.admin.client.get("/api/scim", headers=idp.admin.headers).get_json()

    assert {row.workspace_id for row in rows} == {idp.admin.workspace_id}
    assert shown["token"]["last_used_at"] is not None
