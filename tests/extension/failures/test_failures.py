"""Every error is shown as one sentence that says what to do, and the rest of the popup keeps working."""

from __future__ import annotations

import re
import secrets
import time

import pytest
from chromium_support import BrowserUser
from company_support import Company, create_company
from e2e_stack import Stack
from playwright.sync_api import Locator, Page, expect
from polling import wait_until
from proxy_support import CannedReply, RecordedRequest, RecordingProxy, problem_reply

from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import erasure
from app.infra import clock

pytestmark = pytest.mark.release

LOOKUP = "/api/ext/lookup"
REVEAL = "/api/ext/reveal/email"
POLL = "/api/ext/jobs?id="
SAVE = "/api/ext/linkedin-save"
SITE = "http://www.acme.test/"
SANDBOX = "https://www.linkedin.com/in/sandbox-"
HTML = {"Content-Type": "text/html"}
UNREACHABLE = (
    "{host} does not respond. Check your connection, or ask your admin whether the server is running."
)
BAD_GATEWAY = CannedReply(502, b"<!doctype html><title>502 Bad Gateway</title>", HTML)


@pytest.fixture
def company(stack: Stack) -> Company:
    return create_company(stack)


def test_a_failed_lookup_shows_the_reason_and_can_be_retried(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    unreachable = UNREACHABLE.format(host=proxy.api)
    stops = (
        (CannedReply(), unreachable),
        (BAD_GATEWAY, unreachable),
        (problem_reply(503, "unavailable"), "The server is temporarily unavailable. Try again in a moment."),
        (
            problem_reply(500, "internal_error", detail="Something broke."),
            "The request failed: Something broke.",
        ),
        (
            CannedReply(200, b"<html>", HTML),
            f"{proxy.api} is not a contact lookup server. Check the address.",
        ),
    )
    user.sign_in()
    popup = user.click_icon(user.visit(SITE))
    find(popup, "nobody@")  # an invalid search is not a failure of the view

    for reply, message in stops:
        with proxy.replying(LOOKUP, reply):
            find(popup, company.profiles["Ada"])
            expect(popup.locator(".failure")).to_have_text([message + "Try again"])
            expect(popup.get_by_text("100 credits")).to_be_visible()
        popup.get_by_role("button", name="Try again").click()
        expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
        expect(popup.get_by_role("alert").filter(has_text=message)).to_have_count(0)
        popup.get_by_role("button", name="Back").click()


def test_an_error_that_a_retry_cannot_fix_has_no_retry_button(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    user.sign_in()
    popup = user.click_icon(user.visit(SITE))

    for reply, message in (
        (
            problem_reply(403, "insufficient_scope"),
            "Your account does not have permission to do this. Ask your admin.",
        ),
        (problem_reply(403, "account_disabled"), "Your account is disabled. Ask your admin to enable it."),
        (
            problem_reply(404, "contact_not_found"),
            "This person is no longer stored. Look them up again.",
        ),
    ):
        with proxy.replying(LOOKUP, reply):
            find(popup, company.profiles["Ada"])
            expect(popup.locator(".failure")).to_have_text([message])
            expect(popup.get_by_role("button", name="Try again")).to_have_count(0)
        popup.get_by_role("button", name="Back").click()


def test_a_rate_limited_lookup_counts_down_and_then_works(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    user.sign_in()
    popup = user.open_popup_on(SITE)

    with proxy.replying(LOOKUP, problem_reply(429, "rate_limited", retry_after=3), times=1):
        find(popup, company.profiles["Ada"])

        expect(popup.get_by_role("alert")).to_contain_text("Too many requests. Try again in 3 s.")
        expect(popup.get_by_role("button", name="Try again in 2 s")).to_be_disabled()
        popup.get_by_role("button", name="Try again", exact=True).click()
    expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_visible()


def test_a_rate_limited_estimate_leaves_reveal_and_save_available(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    user.sign_in()

    with proxy.replying(
        "/api/ext/enrichment-request", problem_reply(429, "rate_limited", retry_after=1), times=1
    ):
        popup = user.open_popup_on(user.serve_profile(f"ada-{secrets.token_hex(4)}", "Ada Lovelace"))

        enrichment = popup.get_by_role("region", name="Full profile")
        expect(enrichment.get_by_role("alert")).to_contain_text("Too many requests.")
        expect(popup.get_by_role("button", name="Find e-mail")).to_be_enabled()
        expect(popup.get_by_text("Save this profile")).to_be_visible()
        enrichment.get_by_role("button", name="Try again", exact=True).click()
    expect(enrichment.get_by_role("button", name="Look up everything")).to_be_visible()


def test_a_rate_limited_reveal_is_retried_after_the_wait_with_the_same_key(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    popup = open_ada(user, company)
    attempts: list[float] = []

    def rate_limit(sent: RecordedRequest) -> CannedReply | None:
        if not sent.path.startswith(REVEAL):
            return None
        attempts.append(time.monotonic())
        return problem_reply(429, "rate_limited", retry_after=2) if len(attempts) == 1 else None

    proxy.before_api.append(rate_limit)
    popup.get_by_role("button", name="Reveal e-mail").click()

    expect(popup.get_by_role("alert")).to_have_text("Too many requests. Continuing in 2 s.")
    expect(address(popup, company)).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)
    assert len(attempts) == 2
    assert attempts[1] - attempts[0] >= 1.9
    assert len(keys(proxy)) == 1


def test_a_reveal_shows_that_the_server_is_unreachable_and_continues_when_it_is_back(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    popup = open_ada(user, company)
    goes_on = "Retrying; you are never charged twice."

    with proxy.replying(REVEAL, problem_reply(503, "unavailable")):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_have_text(f"The server is temporarily unavailable. {goes_on}")
    with proxy.replying(REVEAL, BAD_GATEWAY):
        unreachable = UNREACHABLE.format(host=proxy.api)
        expect(popup.get_by_role("alert")).to_have_text(f"{unreachable} {goes_on}")
    with proxy.replying(REVEAL, CannedReply()):
        wait_until(lambda: len(proxy.api_requests(REVEAL)) > 2)
        expect(popup.get_by_role("alert")).to_contain_text("does not respond.")

    expect(address(popup, company)).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)
    assert len(keys(proxy)) == 1
    assert user.balance() == 99


def test_a_refused_reveal_shows_why_and_can_be_retried_under_a_new_key_if_that_can_help(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    popup = open_ada(user, company)
    reveal = popup.get_by_role("button", name="Reveal e-mail")
    again = popup.get_by_role("region", name="E-mail").get_by_role("button", name="Try again")
    alert = popup.get_by_role("alert")

    with proxy.replying(REVEAL, problem_reply(403, "insufficient_scope")):
        reveal.click()
        expect(alert).to_have_text("Your account does not have permission to do this. Ask your admin.")
        expect(again).to_have_count(0)
    popup.get_by_role("button", name="Back").click()
    popup.get_by_role("button", name="Ada Lovelace").click()
    with (
        proxy.replying(REVEAL, CannedReply(202, open_job())),
        proxy.replying(POLL, problem_reply(404, "job_not_found")),
    ):
        reveal.click()
        expect(alert).to_have_text("This request no longer exists.Try again")
    again.click()

    expect(address(popup, company)).to_be_visible()
    expect(alert).to_have_count(0)
    assert len(keys(proxy)) == 3
    assert user.balance() == 99


def test_without_credits_a_message_replaces_every_button_that_spends_credits(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack, company: Company
) -> None:
    user.workspace, user.token = stack.create_workspace(grant=0)
    popup = open_ada(user, company)
    message = "Not enough credits: this costs 1 credit and your workspace has 0 credits. Ask your admin"

    expect(popup.get_by_role("region", name="E-mail")).to_contain_text(message)
    expect(popup.get_by_role("region", name="Phone")).to_contain_text(message)
    expect(popup.get_by_role("button", name=re.compile("Reveal|Find|everything"))).to_have_count(0)
    assert not proxy.api_requests(REVEAL)
    stack.grant(user.workspace, 3)
    popup.close()
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_text("3 credits", exact=True)).to_be_visible()
    popup.get_by_role("button", name="Ada Lovelace").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(address(popup, company)).to_be_visible()
    expect(popup.get_by_text("2 credits", exact=True)).to_be_visible()


def test_a_402_response_hides_every_button_that_spends_credits(
    user: BrowserUser, proxy: RecordingProxy, company: Company
) -> None:
    popup = open_ada(user, company)

    with proxy.replying(REVEAL, problem_reply(402, "insufficient_credits", required=1, balance=0)):
        popup.get_by_role("button", name="Reveal e-mail").click()

        expect(popup.get_by_text("0 credits", exact=True)).to_be_visible()
    expect(popup.get_by_role("region", name="E-mail").get_by_text("Not enough credits")).to_be_visible()
    expect(popup.locator("main").get_by_text("Not enough credits")).to_have_count(2)
    expect(popup.get_by_role("button", name=re.compile("Reveal|Try again"))).to_have_count(0)


def test_a_reached_spending_limit_is_named_and_costs_nothing(
    user: BrowserUser, stack: Stack, company: Company
) -> None:
    popup = open_ada(user, company)
    account = stack.call("GET", "/api/ext/session", Authorization=user.token).body["account"]["id"]
    path = f"/api/limits/accounts/{account}"
    assert stack.call("PUT", path, {"monthly_limit": 0}, Authorization=user.token).status == 200

    popup.get_by_role("button", name="Reveal e-mail").click()

    message = "Your spending limit is reached. Nothing was charged. Ask your admin to raise it."
    expect(popup.get_by_role("region", name="E-mail").get_by_role("alert")).to_contain_text(message)
    assert user.balance() == 100


@pytest.mark.parametrize(
    ("scenario", "field", "message"),
    [
        ("not-found", "E-mail", "Nothing found. Nothing was charged."),
        ("failing", "Phone", "No provider could respond. Nothing was charged. Try again later."),
    ],
)
def test_a_request_without_a_result_shows_the_reason_and_is_not_charged(
    user: BrowserUser, scenario: str, field: str, message: str
) -> None:
    user.sign_in()
    popup = user.open_popup_on(SITE)
    find(popup, SANDBOX + scenario)

    card = popup.get_by_role("region", name=field)
    card.get_by_role("button", name="Find").click()

    expect(card).to_contain_text(message, timeout=40_000)
    expect(card.get_by_text("Charged: 0 credits")).to_be_visible()
    expect(card.get_by_role("button", name="Try again")).to_have_count(1 if scenario == "failing" else 0)
    expect(popup.get_by_role("button", name="Find")).to_have_count(1)  # of the other field
    assert user.balance() == 100


def test_a_person_whom_a_provider_reports_as_opted_out_is_shown_without_buttons(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile("sandbox-suppressed", "Suppressed Sandbox"))

    popup.get_by_role("button", name="Find e-mail").click()

    expect(popup.get_by_role("heading", name="This person has opted out")).to_be_visible()
    expect(popup.get_by_role("region", name=re.compile("E-mail|Phone|Full profile"))).to_have_count(0)
    expect(popup.locator("main .view-content button")).to_have_count(0)
    expect(popup.get_by_text("Save this profile")).to_have_count(0)
    assert user.balance() == 100


def test_a_suppressed_person_is_neither_shown_nor_saved(
    user: BrowserUser, stack: Stack, company: Company
) -> None:
    popup = open_ada(user, company)
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("Note").fill("Met at the fair")
    with stack.database.transaction() as session:
        ada = [Identifier("linkedin_url", company.profiles["Ada"])]
        suppressions.suppress(session, ada, reason="asked", now=clock.now())

    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_role("heading", name="This person has opted out")).to_be_visible()
    expect(popup.locator("main button")).to_have_count(0)
    popup.get_by_role("button", name="Back").click()
    find(popup, company.profiles["Ada"])

    expect(popup.get_by_role("heading", name="This person has opted out")).to_be_visible()
    expect(popup.get_by_role("button", name="Reveal")).to_have_count(0)
    expect(popup.get_by_text("Save this profile")).to_have_count(0)
    assert user.balance() == 100


def test_a_person_erased_while_shown_is_reported_as_no_longer_stored(
    user: BrowserUser, stack: Stack, company: Company
) -> None:
    popup = open_ada(user, company)
    with stack.database.transaction() as session:
        people = erasure.find_contacts(session, (), [company.people["Ada"]])
        erasure.erase(session, erasure.plan(session, people, ()), now=clock.now())
    message = "This person is no longer stored. Look them up again."

    popup.get_by_role("button", name="Reveal e-mail").click()

    expect(popup.get_by_role("alert")).to_contain_text(message)
    popup.get_by_role("button", name="Back").click()
    expect(popup.get_by_role("button", name="Bob Babbage")).to_be_visible()


def test_a_revoked_token_leads_to_the_sign_in_form_and_keeps_unsaved_input(
    user: BrowserUser, stack: Stack, proxy: RecordingProxy, company: Company
) -> None:
    popup = open_ada(user, company, stay_signed_in=True)
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("List").fill("Prospects")
    stack.call("POST", "/api/ext/logout", Authorization=user.token)
    message = "Your session was ended. Sign in again; requests in progress continue."

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.get_by_role("alert")).to_have_text(message)
    popup.close()
    popup = user.click_icon(user.tabs()[0])
    expect(popup.get_by_role("alert")).to_have_text(message)  # until someone signs in
    user.submit_sign_in(popup)
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_label("List")).to_have_value("Prospects")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Prospects")).to_be_visible()
    assert len({request.headers["Idempotency-Key"] for request in proxy.api_requests(SAVE)}) == 1
    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()
    expect(popup.get_by_label("Password")).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)  # the user signed out


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("token_expired", "Your session has expired. Sign in again; requests in progress continue."),
        ("invalid_token", "You are signed out. Sign in again; requests in progress continue."),
    ],
)
def test_an_invalid_token_leads_to_the_sign_in_form_in_every_window(
    user: BrowserUser, proxy: RecordingProxy, code: str, message: str
) -> None:
    user.sign_in(stay_signed_in=True)
    page = user.visit(SITE)
    panel = user.open_panel()
    expect(panel.get_by_text("100 credits")).to_be_visible()

    with proxy.replying("/api/ext/", problem_reply(401, code)):
        popup = user.click_icon(page)

        expect(popup.get_by_role("alert")).to_have_text(message)
        expect(panel.get_by_role("alert")).to_have_text(message)
    user.submit_sign_in(popup)

    expect(popup.get_by_role("heading", name="No company is known")).to_be_visible()
    expect(panel.get_by_text("100 credits")).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)


def open_ada(user: BrowserUser, company: Company, **settings: bool) -> Page:
    """Sign in, open the popup on the company's website and open Ada."""
    user.sign_in(**settings)
    popup = user.open_popup_on(company.website)
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    return popup


def find(popup: Page, text: str) -> None:
    popup.get_by_label("Find a person").fill(text)
    popup.get_by_role("button", name="Find", exact=True).click()


def address(popup: Page, company: Company) -> Locator:
    """Return the link with Ada's revealed address."""
    return popup.get_by_role("link", name=company.emails["Ada"])


def keys(proxy: RecordingProxy) -> set[str]:
    return {request.headers["Idempotency-Key"] for request in proxy.api_requests(REVEAL)}


def open_job() -> dict[str, object]:
    """Return the response to a reveal whose job has not finished."""
    job = {"id": "job_gone", "kind": "reveal.email", "status": "queued", "outcome": None, "finished_at": None}
    return {
        "job": {**job, "created_at": "2026-01-01T00:00:00Z", "progress": {"done": 0, "total": 1}},
        "result": None,
        "trace": [],
        "credits": {"charged": 0, "reserved": 1, "balance": 99, "already_owned": False},
    }
