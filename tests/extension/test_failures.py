"""Each failure is one plain sentence that says what to do, and nothing else breaks."""

from __future__ import annotations

import re
import secrets
import time

import pytest
from chromium_support import Person, until
from e2e_stack import Stack
from people_support import Company, company_of_three
from playwright.sync_api import Locator, Page, expect
from proxy_support import Network, Reply, Sent, problem

from app.core.contacts import suppressions
from app.core.contacts.suppressions import Identifier
from app.core.privacy import erasure
from app.infra import clock

LOOKUP = "/api/ext/lookup"
REVEAL = "/api/ext/reveal/email"
POLL = "/api/ext/jobs?id="
SAVE = "/api/ext/linkedin-save"
SITE = "http://www.acme.test/"
SANDBOX = "https://www.linkedin.com/in/sandbox-"
HTML = {"Content-Type": "text/html"}
BAD_GATEWAY = Reply(502, b"<!doctype html><title>502 Bad Gateway</title>", HTML)


@pytest.fixture
def company(stack: Stack) -> Company:
    return company_of_three(stack)


def test_whatever_stops_a_lookup_is_said_and_another_try_helps(
    person: Person, net: Network, company: Company
) -> None:
    away = f"{net.api} does not answer. Check your connection, or ask your admin whether it runs."
    stops = (
        (Reply(), away),
        (BAD_GATEWAY, away),
        (problem(503, "unavailable"), "The server cannot take this just now. Try again in a moment."),
        (problem(500, "internal_error", detail="Something broke."), "This did not work: Something broke."),
        (Reply(200, b"<html>", HTML), f"{net.api} is not a contact lookup server. Check the address."),
    )
    person.sign_in()
    popup = person.click_icon(person.visit(SITE))
    find(popup, "nobody@")  # the search's own complaint is no failure of the page below it

    for reply, told in stops:
        with net.failing(LOOKUP, reply):
            find(popup, company.profiles["Ada"])
            expect(popup.locator(".failure")).to_have_text([told + "Try again"])
            expect(popup.get_by_text("100 credits")).to_be_visible()
        popup.get_by_role("button", name="Try again").click()
        expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
        expect(popup.get_by_role("alert").filter(has_text=told)).to_have_count(0)
        popup.get_by_role("button", name="Back").click()


def test_what_no_other_try_can_mend_has_no_button_to_try_again(
    person: Person, net: Network, company: Company
) -> None:
    person.sign_in()
    popup = person.click_icon(person.visit(SITE))

    for reply, told in (
        (problem(403, "insufficient_scope"), "Your account may not do this. Ask your admin."),
        (problem(403, "account_disabled"), "Your account is disabled. Ask your admin to enable it."),
        (
            problem(404, "contact_not_found"),
            "This person is not stored any more. Look them up again.",
        ),
    ):
        with net.failing(LOOKUP, reply):
            find(popup, company.profiles["Ada"])
            expect(popup.locator(".failure")).to_have_text([told])
            expect(popup.get_by_role("button", name="Try again")).to_have_count(0)
        popup.get_by_role("button", name="Back").click()


def test_a_limited_lookup_counts_down_and_then_works(person: Person, net: Network, company: Company) -> None:
    person.sign_in()
    popup = person.look_at(SITE)

    with net.failing(LOOKUP, problem(429, "rate_limited", retry_after=3), times=1):
        find(popup, company.profiles["Ada"])

        expect(popup.get_by_role("alert")).to_contain_text("Too many requests. Try again in 3 s.")
        expect(popup.get_by_role("button", name="Try again in 2 s")).to_be_disabled()
        popup.get_by_role("button", name="Try again", exact=True).click()
    expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_visible()


def test_a_person_nobody_can_be_asked_about_now_may_still_be_revealed_and_saved(
    person: Person, net: Network
) -> None:
    person.sign_in()

    with net.failing("/api/ext/enrichment-request", problem(429, "rate_limited", retry_after=1), times=1):
        popup = person.look_at(person.plays_profile(f"ada-{secrets.token_hex(4)}", "Ada Lovelace"))

        enrichment = popup.get_by_role("region", name="Full profile")
        expect(enrichment.get_by_role("alert")).to_contain_text("Too many requests.")
        expect(popup.get_by_role("button", name="Find e-mail")).to_be_enabled()
        expect(popup.get_by_text("Save this profile")).to_be_visible()
        enrichment.get_by_role("button", name="Try again", exact=True).click()
    expect(enrichment.get_by_role("button", name="Look up everything")).to_be_visible()


def test_a_limited_reveal_goes_on_by_itself_after_the_wait_with_the_same_key(
    person: Person, net: Network, company: Company
) -> None:
    popup = ada_of(person, company)
    tried: list[float] = []

    def limited(sent: Sent) -> Reply | None:
        if not sent.path.startswith(REVEAL):
            return None
        tried.append(time.monotonic())
        return problem(429, "rate_limited", retry_after=2) if len(tried) == 1 else None

    net.faults.append(limited)
    popup.get_by_role("button", name="Reveal e-mail").click()

    expect(popup.get_by_role("alert")).to_have_text("Too many requests. It goes on in 2 s.")
    expect(address(popup, company)).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)
    assert len(tried) == 2
    assert tried[1] - tried[0] >= 1.9
    assert len(keys(net)) == 1


