"""What callers of the API do is in the audit log, without personal data."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from settings_support import change_settings
from users_support import EMAIL, PASSWORD, SignedInUser, bearer

from app.domain.callers import Scope
from app.engine.accounts import accounts
from app.infra import clock

NEW_PASSWORD = "another correct horse battery staple"


def last(user: SignedInUser) -> Any:
    return recorded(user.database)[-1]


def test_a_sign_in_names_the_account_the_session_and_a_digest_of_the_network(user: SignedInUser) -> None:
    session_of = user.sign_in(address="192.0.2.7").get_json()
    entry = last(user)
    user.sign_in(address="192.0.2.99")
    neighbour = last(user)
    user.sign_in(address="198.51.100.7")

    assert session_of["account"]["id"] == entry.actor_id == user.account_id
    assert (entry.actor_kind, entry.action, entry.outcome) == ("account", "sign_in", "succeeded")
    assert (entry.workspace_id, entry.reason) == (user.workspace_id, "password")
    assert entry.object_id.startswith("ses_")
    assert entry.network == neighbour.network != last(user).network
    assert "192.0.2" not in entry.network


def test_a_wrong_password_is_recorded_for_the_account(user: SignedInUser) -> None:
    user.fails(1)

    entry = last(user)
    assert (entry.action, entry.outcome, entry.reason) == ("sign_in", "failed", "invalid_credentials")
    assert (entry.object_id, entry.workspace_id) == (user.account_id, user.workspace_id)


def test_an_unknown_address_is_recorded_without_it(user: SignedInUser) -> None:
    user.fails(1, email="nobody@acme.example")

    entry = last(user)
    assert (entry.action, entry.outcome, entry.actor_kind) == ("sign_in", "failed", "unknown")
    assert (entry.actor_id, entry.object_id, entry.workspace_id) == (None, None, None)
    assert "nobody" not in str(entry)


def test_the_sign_in_of_a_disabled_account_is_recorded(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=clock.now())

    assert user.sign_in().status_code == 403
    entry = last(user)
    assert (entry.action, entry.outcome, entry.reason) == ("sign_in", "failed", "account_disabled")


def test_attempts_beyond_the_limit_add_no_entries(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_login_account="2/minute")
    user.fails(2)
    before = len(recorded(user.database))

    assert set(user.fails(3)) == {429}
    assert len(recorded(user.database)) == before


def test_an_api_key_is_recorded_when_it_is_created_and_revoked(user: SignedInUser) -> None:
    body = {"name": "CRM", "scopes": ["lookup"]}
    made = user.client.post(
        "/api/keys", json=body, headers=user.headers | {"X-Request-Id": "req-of-the-test"}
    )
    key_id = made.get_json()["api_key"]["id"] if "api_key" in made.get_json() else made.get_json()["id"]
    created = last(user)

    user.client.delete(f"/api/keys/{key_id}", headers=user.headers)

    assert (created.action, created.object_id, created.actor_id) == (
        "api_key.create",
        key_id,
        user.account_id,
    )
    assert (created.request_id, created.workspace_id) == ("req-of-the-test", user.workspace_id)
    assert (last(user).action, last(user).object_id) == ("api_key.revoke", key_id)


def test_a_new_password_records_what_it_ends(user: SignedInUser) -> None:
    user.make_key(Scope.LOOKUP)
    body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}

    user.client.post("/api/password", json=body, headers=user.headers)

    actions = [entry.action for entry in recorded(user.database)][-3:]
    assert actions == ["password.change", "session.end", "api_key.revoke"]


def test_a_wrong_current_password_is_recorded(user: SignedInUser) -> None:
    body = {"current_password": "not the password", "new_password": NEW_PASSWORD}

    user.client.post("/api/password", json=body, headers=user.headers)

    assert (last(user).action, last(user).outcome) == ("password.check", "failed")


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_an_export_of_contacts_names_the_key_that_asked(user: SignedInUser, file_format: str) -> None:
    token = user.make_key(Scope.LOOKUP)

    user.client.get(f"/api/contacts?format={file_format}", headers=bearer(token))

    entry = last(user)
    assert (entry.action, entry.actor_kind, entry.workspace_id) == (
        "export.contacts",
        "api_key",
        user.workspace_id,
    )


def test_a_page_of_contacts_is_not_an_export(user: SignedInUser) -> None:
    before = len(recorded(user.database))

    user.client.get("/api/contacts", headers=user.headers)

    assert len(recorded(user.database)) == before


def test_no_entry_has_personal_data(user: SignedInUser) -> None:
    user.sign_in()
    user.fails(1)
    user.client.delete("/api/sessions", headers=user.headers)

    texts = str(recorded(user.database))
    assert EMAIL not in texts
    assert "Ada" not in texts
