"""History, settings and sign-out."""

from __future__ import annotations

import re
import secrets
from hashlib import sha256

from chromium_support import BrowserUser, mouse_held_down_on
from company_support import create_company
from playwright.sync_api import Locator, Page, expect
from polling import wait_until

from app.engine.jobs.jobs import Job

JOBS_IN_HISTORY = 50
COMPANY = "/api/ext/company-by-hash"
DAY = re.compile(r"\w+ \d+, \d{4}")
TIME = re.compile(r"\d+:\d\d")
DATE = re.compile(r"\w+ \d+, \d{4}, \d+:\d\d")


def rows(popup: Page) -> Locator:
    return popup.locator(".row")


def open_history(popup: Page) -> None:
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("History")


def reveal(popup: Page, name: str, field: str) -> Locator:
    """Reveal a value of a listed person; return the card that shows it."""
    popup.locator(".people").get_by_role("button", name=name).click()
    part = popup.get_by_role("region", name=field, exact=True)
    part.get_by_role("button", name=re.compile("^(Reveal|Find)")).click()
    expect(part.locator("details.receipt")).to_be_visible()
    return part


def test_reveals_are_listed_with_names_outcomes_and_dates_the_newest_first(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    for name, field in (("Ada", "E-mail"), ("Ada", "Phone"), ("Cleo", "E-mail")):
        reveal(popup, name, field)
        popup.get_by_role("button", name="Back").click()

    open_history(popup)

    expect(rows(popup).locator("strong")).to_have_text(["Cleo Clarke", "Ada Lovelace", "Ada Lovelace"])
    expect(rows(popup).nth(0)).to_contain_text("E-mail not found")
    expect(rows(popup).nth(1)).to_contain_text("Phone found")
    expect(rows(popup).nth(2)).to_contain_text("E-mail found")
    for row in rows(popup).all():
        expect(row).to_contain_text(TIME)
    expect(popup.locator("main h2")).to_have_text(DAY)
    expect(popup.locator("main")).not_to_contain_text("@")


def test_a_job_of_an_upload_is_named_as_one(user: BrowserUser) -> None:
    company = create_company(user.stack)
    items = [{"subject": {"linkedin_url": url}} for url in company.profiles.values()]
    request = {"entity": "person", "items": items, "fields": ["email"], "max_credits": 9}
    for upload in (False, True):
        response = user.stack.call(
            "POST",
            "/api/ext/enrichment-request",
            request | {"max_credits": 8 + upload},
            Authorization=user.token,
            Prefer="wait=20",
        )
        assert response.status == 200, response.body
    job_id = response.body["job"]["id"]
    with user.stack.database.transaction() as session:
        job = session.get_one(Job, job_id)
        job.request = {**job.request, "upload_id": "upl_06h068n630r3fmqqreeg7cb5"}
    user.sign_in()
    popup = user.open_popup_on(company.website)

    open_history(popup)

    expect(rows(popup).nth(0)).to_contain_text("Uploaded list")
    expect(rows(popup).nth(0)).to_contain_text(f"{len(items)} people")
    expect(rows(popup).nth(1)).to_contain_text("Enrichment")
    rows(popup).nth(0).click()
    expect(popup.locator("main")).to_contain_text("Uploaded list")


def test_a_history_row_opens_the_result_with_its_receipt_and_the_person(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    reveal(popup, "Ada", "E-mail")
    open_history(popup)

    rows(popup).click()

    expect(popup.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    expect(popup.get_by_role("heading", level=1)).to_be_focused()
    expect(popup.locator("main")).to_contain_text(DATE)
    popup.get_by_text("Receipt").click()
    expect(popup.locator("details.receipt")).to_contain_text("Already known; no provider was searched")
    expect(popup.locator("details.receipt")).to_contain_text(re.compile(r"Job job_\w{24}"))
    assert user.balance() == 99
    popup.get_by_role("button", name="Open profile").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    for _step in ("the answer", "the history", "the company"):
        popup.get_by_role("button", name="Back").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)


def test_many_lookups_of_websites_hide_no_reveal(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    reveal(popup, "Ada", "E-mail")
    for number in range(JOBS_IN_HISTORY):
        website = sha256(str(number).encode()).hexdigest()
        user.stack.call("POST", COMPANY, {"hash": website}, Authorization=user.token)

    open_history(popup)

    expect(rows(popup)).to_contain_text("Ada Lovelace")


def test_an_empty_history_shows_a_message(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on("http://www.nobody-knows-this.test/")

    popup.get_by_role("button", name="History").click()

    expect(popup.get_by_role("heading", name="History")).to_be_visible()
    expect(popup.locator("main")).to_contain_text("Nothing has been revealed yet.")


def test_the_history_lists_searches_without_a_result(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(f"nobody-{secrets.token_hex(4)}", "Una Known"))
    email = popup.get_by_role("region", name="E-mail", exact=True)
    email.get_by_role("button", name="Find e-mail").click()
    expect(email).to_contain_text("Nothing found")
    open_history(popup)
    expect(rows(popup)).to_contain_text("E-mail not found")

    rows(popup).click()

    expect(popup.locator("main")).to_contain_text("Nothing found. Nothing was charged.")
    popup.get_by_text("Receipt").click()
    expect(popup.get_by_role("row", name="Hunter not found")).to_be_visible()


def test_a_button_pressed_while_the_balance_changes_still_works(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on("http://www.acme.test/")
    expect(popup.locator("header")).to_contain_text("100 credits")

    with mouse_held_down_on(popup, popup.get_by_role("button", name="Settings")):
        session = user.get_storage("session")["session"]
        session["credits"]["balance"] = 77
        user.set_storage("session", session=session)
        expect(popup.locator("header")).to_contain_text("77 credits")

    expect(popup.get_by_role("heading", level=1)).to_have_text("Settings")


def test_the_setting_for_hash_or_prefix_changes_what_is_sent(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    popup.get_by_role("button", name="Settings").click()
    expect(popup.locator("main")).to_contain_text(user.email)
    expect(popup.get_by_label("Fastest")).to_be_checked()

    popup.get_by_label("More private").check()
    wait_until(lambda: user.get_storage("local")["settings"]["lookupBy"] == "prefix")
    popup.close()
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("button", name="Show people")).to_be_visible()
    popup.get_by_role("button", name="Settings").click()
    expect(popup.get_by_label("More private")).to_be_checked()
    popup.get_by_label("Fastest").check()
    wait_until(lambda: user.get_storage("local")["settings"]["lookupBy"] == "hash")
    popup.get_by_role("button", name="Back").click()

    expect(rows(popup)).to_have_count(3)
    expect(popup.get_by_role("button", name="Show people")).to_have_count(0)
    keys = [sorted(sent.json) for sent in user.proxy.api_requests(COMPANY)]
    assert keys[0] == keys[-1] == ["hashes", "kind"]
    assert keys[1:-1] == [["prefix"]]


def test_signing_out_leads_to_the_form_and_revokes_the_token(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in(lists=["Secret list"])
    popup = user.open_popup_on(company.website)
    reveal(popup, "Ada", "E-mail")
    popup.get_by_role("button", name="Settings").click()

    popup.get_by_role("button", name="Sign out").click()

    expect(popup.get_by_label("Password")).to_be_visible()
    expect(popup.get_by_label("Server")).to_have_value(user.server)
    expect(popup.get_by_label("E-mail")).to_have_value(user.email)
    expect(popup.locator("body")).not_to_contain_text("credits")
    stored = str(user.get_storage("local")) + str(user.get_storage("session"))
    assert user.token.removeprefix("Bearer ") not in stored
    assert company.emails["Ada"] not in stored
    assert "Secret list" not in stored
    assert user.stack.call("GET", "/api/ext/session", Authorization=user.token).status == 401
    popup.close()
    user.proxy.sent.clear()
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("button", name="Sign in")).to_be_visible()
    sent = user.proxy.api_requests()
    assert {(request.path, request.body) for request in sent} <= {("/api/ext/sign-in-options", b"")}
