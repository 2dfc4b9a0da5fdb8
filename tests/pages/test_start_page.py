"""The page after sign-in: first steps until they are done, recent people, credits and lists."""

from __future__ import annotations

import html
import re

from apiflask import APIFlask
from contact_page_support import reveal, save
from page_support import Visitor, visitor
from settings_support import change_settings
from stored_support import a_company, a_contact, statements
from users_support import SignedInUser, create_user

from app.engine.accounts.accounts import Account, Role
from app.web.services import AppServices

MAX_STATEMENTS = 14


def test_a_member_sees_the_steps_that_members_can_do(browser: Visitor) -> None:
    page = browser.open("/").text

    assert _steps(page) == {
        "Install the extension": False,
        "Bring the contacts that you have": False,
        "Reveal the first address": False,
    }


def test_an_admin_and_an_operator_see_what_only_they_can_do(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    change_settings(app, operators=(user.email,))

    page = visitor(app, user).open("/").text

    assert list(_steps(page)) == [
        "Install the extension",
        "Import contacts",
        "Add a provider's key",
        "Reveal the first address",
        "Invite your colleagues",
    ]


def test_a_step_is_done_once_it_was_done(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    key = ("HUNTER_API_KEY", "secret")
    change_settings(app, operators=(user.email,), provider_variables=(key,), providers_email=("hunter",))
    user.sign_in(client={"name": "extension", "version": "1.0"})
    user.colleague()
    reveal(user)

    page = visitor(app, user).open("/").text

    assert "First steps" not in page


def test_what_another_workspace_did_is_not_done(app: APIFlask, browser: Visitor) -> None:
    stranger = create_user(app, email="eve@babbage.example")
    stranger.sign_in(client={"name": "extension", "version": "1.0"})
    reveal(stranger)

    page = browser.open("/").text

    assert not any(_steps(page).values())


def test_the_first_steps_can_be_hidden(browser: Visitor) -> None:
    hidden = browser.send("/first-steps/hide").text

    assert "First steps" not in hidden
    assert "First steps" not in browser.open("/").text


def test_recent_people_are_shown_with_what_is_owned_of_them(browser: Visitor, user: SignedInUser) -> None:
    reveal(user, "Cleo Clarke", title="Chief Engineer")
    save(user, profile={"linkedin_url": "https://www.linkedin.com/in/bob-ray", "full_name": "Bob Ray"})

    page = browser.open("/").text

    assert page.index("Bob Ray") < page.index("Cleo Clarke") < page.index("Chief Engineer")
    assert "cleo@acme.com" in page
    assert 'data-initials="CC"' in page


def test_recent_people_are_those_of_the_workspace(app: APIFlask, browser: Visitor) -> None:
    reveal(create_user(app, email="eve@babbage.example"), "Cleo Clarke")

    page = browser.open("/").text

    assert "Cleo" not in page
    assert "appear here" in page


def test_credits_are_shown_with_those_that_are_held(browser: Visitor, user: SignedInUser) -> None:
    user.client.post(
        "/api/ext/reveal/email",
        json={"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}},
        headers=user.headers | {"Prefer": "respond-async"},
    )

    page = browser.open("/").text

    assert re.search(r'<p class="big">249 ', page)
    assert "1 held for requests that run" in page


def test_lists_are_shown_with_their_size(browser: Visitor, user: SignedInUser) -> None:
    save(user, list="Autumn fair")

    page = browser.open("/").text

    assert re.search(r"Autumn fair</a></span><span[^>]*>1 contact<", page)


def test_the_page_takes_few_statements_however_much_there_is(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    for number in range(12):
        reveal(user, f"Person{number} Ray")
    save(user, list="Autumn fair")
    with user.database.transaction() as session:
        company = a_company(session)
        for number in range(50):
            a_contact(session, company, f"Known{number} Ray")
    known: AppServices = app.extensions["services"]

    with statements(known.database.engine) as seen:
        browser.open("/")

    assert len(seen) <= MAX_STATEMENTS, [sql for sql, _ in seen]


def test_who_is_not_signed_in_is_led_to_the_sign_in(app: APIFlask) -> None:
    assert visitor(app).client.get("/", headers={"Accept": "text/html"}).location == "/sign-in?next=/"


def _steps(page: str) -> dict[str, bool]:
    """Return the first steps of a page, and whether they are done."""
    items = re.findall(
        r'<li( class="done")?>\s*<span class="step-mark".*?<div class="lines">(.*?)</div>', page, re.DOTALL
    )
    return {html.unescape(re.findall(r">([^<>\n]+)<", text)[0]): bool(done) for done, text in items}
