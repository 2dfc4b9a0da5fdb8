"""Numbers are dialled by the link that the admin chose, and a revealed person is saved as a vCard."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium_support import BrowserUser
from company_support import create_company
from playwright.sync_api import Locator, Page, expect

DIAL = """async ([form, number]) => {
  const { dialUrl, setDialLink } = await import("/dialing.js");
  setDialLink(form);
  return dialUrl(number);
}"""


def part(popup: Page, name: str) -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


@pytest.mark.parametrize(
    ("form", "url"),
    [
        ("callto:{number}", "callto:+442079460123"),
        ("https://dialer.example/?n={number}", "https://dialer.example/?n=%2B442079460123"),
        ("rcmobile://call?number={number}", "rcmobile://call?number=%2B442079460123"),
        ("tel:{digits}", "tel:442079460123"),
        ("javascript:alert({number})", "tel:+442079460123"),
        ("callto:nobody", "tel:+442079460123"),
    ],
)
def test_a_number_is_dialled_by_the_form_unless_it_could_do_anything_else(
    user: BrowserUser, form: str, url: str
) -> None:
    panel = user.open_panel()

    assert panel.evaluate(DIAL, [form, "+442079460123"]) == url


def test_a_revealed_person_is_saved_as_a_vcard(user: BrowserUser, tmp_path: Path) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))
    expect(popup.get_by_role("button", name="Save as vCard")).to_have_count(0)
    part(popup, "Phone").get_by_role("button", name="Reveal phone").click()
    expect(part(popup, "Phone").get_by_role("link")).to_have_attribute("href", "tel:+442079460123")

    with popup.expect_download() as download:
        popup.get_by_role("button", name="Save as vCard").click()

    target = tmp_path / "card.vcf"
    download.value.save_as(target)
    assert download.value.suggested_filename == "Ada Lovelace.vcf"
    assert "TEL;TYPE=CELL,VOICE:+442079460123" in target.read_text()
