"""What an endpoint and a page do alike is in the audit log once, with the same entry."""

from __future__ import annotations

from typing import Any

import feature_tests
import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from page_support import visitor
from users_support import PASSWORD, SignedInUser, create_user, keys_of

from app.domain.audit_actions import ActorKind
from app.engine.accounts.accounts import Account, Role

FEATURES = feature_tests.parts("access")
NEW_PASSWORD = "another correct horse battery staple"
PASSWORDS = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}


def an_admin(app: APIFlask, email: str, path: str) -> tuple[SignedInUser, str]:
    """Create an admin with a second session, a key and what the path names; return the path with the ids."""
    user = create_user(app, email=email)
    user.sign_in()
    user.make_key()
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
        (key,) = keys_of(session, user.account_id)
        path = path.replace("{key}", key.id)
    for name, make in ((name, make) for part in FEATURES for name, make in part.MAKERS.items()):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", make(user, ""))
    return user, path


def entries(user: SignedInUser) -> list[tuple[str, str, str]]:
    """Return what was recorded about the workspace of the user."""
    return [
        (entry.action, entry.outcome, entry.actor_kind)
        for entry in recorded(user.database)
        if entry.workspace_id == user.workspace_id
    ]


@pytest.mark.parametrize(
    ("endpoint", "page", "actions"),
    [
        (
            ("POST /api/keys", {"name": "CRM"}),
            ("POST /keys", {"name": "CRM", "scopes": ["lookup"]}),
            "api_key.create",
        ),
        (("DELETE /api/keys/{key}", None), ("POST /keys/{key}/revoke", {}), "api_key.revoke"),
        (
            ("POST /api/password", PASSWORDS),
            ("POST /account/password", PASSWORDS),
            "password.change session.end session.end api_key.revoke",
        ),
        (("DELETE /api/sessions", None), ("POST /account/sessions/end-others", {}), "session.end"),
        (("POST /api/ext/logout", {}), ("POST /sign-out", {}), "session.end"),
        (
            ("GET /api/contacts?format=csv", None),
            ("GET /contacts/download?format=csv", {}),
            "export.contacts",
        ),
        *(case for part in FEATURES for case in part.RECORDED),
    ],
)
def test_an_endpoint_and_a_page_record_the_same_once(
    app: APIFlask, endpoint: tuple[str, Any], page: tuple[str, dict[str, Any]], actions: str
) -> None:
    api_user, api_route = an_admin(app, "a@b.example", endpoint[0])
    page_user, page_route = an_admin(app, "c@d.example", page[0])
    before_api, before_page = len(entries(api_user)), len(entries(page_user))
    browser = visitor(app, page_user)

    method, path = api_route.split(" ")
    api_user.client.open(path, method=method, json=endpoint[1], headers=api_user.headers)
    method, path = page_route.split(" ")
    browser.open(path) if method == "GET" else browser.send(path, **page[1])

    by_api, by_page = entries(api_user)[before_api:], entries(page_user)[before_page:]
    assert [action for action, _, _ in by_api] == actions.split(" ")
    assert by_page == by_api
    assert {(outcome, kind) for _, outcome, kind in by_api} == {("succeeded", ActorKind.ACCOUNT)}


def test_a_sign_in_is_recorded_once_on_the_page_and_by_the_endpoint(app: APIFlask) -> None:
    user = create_user(app)

    user.sign_in()
    visitor(app).sign_in(user)

    sign_ins = [entry for entry in recorded(user.database) if entry.action == "sign_in"]
    assert [(entry.actor_id, entry.reason) for entry in sign_ins] == [(user.account_id, "password")] * 2
