"""The popup on a page about one person: that person, and not the website of the application."""

from __future__ import annotations

import page_structures as pages
import pytest
from chromium_support import BrowserUser
from company_support import create_company
from e2e_stack import Stack
from page_reading import serve
from page_structures import LANGUAGES
from playwright.sync_api import expect

MAIL = "https://mail.google.com/mail/u/0/"
LOOKUP = "/api/ext/lookup"
COMPANY = "/api/ext/company-by-hash"


def test_an_open_mail_shows_its_sender_and_sends_only_who_it_is(user: BrowserUser) -> None:
    user.sign_in()
    html = pages.gmail(LANGUAGES[0]).replace("Hello", "Secret subject")

    popup = user.click_icon(serve(user, MAIL, html))

    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    [lookup] = user.proxy.api_requests(LOOKUP)
    assert lookup.json == {"subject": {"full_name": "Ada Lovelace", "email": "ada@engines.test"}}
    assert not user.proxy.api_requests(COMPANY)
    everything = " ".join(request.text for request in user.proxy.api_requests())
    assert not [word for word in ("Secret", "mary@", "wei@", "me@my.test", "google") if word in everything]


def test_a_known_sender_is_the_contact(user: BrowserUser, stack: Stack) -> None:
    user.sign_in()
    company = create_company(stack)
    sender = f'<span class="gD" email="{company.emails["Ada"]}" name="A. L.">A. L.</span>'
    html = f'<div class="adn ads">{sender}</div>'

    popup = user.click_icon(serve(user, MAIL, html))

    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    expect(popup.get_by_role("button", name="Reveal e-mail")).to_be_visible()


@pytest.mark.parametrize(
    "url",
    [
        "https://mail.google.com/mail/u/0/",
        "https://outlook.office.com/mail/",
        "https://app.hubspot.com/contacts/1/objects/0-1/views/all/list",
        "https://acme.lightning.force.com/lightning/o/Contact/list",
        "https://app.pipedrive.com/pipeline/1",
        "https://mail.acme.test/",
    ],
)
def test_an_application_is_not_taken_for_its_maker_s_website(user: BrowserUser, url: str) -> None:
    user.sign_in()

    popup = user.click_icon(serve(user, url, "<p>Nothing is open</p>"))

    expect(popup.get_by_text("Nothing to look up here")).to_be_visible()
    assert not user.proxy.api_requests(COMPANY)


@pytest.mark.parametrize("url", ["http://www.pipedrive.test/", "http://www.hubspot.test/contacts/"])
def test_an_ordinary_website_is_still_a_company_s(user: BrowserUser, url: str) -> None:
    user.sign_in()

    popup = user.open_popup_on(url)

    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