def test_a_reveal_says_that_the_server_is_away_and_goes_on_when_it_is_back(
    person: Person, net: Network, company: Company
) -> None:
    popup = ada_of(person, company)
    goes_on = "Trying again; nothing is paid twice."

    with net.failing(REVEAL, problem(503, "unavailable")):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_have_text(f"The server cannot take this just now. {goes_on}")
    with net.failing(REVEAL, BAD_GATEWAY):
        expect(popup.get_by_role("alert")).to_have_text(
            f"{net.api} does not answer. Check your connection, or ask your admin whether it runs. {goes_on}"
        )
    with net.failing(REVEAL, Reply()):
        until(lambda: len(net.to_api(REVEAL)) > 2)
        expect(popup.get_by_role("alert")).to_contain_text("does not answer.")

    expect(address(popup, company)).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)
    assert len(keys(net)) == 1
    assert person.balance() == 99


def test_a_refused_reveal_says_why_and_is_asked_again_under_a_new_key_where_that_can_help(
    person: Person, net: Network, company: Company
) -> None:
    popup = ada_of(person, company)
    reveal = popup.get_by_role("button", name="Reveal e-mail")
    again = popup.get_by_role("region", name="E-mail").get_by_role("button", name="Try again")
    alert = popup.get_by_role("alert")

    with net.failing(REVEAL, problem(403, "insufficient_scope")):
        reveal.click()
        expect(alert).to_have_text("Your account may not do this. Ask your admin.")
        expect(again).to_have_count(0)
    popup.get_by_role("button", name="Back").click()
    popup.get_by_role("button", name="Ada Lovelace").click()
    with net.failing(REVEAL, Reply(202, open_job())), net.failing(POLL, problem(404, "job_not_found")):
        reveal.click()
        expect(alert).to_have_text("This question is not known any more. Ask again.Try again")
    again.click()

    expect(address(popup, company)).to_be_visible()
    expect(alert).to_have_count(0)
    assert len(keys(net)) == 3
    assert person.balance() == 99


def test_without_credits_no_button_spends_any_and_it_says_what_to_do_until_there_are_some(
    person: Person, net: Network, stack: Stack, company: Company
) -> None:
    person.workspace, person.token = stack.workspace(grant=0)
    popup = ada_of(person, company)
    told = "Not enough credits: this costs 1 credit and your workspace has 0 credits. Ask your admin"

    expect(popup.get_by_role("region", name="E-mail")).to_contain_text(told)
    expect(popup.get_by_role("region", name="Phone")).to_contain_text(told)
    expect(popup.get_by_role("button", name=re.compile("Reveal|Find|everything"))).to_have_count(0)
    assert not net.to_api(REVEAL)
    stack.grant(person.workspace, 3)
    popup.close()
    popup = person.look_at(company.website)
    expect(popup.get_by_text("3 credits", exact=True)).to_be_visible()
    popup.get_by_role("button", name="Ada Lovelace").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(address(popup, company)).to_be_visible()
    expect(popup.get_by_text("2 credits", exact=True)).to_be_visible()


def test_credits_that_are_gone_meanwhile_take_the_buttons_along(
    person: Person, net: Network, company: Company
) -> None:
    popup = ada_of(person, company)

    with net.failing(REVEAL, problem(402, "insufficient_credits", required=1, balance=0)):
        popup.get_by_role("button", name="Reveal e-mail").click()

        expect(popup.get_by_text("0 credits", exact=True)).to_be_visible()
    expect(popup.get_by_role("region", name="E-mail").get_by_text("Not enough credits")).to_be_visible()
    expect(popup.get_by_text("Not enough credits")).to_have_count(2)
    expect(popup.get_by_role("button", name=re.compile("Reveal|Try again"))).to_have_count(0)


@pytest.mark.parametrize(
    ("scenario", "field", "told"),
    [
        ("not-found", "E-mail", "Nothing found. Nothing was charged."),
        ("failing", "Phone", "Nobody could answer just now. Nothing was charged. Try again later."),
    ],
)
def test_a_question_without_a_value_says_so_and_costs_nothing(
    person: Person, scenario: str, field: str, told: str
) -> None:
    person.sign_in()
    popup = person.look_at(SITE)
    find(popup, SANDBOX + scenario)

    card = popup.get_by_role("region", name=field)
    card.get_by_role("button", name="Find").click()

    expect(card).to_contain_text(told, timeout=40_000)
    expect(card.get_by_text("Charged: 0 credits")).to_be_visible()
    expect(card.get_by_role("button", name="Try again")).to_have_count(1 if scenario == "failing" else 0)
    expect(popup.get_by_role("button", name="Find")).to_have_count(1)  # the other field's
    assert person.balance() == 100


