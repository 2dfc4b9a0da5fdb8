"""After the sign-in, a browser without a choice has the pages in the language of the account."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from page_support import ACCEPT, Visitor, visitor
from users_support import PASSWORD, SignedInUser

from app.engine.accounts.accounts import Account
from app.web.languages import negotiation
from app.web.sign_in.auth import authenticate

pytestmark = pytest.mark.any_database

FRENCH = {"Accept-Language": "fr"}


@pytest.fixture
def browser(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser in French; the user chose German in another one."""
    keep(user, "de")
    return visitor(app)


def keep(user: SignedInUser, language: str) -> None:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).language = language


def language_of(browser: Visitor, path: str = "/account") -> str | None:
    return browser.client.get(path, headers=ACCEPT | FRENCH).headers["Content-Language"]


def test_the_pages_are_in_the_language_of_the_account_from_the_sign_in_on(
    browser: Visitor, user: SignedInUser
) -> None:
    before = language_of(browser, "/sign-in")
    browser.send("/sign-in", headers=FRENCH, email=user.email, password=PASSWORD)
    signed_in = language_of(browser)
    browser.send("/sign-out")
    after = language_of(browser, "/sign-in")

    assert (before, signed_in, after) == ("fr", "de", "fr")


def test_the_choice_in_the_browser_counts_more_and_becomes_the_account_s(
    browser: Visitor, user: SignedInUser
) -> None:
    browser.send("/sign-in", email=user.email, password=PASSWORD)

    browser.send("/language", language="es")

    assert language_of(browser) == "es"
    with user.database.reading() as session:
        assert session.get_one(Account, user.account_id).language == "es"


def test_a_language_that_is_no_more_offered_is_not_used(browser: Visitor, user: SignedInUser) -> None:
    keep(user, "tlh")
    browser.send("/sign-in", email=user.email, password=PASSWORD)

    assert language_of(browser) == "fr"


def test_a_text_before_the_authentication_does_not_settle_the_language(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    token = user.headers["Authorization"].removeprefix("Bearer ")

    with app.test_request_context("/account", headers=FRENCH):
        before = negotiation.language()
        authenticate(token)
        after = negotiation.language()

    assert (before, after) == ("fr", "de")


def test_problems_of_the_api_stay_in_the_language_that_the_program_accepts(
    browser: Visitor, user: SignedInUser
) -> None:
    response = user.client.get("/api/ext/jobs?limit=0", headers=user.headers | FRENCH)

    assert response.headers["Content-Language"] == "fr"
