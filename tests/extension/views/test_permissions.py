"""What an account may not do has the reason and no button in the extension; nor are costs shown to it."""

from __future__ import annotations

import pytest
from chromium_support import BrowserUser
from company_support import create_company
from fake_crms import TOKEN, FakeTwenty
from playwright.sync_api import Locator, Page, expect
from pytest_httpserver import HTTPServer
from sqlalchemy import select, update

from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.accounts.accounts import Account, Role

PHONES = "Your admin does not allow this account to reveal phone numbers."
EXPORT = "Your admin does not allow this account to download files."
PUSH = "Your admin does not allow this account to push to a CRM."


def deny(user: BrowserUser, *denied: Permission) -> None:
    """Make the account a member that may do all but this."""
    with user.stack.database.transaction() as session:
        account_id = session.scalars(select(Account.id).where(Account.email == user.email)).one()
        session.execute(update(Account).where(Account.id == account_id).values(role=Role.MEMBER.value))
        permissions.set_of_account(session, account_id, dict.fromkeys(denied, False))


def popup_of_ada(user: BrowserUser) -> Page:
    company = create_company(user.stack)
    return user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))


def part(popup: Page, name: str) -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def test_phones_that_may_not_be_revealed_have_the_reason_in_the_place_of_the_button(
    user: BrowserUser,
) -> None:
    deny(user, Permission.REVEAL_PHONES)
    user.sign_in()

    popup = popup_of_ada(user)

    expect(part(popup, "Phone").get_by_text(PHONES)).to_be_visible()
    expect(part(popup, "Phone").get_by_role("button")).to_have_count(0)
    expect(part(popup, "E-mail").get_by_role("button", name="Reveal e-mail")).to_be_enabled()


@pytest.mark.parametrize("denied", [Permission.EXPORT, Permission.PUSH])
def test_what_may_not_be_taken_out_has_the_reason_in_the_place_of_its_button(
    user: BrowserUser, denied: Permission
) -> None:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        connection = {"vendor": "twenty", "token": TOKEN, "base_url": FakeTwenty(server).url}
        user.stack.call("POST", "/api/crm/connections", connection, Authorization=user.token)
        deny(user, denied)
        user.sign_in()
        popup = popup_of_ada(user)

        popup.get_by_role("button", name="Reveal e-mail").click()

        buttons = {Permission.EXPORT: "Save as vCard", Permission.PUSH: "Push to Twenty"}
        reasons = {Permission.EXPORT: EXPORT, Permission.PUSH: PUSH}
        expect(popup.get_by_text(reasons.pop(denied))).to_be_visible()
        expect(popup.get_by_role("button", name=buttons.pop(denied))).to_have_count(0)
        expect(popup.get_by_role("button", name=next(iter(buttons.values())))).to_be_visible()
        expect(popup.get_by_text(next(iter(reasons.values())))).to_have_count(0)


def test_costs_that_may_not_be_seen_are_not_shown_and_the_reveal_works(user: BrowserUser) -> None:
    deny(user, Permission.SEE_COSTS)
    user.sign_in()
    popup = popup_of_ada(user)
    reveal = popup.get_by_role("button", name="Reveal e-mail")
    expect(reveal).to_be_visible()  # not "not enough credits"

    reveal.click()

    expect(part(popup, "E-mail").get_by_role("link")).to_be_visible()
    expect(popup.locator("header")).not_to_contain_text("credit")
    expect(popup.locator(".receipt summary")).not_to_contain_text("harged")


def test_a_number_that_must_not_be_called_has_no_link(user: BrowserUser) -> None:
    popup = user.open_panel()

    links = popup.evaluate(
        """async () => {
          const { revealedValue } = await import("/views/results.js");
          const value = { e164: "+442079460123", national: "020 7946 0123", extension: null, type: "mobile",
            status: "valid", verified_at: null, sources: [] };
          const call_registers = [{ name: "TPS", date: "2026-11-01T12:00:00Z", listed: true }];
          return [false, true].map((do_not_call) => {
            const shown = revealedValue({ ...value, do_not_call, call_registers });
            const badge = shown.querySelector(".badge.bad")?.textContent ?? "";
            return [shown.querySelectorAll("a").length, shown.textContent.includes("020 7946 0123"), badge];
          });
        }"""
    )

    assert links == [[1, True, ""], [0, True, "Do not call · TPS Nov 1, 2026"]]
