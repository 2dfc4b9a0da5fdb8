"""Saved profiles: list, tags, note and unsaved input."""

from __future__ import annotations

import secrets
from typing import Any

from chromium_support import BrowserUser
from company_support import create_company
from playwright.sync_api import Page, expect
from polling import wait_until

SAVE = "/api/ext/linkedin-save"


def profile(user: BrowserUser) -> str:
    """Serve the profile page of a person unknown to the service; return its URL."""
    return user.serve_profile(f"saved-{secrets.token_hex(4)}", "Grace Hopper", "Rear admiral at  Navy")


def open_save_form(popup: Page) -> None:
    popup.get_by_text("Save this profile").click()


def fill(popup: Page, *, list_name: str, tags: str = "", note: str = "") -> None:
    popup.get_by_label("List", exact=True).fill(list_name)
    popup.get_by_label("Tags, separated by commas").fill(tags)
    popup.get_by_label("Note").fill(note)


def saved_bodies(user: BrowserUser) -> list[dict[str, Any]]:
    """Return the bodies of the save requests."""
    return [sent.json for sent in user.proxy.api_requests(SAVE)]


def test_a_saved_profile_shows_its_list_and_can_be_changed(user: BrowserUser) -> None:
    user.sign_in()
    url = profile(user)
    popup = user.open_popup_on(url)
    open_save_form(popup)
    fill(popup, list_name=" Hot leads ", tags="navy, compilers,, navy ", note="Met at a fair.\nCall in May.")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Hot leads")).to_be_visible()
    popup.close()

    popup = user.open_popup_on(url)

    expect(popup.get_by_text("Saved in Hot leads")).to_be_visible()
    expect(popup.get_by_label("List", exact=True)).to_have_value("Hot leads")
    expect(popup.get_by_label("Tags, separated by commas")).to_have_value("navy, compilers")
    expect(popup.get_by_label("Note")).to_have_value("Met at a fair.\nCall in May.")
    fill(popup, list_name="Navy")
    popup.get_by_role("button", name="Save changes").click()
    expect(popup.get_by_text("Saved in Navy")).to_be_visible()
    popup.close()
    popup = user.open_popup_on(url)
    expect(popup.get_by_text("Saved in Navy")).to_be_visible()
    expect(popup.get_by_label("Tags, separated by commas")).to_have_value("")
    expect(popup.get_by_label("Note")).to_have_value("")
    expect(popup.locator("header")).to_contain_text("100 credits")


def test_the_details_on_the_profile_page_are_saved_with_the_profile(user: BrowserUser) -> None:
    user.sign_in()
    url = profile(user)
    popup = user.open_popup_on(url)
    open_save_form(popup)

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.locator("summary").filter(has_text="Saved")).to_be_visible()
    assert saved_bodies(user) == [
        {
            "profile": {
                "linkedin_url": url.rstrip("/"),
                "full_name": "Grace Hopper",
                "headline": "Rear admiral at Navy",
            },
            "list": None,
            "tags": [],
            "note": None,
        }
    ]


def test_a_known_person_is_saved_with_name_title_and_company(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    popup.get_by_role("button", name="Ada Lovelace").click()
    open_save_form(popup)
    fill(popup, list_name="Engines")

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.get_by_text("Saved in Engines")).to_be_visible()
    [sent] = saved_bodies(user)
    assert sent["profile"] == {
        "linkedin_url": company.profiles["Ada"],
        "full_name": "Ada Lovelace",
        "title": "Chief Engineer",
        "company": {"name": company.name, "domain": company.domain},
    }
    popup.get_by_role("button", name="Back").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_contain_text("Saved")
    expect(popup.get_by_role("button", name="Bob Babbage")).not_to_contain_text("Saved")


def test_unsaved_input_is_restored_at_the_next_opening(user: BrowserUser) -> None:
    user.sign_in()
    url = profile(user)
    popup = user.open_popup_on(url)
    open_save_form(popup)
    fill(popup, list_name="Half", tags="ty", note="ped and not yet")
    wait_until(lambda: "ped and not yet" in str(user.get_storage("session")))
    popup.close()

    popup = user.open_popup_on(url)

    expect(popup.get_by_label("List", exact=True)).to_have_value("Half")
    expect(popup.get_by_label("Tags, separated by commas")).to_have_value("ty")
    expect(popup.get_by_label("Note")).to_have_value("ped and not yet")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Half")).to_be_visible()
    assert "ped and not yet" not in str(user.get_storage("session"))


def test_previously_used_lists_are_suggested_the_latest_first(user: BrowserUser) -> None:
    user.sign_in()
    for name in ("Spring", "Autumn", "Spring"):
        popup = user.open_popup_on(profile(user))
        open_save_form(popup)
        fill(popup, list_name=name)
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_text(f"Saved in {name}")).to_be_visible()
        popup.close()

    popup = user.open_popup_on(profile(user))

    open_save_form(popup)
    expect(popup.get_by_label("List", exact=True)).to_have_attribute("list", "lists")
    options = popup.locator("datalist#lists option")
    expect(options).to_have_count(2)
    assert options.evaluate_all("options => options.map((option) => option.value)") == ["Spring", "Autumn"]


def test_a_double_click_saves_once(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(profile(user))
    open_save_form(popup)
    fill(popup, list_name="Once")

    popup.get_by_role("button", name="Save", exact=True).dblclick()

    expect(popup.get_by_text("Saved in Once")).to_be_visible()
    expect(popup.get_by_role("button", name="Save changes")).to_be_enabled()
    assert len(saved_bodies(user)) == 1


def test_a_save_whose_response_was_lost_is_sent_again_with_the_same_key(user: BrowserUser) -> None:
    user.sign_in()
    url = profile(user)
    popup = user.open_popup_on(url)
    open_save_form(popup)
    fill(popup, list_name="Lost", note="and found")
    with user.proxy.dropping_replies(SAVE, times=99):
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_role("alert").filter(has_text="does not respond")).to_be_visible()
    popup.close()

    popup = user.open_popup_on(url)
    popup.locator("summary").filter(has_text="Saved in Lost").wait_for()
    popup.get_by_role("button", name="Save changes").click()

    expect(popup.get_by_role("alert").filter(has_text="does not respond")).to_have_count(0)
    wait_until(lambda: "and found" not in str(user.get_storage("session")))
    sent = user.proxy.api_requests(SAVE)
    assert len({request.headers["Idempotency-Key"] for request in sent}) == 1
    assert len({request.body for request in sent}) == 1


def test_changed_input_after_a_failure_is_sent_under_a_new_key(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(profile(user))
    open_save_form(popup)
    fill(popup, list_name="First")
    with user.proxy.dropping_replies(SAVE, times=99):
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_role("alert").filter(has_text="does not respond")).to_be_visible()
    popup.get_by_label("List", exact=True).fill("Second")

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.get_by_text("Saved in Second")).to_be_visible()
    keys = [request.headers["Idempotency-Key"] for request in user.proxy.api_requests(SAVE)]
    assert keys[-1] != keys[0]
