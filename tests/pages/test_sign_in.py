from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import ACCEPT, visitor
from sqlalchemy import select
from users_support import PASSWORD, SignedInUser

from app.engine.accounts import accounts
from app.engine.accounts.sessions import LoginSession
from app.infra import clock


def test_a_browser_without_a_session_is_asked_to_sign_in(app: APIFlask) -> None:
    response = visitor(app).open("/")

    assert response.status_code == 303
    assert response.headers["Location"] == "/sign-in?next=/"


def test_signing_in_leads_to_the_page_that_was_asked_for(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)

    response = browser.send("/sign-in", email=user.email, password=PASSWORD, next="/?from=mail")

    assert response.status_code == 200
    assert response.request.full_path == "/?from=mail"
    assert "250 credits" in response.text


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "//[",
        "/\\evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "/api/keys",
        "",
        "/a b",
    ],
)
def test_signing_in_leads_only_to_pages_of_this_server(
    app: APIFlask, user: SignedInUser, target: str
) -> None:
    fields = {"email": user.email, "password": PASSWORD, "next": target}

    response = visitor(app).client.post("/sign-in", data=fields, headers=ACCEPT)

    assert (response.status_code, response.headers["Location"]) == (303, "/")


def test_the_session_cookie_is_hidden_from_scripts_and_other_sites(app: APIFlask, user: SignedInUser) -> None:
    fields = {"email": user.email, "password": PASSWORD}

    plain = visitor(app).client.post("/sign-in", data=fields, headers=ACCEPT)
    secure = visitor(app).client.post(
        "/sign-in", data=fields, headers=ACCEPT, base_url="https://lookup.example"
    )

    assert re.fullmatch(
        r"session=ses_\w+; Expires=[^;]+; Max-Age=7776000; HttpOnly; Path=/; SameSite=Lax",
        plain.headers["Set-Cookie"],
    )
    assert re.match(
        r"__Host-session=ses_\w+; .*Secure; HttpOnly; Path=/; SameSite=Lax", secure.headers["Set-Cookie"]
    )


def test_a_password_is_not_accepted_over_an_unencrypted_network(app: APIFlask, user: SignedInUser) -> None:
    fields = {"email": user.email, "password": PASSWORD}

    response = visitor(app).client.post(
        "/sign-in", data=fields, headers=ACCEPT, base_url="http://lookup.example"
    )

    assert response.status_code == 403
    assert "Set-Cookie" not in response.headers
    assert "TRUSTED_PROXIES" in response.text


def test_a_wrong_password_and_an_unknown_email_give_the_same_page(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)

    wrong = browser.send("/sign-in", email=user.email, password="wrong")
    unknown = browser.send("/sign-in", email="eve@acme.example", password="wrong")

    assert wrong.status_code == unknown.status_code == 401
    assert wrong.text == unknown.text.replace("eve@acme.example", user.email)
    assert "Wrong e-mail or password" in wrong.text


def test_attempts_are_limited_together_with_those_of_the_api(app: APIFlask, user: SignedInUser) -> None:
    user.fails(10)

    response = visitor(app).send("/sign-in", email=user.email, password="wrong")

    assert response.status_code == 429
    assert "Too many attempts" in response.text


def test_invalid_fields_are_marked(app: APIFlask) -> None:
    response = visitor(app).send("/sign-in", email="no e-mail", password="x")

    assert response.status_code == 422
    assert 'aria-invalid="true"' in response.text
    assert "This is not an e-mail address" in response.text


def test_signing_out_ends_the_session_at_once(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)
    browser.sign_in(user)

    response = browser.send("/sign-out")

    with user.database.reading() as session:
        rows = session.scalars(select(LoginSession).where(LoginSession.client_name == "browser page")).all()
    assert "You are signed out" in response.text
    assert [row.revoked_at is not None for row in rows] == [True]
    assert browser.client.get_cookie("session") is None


def test_a_disabled_account_is_out_at_once(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app, user)
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=clock.now())

    response = browser.open("/", follow_redirects=True)

    assert response.request.path == "/sign-in"
    assert "Your session has ended" in response.text


def test_an_api_key_is_not_a_session(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)
    browser.hold(user.make_key())

    response = browser.open("/")

    assert (response.status_code, response.mimetype) == (403, "text/html")
