"""The page of API keys."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from users_support import SignedInUser, bearer, keys_of

from app.domain.spending import Period
from app.engine.accounts import accounts, api_keys
from app.engine.ledger import key_limits
from app.infra import clock
from app.infra.database.session import Session

SECRET = re.compile(r"key_[0-9A-Za-z]{49}")


def test_a_new_key_is_shown_once_and_works_with_its_scopes(browser: Visitor, user: SignedInUser) -> None:
    created = browser.send("/keys", name="CRM sync", scopes=["lookup"])
    (secret,) = set(SECRET.findall(created.text))

    with user.database.reading() as session:
        (key,) = keys_of(session, user.account_id)
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
        assert keys_of(session, user.account_id) == []
    assert page.status_code == 422
    assert "Correct the marked fields" in page.text
    assert f'id="{invalid}-error"' in page.text or invalid == "0"


def test_one_key_too_many_is_not_created(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 1)
    user.make_key()

    page = browser.send("/keys", name="CRM", scopes=["lookup"])

    assert page.status_code == 422
    assert "Revoke one that is no longer used." in page.text


def test_a_session_that_ends_while_its_key_waits_creates_none(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_api_access = accounts.require_api_access

    def after_a_change_of_the_password(session: Session, account_id: str) -> None:
        accounts.end_all(session, account_id, now=clock.now())
        require_api_access(session, account_id)

    monkeypatch.setattr(accounts, "require_api_access", after_a_change_of_the_password)

    page = browser.send("/keys", name="CRM", scopes=["lookup"])

    assert page.request.path == "/sign-in"
    with user.database.reading() as session:
        assert keys_of(session, user.account_id) == []


def test_a_revoked_key_no_longer_works(browser: Visitor, user: SignedInUser) -> None:
    secret = user.make_key()
    with user.database.reading() as session:
        (key,) = keys_of(session, user.account_id)

    page = browser.send(f"/keys/{key.id}/revoke")

    refused = user.client.get("/api/ext/session", headers=bearer(secret))
    assert "no longer works" in page.text
    assert refused.get_json()["code"] == "token_revoked"


def test_a_colleagues_key_cannot_be_revoked(app: APIFlask, user: SignedInUser) -> None:
    secret = user.make_key()
    with user.database.reading() as session:
        (key,) = keys_of(session, user.account_id)

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


def test_a_key_is_created_with_limits_which_its_owner_changes(browser: Visitor, user: SignedInUser) -> None:
    browser.send("/keys", name="Agent", scopes=["lookup"], spending_cap="20", monthly_limit="")
    created, key_id = limits_of(user)

    page = browser.send(f"/keys/{key_id}/limits", spending_cap="", monthly_limit="7")

    assert created == {Period.TOTAL: 20}
    assert "The limits of the key are changed" in page.text
    assert "0 of 7 this month" in page.text
    assert limits_of(user)[0] == {Period.MONTH: 7}


@pytest.mark.parametrize("amount", ["-1", "1.5", "many", "9" * 12, "9" * 5000])
def test_an_invalid_limit_of_a_key_changes_nothing(browser: Visitor, user: SignedInUser, amount: str) -> None:
    browser.send("/keys", name="Agent", scopes=["lookup"], spending_cap="20")
    key_id = limits_of(user)[1]

    created = browser.send("/keys", name="Other", scopes=["lookup"], spending_cap=amount)
    changed = browser.send(f"/keys/{key_id}/limits", spending_cap=amount)

    assert (created.status_code, 'id="spending_cap-error"' in created.text) == (422, True)
    assert "The limits were not changed" in changed.text
    assert limits_of(user)[0] == {Period.TOTAL: 20}


def test_a_colleagues_key_cannot_be_limited(app: APIFlask, browser: Visitor, user: SignedInUser) -> None:
    browser.send("/keys", name="Agent", scopes=["lookup"], spending_cap="20")
    key_id = limits_of(user)[1]

    page = visitor(app, user.colleague()).send(f"/keys/{key_id}/limits", spending_cap="1")

    assert page.status_code == 404
    assert limits_of(user)[0] == {Period.TOTAL: 20}


def limits_of(user: SignedInUser) -> tuple[dict[Period, int], str]:
    """Return the limits of the user's only key, and its id."""
    with user.database.reading() as session:
        (limited,) = key_limits.of_account(session, user.account_id, now=clock.now())
    return {period: usage.credits for period, usage in limited.usage.items()}, limited.key.id