def test_of_a_person_a_provider_says_is_suppressed_no_button_is_left(person: Person) -> None:
    person.sign_in()
    popup = person.look_at(person.plays_profile("sandbox-suppressed", "Suppressed Sandbox"))

    popup.get_by_role("button", name="Find e-mail").click()

    expect(popup.get_by_role("heading", name="This person asked to be left alone")).to_be_visible()
    expect(popup.get_by_role("region", name=re.compile("E-mail|Phone|Full profile"))).to_have_count(0)
    expect(popup.locator("main .place button")).to_have_count(0)
    expect(popup.get_by_text("Save this profile")).to_have_count(0)
    assert person.balance() == 100


def test_who_asked_to_be_left_alone_is_neither_shown_nor_saved(
    person: Person, stack: Stack, company: Company
) -> None:
    popup = ada_of(person, company)
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("Note").fill("Met at the fair")
    with stack.database.transaction() as session:
        ada = [Identifier("linkedin_url", company.profiles["Ada"])]
        suppressions.suppress(session, ada, reason="asked", now=clock.now())

    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_role("heading", name="This person asked to be left alone")).to_be_visible()
    expect(popup.locator("main button")).to_have_count(0)
    popup.get_by_role("button", name="Back").click()
    find(popup, company.profiles["Ada"])

    expect(popup.get_by_role("heading", name="This person asked to be left alone")).to_be_visible()
    expect(popup.get_by_role("button", name="Reveal")).to_have_count(0)
    expect(popup.get_by_text("Save this profile")).to_have_count(0)
    assert person.balance() == 100


def test_who_is_erased_meanwhile_is_said_to_be_gone(person: Person, stack: Stack, company: Company) -> None:
    popup = ada_of(person, company)
    with stack.database.transaction() as session:
        people = erasure.find_contacts(session, (), [company.people["Ada"]])
        erasure.erase(session, erasure.plan(session, people, ()), now=clock.now())
    told = "This person is not stored any more. Look them up again."

    popup.get_by_role("button", name="Reveal e-mail").click()

    expect(popup.get_by_role("alert")).to_contain_text(told)
    popup.get_by_role("button", name="Back").click()
    expect(popup.get_by_role("button", name="Bob Babbage")).to_be_visible()


def test_a_revoked_token_leads_to_the_form_and_what_was_typed_is_still_there(
    person: Person, stack: Stack, net: Network, company: Company
) -> None:
    popup = ada_of(person, company, stay=True)
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("List").fill("Prospects")
    stack.call("POST", "/api/ext/logout", Authorization=person.token)
    told = "Your sign-in was ended. Sign in again; what was under way goes on."

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.get_by_role("alert")).to_have_text(told)
    popup.close()
    popup = person.click_icon(person.tabs()[0])
    expect(popup.get_by_role("alert")).to_have_text(told)  # as long as nobody signs in
    person.fill_in(popup)
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_label("List")).to_have_value("Prospects")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Prospects")).to_be_visible()
    assert len({one.headers["Idempotency-Key"] for one in net.to_api(SAVE)}) == 1
    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()
    expect(popup.get_by_label("Password")).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)  # the person did it


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("token_expired", "Your sign-in has expired. Sign in again; what was under way goes on."),
        ("invalid_token", "You are signed out. Sign in again; what was under way goes on."),
    ],
)
def test_a_token_that_is_no_good_leads_to_the_form_in_every_window(
    person: Person, net: Network, code: str, told: str
) -> None:
    person.sign_in(stay=True)
    page = person.visit(SITE)
    panel = person.open_panel()
    expect(panel.get_by_text("100 credits")).to_be_visible()

    with net.failing("/api/ext/", problem(401, code)):
        popup = person.click_icon(page)

        expect(popup.get_by_role("alert")).to_have_text(told)
        expect(panel.get_by_role("alert")).to_have_text(told)
    person.fill_in(popup)

    expect(popup.get_by_role("heading", name="No company is known")).to_be_visible()
    expect(panel.get_by_text("100 credits")).to_be_visible()
    expect(popup.get_by_role("alert")).to_have_count(0)


def ada_of(person: Person, company: Company, **settings: bool) -> Page:
    """Be signed in, look at the company's website and open Ada."""
    person.sign_in(**settings)
    popup = person.look_at(company.website)
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    return popup


def find(popup: Page, text: str) -> None:
    popup.get_by_label("Find a person").fill(text)
    popup.get_by_role("button", name="Find", exact=True).click()


def address(popup: Page, company: Company) -> Locator:
    """Give the place where Ada's address is shown in full."""
    return popup.get_by_role("link", name=company.emails["Ada"])


def keys(net: Network) -> set[str]:
    return {one.headers["Idempotency-Key"] for one in net.to_api(REVEAL)}


def open_job() -> dict[str, object]:
    """Give the answer to a reveal that is not over."""
    job = {"id": "job_gone", "kind": "reveal.email", "status": "queued", "outcome": None, "finished_at": None}
    return {
        "job": {**job, "created_at": "2026-01-01T00:00:00Z", "progress": {"done": 0, "total": 1}},
        "result": None,
        "trace": [],
        "credits": {"charged": 0, "reserved": 1, "balance": 99, "already_owned": False},
    }
