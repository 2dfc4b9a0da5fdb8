"""Saving a profile with a list, tags and a note, and finding it saved the next time."""

from __future__ import annotations

import secrets
from typing import Any

from chromium_support import Person, until
from people_support import company_of_three
from playwright.sync_api import Page, expect

SAVE = "/api/ext/linkedin-save"


def profile(person: Person) -> str:
    """Let the network have somebody whom the service does not know; give the address of the page."""
    return person.plays_profile(f"saved-{secrets.token_hex(4)}", "Grace Hopper", "Rear admiral at  Navy")


def unfold(popup: Page) -> None:
    popup.get_by_text("Save this profile").click()


def fill(popup: Page, *, kept_in: str, tags: str = "", note: str = "") -> None:
    popup.get_by_label("List", exact=True).fill(kept_in)
    popup.get_by_label("Tags, separated by commas").fill(tags)
    popup.get_by_label("Note").fill(note)


def saved(person: Person) -> list[dict[str, Any]]:
    """Give what was sent to be saved."""
    return [sent.json for sent in person.network.to_api(SAVE)]


def test_a_saved_profile_says_in_which_list_it_is_and_is_changed_there(person: Person) -> None:
    person.sign_in()
    url = profile(person)
    popup = person.look_at(url)
    unfold(popup)
    fill(popup, kept_in=" Hot leads ", tags="navy, compilers,, navy ", note="Met at a fair.\nCall in May.")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Hot leads")).to_be_visible()
    popup.close()

    popup = person.look_at(url)

    expect(popup.get_by_text("Saved in Hot leads")).to_be_visible()
    expect(popup.get_by_label("List", exact=True)).to_have_value("Hot leads")
    expect(popup.get_by_label("Tags, separated by commas")).to_have_value("navy, compilers")
    expect(popup.get_by_label("Note")).to_have_value("Met at a fair.\nCall in May.")
    fill(popup, kept_in="Navy")
    popup.get_by_role("button", name="Save changes").click()
    expect(popup.get_by_text("Saved in Navy")).to_be_visible()
    popup.close()
    popup = person.look_at(url)
    expect(popup.get_by_text("Saved in Navy")).to_be_visible()
    expect(popup.get_by_label("Tags, separated by commas")).to_have_value("")
    expect(popup.get_by_label("Note")).to_have_value("")
    expect(popup.locator("header")).to_contain_text("100 credits")


def test_what_the_page_shows_of_the_person_is_saved_with_the_profile(person: Person) -> None:
    person.sign_in()
    url = profile(person)
    popup = person.look_at(url)
    unfold(popup)

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.locator("summary").filter(has_text="Saved")).to_be_visible()
    assert saved(person) == [
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


def test_who_is_known_is_saved_with_name_title_and_company(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)
    popup.get_by_role("button", name="Ada Lovelace").click()
    unfold(popup)
    fill(popup, kept_in="Engines")

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.get_by_text("Saved in Engines")).to_be_visible()
    [sent] = saved(person)
    assert sent["profile"] == {
        "linkedin_url": company.profiles["Ada"],
        "full_name": "Ada Lovelace",
        "title": "Chief Engineer",
        "company": {"name": company.name, "domain": company.domain},
    }
    popup.get_by_role("button", name="Back").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_contain_text("Saved")
    expect(popup.get_by_role("button", name="Bob Babbage")).not_to_contain_text("Saved")


def test_what_was_typed_and_not_saved_is_there_at_the_next_opening(person: Person) -> None:
    person.sign_in()
    url = profile(person)
    popup = person.look_at(url)
    unfold(popup)
    fill(popup, kept_in="Half", tags="ty", note="ped and not yet")
    until(lambda: "ped and not yet" in str(person.stored("session")))
    popup.close()

    popup = person.look_at(url)

    expect(popup.get_by_label("List", exact=True)).to_have_value("Half")
    expect(popup.get_by_label("Tags, separated by commas")).to_have_value("ty")
    expect(popup.get_by_label("Note")).to_have_value("ped and not yet")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Half")).to_be_visible()
    assert "ped and not yet" not in str(person.stored("session"))


def test_lists_used_before_are_suggested_the_latest_first(person: Person) -> None:
    person.sign_in()
    for name in ("Spring", "Autumn", "Spring"):
        popup = person.look_at(profile(person))
        unfold(popup)
        fill(popup, kept_in=name)
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_text(f"Saved in {name}")).to_be_visible()
        popup.close()

    popup = person.look_at(profile(person))

    unfold(popup)
    expect(popup.get_by_label("List", exact=True)).to_have_attribute("list", "lists")
    options = popup.locator("datalist#lists option")
    expect(options).to_have_count(2)
    assert options.evaluate_all("options => options.map((one) => one.value)") == ["Spring", "Autumn"]


def test_two_clicks_save_once(person: Person) -> None:
    person.sign_in()
    popup = person.look_at(profile(person))
    unfold(popup)
    fill(popup, kept_in="Once")

    popup.get_by_role("button", name="Save", exact=True).dblclick()

    expect(popup.get_by_text("Saved in Once")).to_be_visible()
    expect(popup.get_by_role("button", name="Save changes")).to_be_enabled()
    assert len(saved(person)) == 1


def test_a_save_whose_answer_was_lost_is_sent_again_with_the_same_key(person: Person) -> None:
    person.sign_in()
    url = profile(person)
    popup = person.look_at(url)
    unfold(popup)
    fill(popup, kept_in="Lost", note="and found")
    with person.network.losing_the_answer(SAVE, times=99):
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
    popup.close()

    popup = person.look_at(url)
    popup.locator("summary").filter(has_text="Saved in Lost").wait_for()
    popup.get_by_role("button", name="Save changes").click()

    expect(popup.get_by_role("alert").filter(has_text="does not answer")).to_have_count(0)
    until(lambda: "and found" not in str(person.stored("session")))
    sent = person.network.to_api(SAVE)
    assert len({one.headers["Idempotency-Key"] for one in sent}) == 1
    assert len({one.body for one in sent}) == 1


def test_another_text_after_a_failure_is_another_question(person: Person) -> None:
    person.sign_in()
    popup = person.look_at(profile(person))
    unfold(popup)
    fill(popup, kept_in="First")
    with person.network.losing_the_answer(SAVE, times=99):
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
    popup.get_by_label("List", exact=True).fill("Second")

    popup.get_by_role("button", name="Save", exact=True).click()

    expect(popup.get_by_text("Saved in Second")).to_be_visible()
    keys = [one.headers["Idempotency-Key"] for one in person.network.to_api(SAVE)]
    assert keys[-1] != keys[0]
