"""The page of API keys."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from users_support import SignedInUser, bearer

from app.core.accounts import accounts, api_keys
from app.infra import clock

SECRET = re.compile(r"key_[0-9A-Za-z]{49}")


def test_a_new_key_is_shown_once_and_works_with_its_scopes(browser: Visitor, user: SignedInUser) -> None:
    created = browser.send("/keys", name="CRM sync", scopes=["lookup"])
    (secret,) = set(SECRET.findall(created.text))

    with user.database.reading() as session:
        (key,) = api_keys.of_account(session, user.account_id)
    allowed = user.client.get("/api/ext/session", headers=bearer(secret))
    refused = user.client.post(
        "/api/ext/reveal/email", headers=bearer(secret), json={"subject": {"email": "a@b.example"}}
    )
    assert created.status_code == 201
    assert (key.name, key.scopes, key.expires_at) == ("CRM sync", ["lookup"], None)
    assert (allowed.status_code, refused.status_code) == (200, 403)
    assert SECRET.findall(browser.open("/keys").text) == []


@pytest.mark.parametrize(
    ("fields", "invalid"),
    [
        ({"name": "", "scopes": ["lookup"]}, "name"),
        ({"name": "CRM"}, "scopes"),
        ({"name": "CRM", "scopes": ["everything"]}, "0"),
        ({"name": "CRM", "scopes": ["lookup"], "expires_at": "2001-01-01"}, "expires_at"),
        ({"name": "CRM", "scopes": ["lookup"], "expires_at": "tomorrow"}, "expires_at"),
    ],
)
def test_an_invalid_key_is_not_created(
    browser: Visitor, user: SignedInUser, fields: dict[str, object], invalid: str
) -> None:
    page = browser.send("/keys", **fields)

    with user.database.reading() as session:
        assert api_keys.of_account(session, user.account_id) == []
    assert page.status_code == 422
    assert "Correct the marked fields" in page.text
    assert f'id="{invalid}-error"' in page.text or invalid == "0"


def test_a_revoked_key_no_longer_works(browser: Visitor, user: SignedInUser) -> None:
    secret = user.make_key()
    with user.database.reading() as session:
        (key,) = api_keys.of_account(session, user.account_id)

    page = browser.send(f"/keys/{key.id}/revoke")

    refused = user.client.get("/api/ext/session", headers=bearer(secret))
    assert "no longer works" in page.text
    assert refused.get_json()["code"] == "token_revoked"


def test_a_colleagues_key_cannot_be_revoked(app: APIFlask, user: SignedInUser) -> None:
    secret = user.make_key()
    with user.database.reading() as session:
        (key,) = api_keys.of_account(session, user.account_id)

    page = visitor(app, user.colleague()).send(f"/keys/{key.id}/revoke")

    assert page.status_code == 404
    assert user.client.get("/api/ext/session", headers=bearer(secret)).status_code == 200


def test_an_account_without_api_access_creates_no_keys(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        accounts.revoke_api_access(session, user.account_id, now=clock.now())

    form = browser.open("/keys")
    created = browser.send("/keys", name="CRM", scopes=["lookup"])

    assert "An admin of your workspace can grant API access" in form.text
    assert 'action="/keys"' not in form.text
    assert created.status_code == 403
