"""The choice of a purpose beside the buttons that spend, if the service requires one in some countries."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from chromium_support import Browser, BrowserUser, launch_browser
from company_support import Company, create_company
from e2e_stack import Stack, running
from local_servers import empty_database
from playwright.sync_api import Locator, Page, Playwright, expect
from proxy_support import RecordingProxy, problem_reply, recording_proxy
from sqlalchemy import select

from app.engine.ledger.reveals import Reveal

pytestmark = pytest.mark.release

REVEAL = "/api/ext/reveal/"
ENRICH = "/api/ext/enrichment-request"
LABEL = "What you need it for"
SENTENCE = "Choose what you need it for, and ask again. Nothing was charged."
SETTINGS = {
    "REQUIRE_PURPOSE_IN": "GB,unknown",
    "PURPOSES": "sales_outreach,due_diligence",
    "PROVIDERS_EMAIL": "sandbox",
    "PROVIDERS_PHONE": "sandbox",
    "PROVIDERS_PERSON": "sandbox",
    "PROVIDERS_COMPANY": "sandbox",
    "WEB_CONCURRENCY": "1",
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """Run a service that requires a purpose in Great Britain, where the people of the tests are."""
    folder = tmp_path_factory.mktemp("purposes")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"purposes_{worker_id}"))
        yield stop.enter_context(running(folder, url, **SETTINGS))


@pytest.fixture(scope="module")
def _session_proxy(stack: Stack) -> Iterator[RecordingProxy]:
    with recording_proxy(stack.base_url.removeprefix("http://")) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def _shared_browser(
    playwright: Playwright, _session_proxy: RecordingProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with launch_browser(playwright, tmp_path_factory.mktemp("browser"), _session_proxy) as started:
        yield started


@pytest.fixture
def company(stack: Stack) -> Company:
    return create_company(stack)


def open_on(user: BrowserUser, company: Company, name: str) -> Page:
    return user.open_popup_on(user.serve_profile(company.profiles[name].rpartition("/")[2], name))


def part(popup: Page, name: str) -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def sent(user: BrowserUser, path: str = f"{REVEAL}email") -> list[Any]:
    return [request.json.get("purpose") for request in user.proxy.api_requests(path)]


def test_a_reveal_is_sent_with_the_purpose_which_is_chosen_next_time(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in()
    popup = open_on(user, company, "Ada")
    email, phone = part(popup, "E-mail"), part(popup, "Phone")
    choice = email.get_by_label(LABEL)
    expect(choice.get_by_role("option")).to_have_text(["Choose…", "Sales outreach", "Due diligence"])

    choice.select_option("Due diligence")
    email.get_by_role("button", name="Reveal e-mail").click()

    expect(email.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(phone.get_by_label(LABEL)).to_have_value("due_diligence")
    assert (sent(user), user.balance()) == (["due_diligence"], 99)
    with user.stack.database.reading() as session:
        bought = select(Reveal.purpose).where(Reveal.contact_id == company.people["Ada"])
        assert session.scalars(bought).all() == ["due_diligence"]
    popup.close()
    popup = open_on(user, company, "Bob")
    expect(part(popup, "E-mail").get_by_label(LABEL)).to_have_value("due_diligence")


def test_without_a_purpose_a_sentence_says_what_to_do_and_the_next_click_works(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in()
    email = part(open_on(user, company, "Ada"), "E-mail")

    email.get_by_role("button", name="Reveal e-mail").click()
    expect(email.get_by_role("alert")).to_have_text(SENTENCE)
    before = user.balance()
    email.get_by_label(LABEL).select_option("Sales outreach")
    email.get_by_role("button", name="Reveal e-mail").click()

    expect(email.get_by_role("link")).to_have_text(company.emails["Ada"])
    assert (before, user.balance(), sent(user)) == (100, 99, [None, "sales_outreach"])
    keys = [request.headers["Idempotency-Key"] for request in user.proxy.api_requests(f"{REVEAL}email")]
    assert len(set(keys)) == 2


def test_a_refusal_shows_the_purposes_that_it_names(user: BrowserUser, company: Company) -> None:
    user.sign_in()
    email = part(open_on(user, company, "Ada"), "E-mail")
    refusal = problem_reply(422, "purpose_required", purposes=["know_your_customer"])

    with user.proxy.replying(f"{REVEAL}email", refusal):
        email.get_by_role("button", name="Reveal e-mail").click()
        expect(email.get_by_role("alert")).to_have_text(SENTENCE)

    expect(email.get_by_role("option")).to_have_text(["Choose…", "Know your customer"])
    expect(email.get_by_role("button", name="Reveal e-mail")).to_be_enabled()


def test_an_enrichment_is_sent_with_the_purpose(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(f"nobody-{secrets.token_hex(4)}", "Ada Lovelace"))
    profile = part(popup, "Full profile")

    profile.get_by_role("button", name="Look up everything").click()
    expect(profile.get_by_role("alert")).to_have_text(SENTENCE)
    profile.get_by_label(LABEL).select_option("Sales outreach")
    profile.get_by_role("button", name="Look up everything").click()

    expect(profile).to_contain_text("No provider knows this person")
    requests = [body.json for body in user.proxy.api_requests(ENRICH) if not body.json.get("dry_run")]
    assert [request.get("purpose") for request in requests] == [None, "sales_outreach"]
    assert user.balance() == 100
