"""A number in a do-not-call register says so before the reveal, and has no link in records of the CRM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chromium_support import BrowserUser
from company_support import create_company
from playwright.sync_api import expect
from registers_support import DAY, REGISTER, a_register
from sqlalchemy import delete, select

from app.domain.call_registers import Effect
from app.engine.call_registers.registers import CallRegister, CallRegisterBlock
from app.engine.contacts.phones import Phone

LISTED, FREE = "+447860338653", "+447860338654"
LINES = """async (result) => {
  const { ownRecords } = await import("/views/own_records.js");
  return ownRecords(result).map((line) => line.outerHTML).join("");
}"""


@pytest.fixture(autouse=True)
def _no_register(user: BrowserUser) -> Iterator[None]:
    """Remove the register from the database, which other tests share."""
    yield
    with user.stack.database.transaction() as session:
        session.execute(delete(CallRegister).where(CallRegister.id == REGISTER))
        session.execute(delete(CallRegisterBlock))


@pytest.mark.parametrize("effect", [Effect.FLAG, Effect.HIDE])
def test_a_masked_number_in_a_register_says_so_and_a_hidden_one_is_not_offered(
    user: BrowserUser, effect: Effect
) -> None:
    company = create_company(user.stack)
    with user.stack.database.transaction() as session:
        a_register(session, *(phone.e164 for phone in session.scalars(select(Phone))), effect=effect)
    user.sign_in()

    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))

    phone = popup.get_by_role("region", name="Phone", exact=True)
    is_flag = effect is Effect.FLAG
    expect(phone.get_by_role("button")).to_contain_text("Reveal phone" if is_flag else "Find phone")
    expect(phone.locator(".badge.bad")).to_have_text(
        [f"Do not call · TPS {DAY:%b} {DAY.day}, {DAY.year}"] if is_flag else []
    )
    expect(phone.locator(".masked")).to_have_count(1 if is_flag else 0)


def test_a_number_of_the_crm_that_must_not_be_called_has_no_link(user: BrowserUser) -> None:
    record: dict[str, Any] = {
        "vendor": "hubspot", "vendor_title": "HubSpot", "kind": "contact", "url": None, "owner": None,
        "has": ["phone"], "emails": ["ada@acme.example"], "phones": [LISTED, FREE],
        "do_not_call_phones": [LISTED], "is_outdated": False,
    }  # fmt: skip

    shown = user.open_panel().evaluate(LINES, {"crm": [record]})

    assert (f'href="tel:{LISTED}"' in shown, f'href="tel:{FREE}"' in shown) == (False, True)
    assert (shown.count("Do not call"), LISTED in shown, "mailto:ada@acme.example" in shown) == (
        1,
        True,
        True,
    )
