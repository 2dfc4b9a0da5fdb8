"""The side panel: what was asked about stays in sight while its user goes elsewhere."""

from __future__ import annotations

from chromium_support import Person, until
from people_support import Company, company_of_three
from playwright.sync_api import Page, expect


def open_from(person: Person, popup: Page) -> Page:
    """Press the popup's button for the side panel, which closes the popup; give the panel."""
    with person.context.expect_page(lambda page: page.url.endswith("panel.html?side")) as opened:
        popup.get_by_role("button", name="Open in the side panel").click()
    panel = opened.value
    panel.wait_for_load_state()
    until(lambda: person.panels() == [panel])
    return panel


def shows(panel: Page, company: Company) -> None:
    expect(panel.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(panel.get_by_role("listitem")).to_have_count(3)


def test_the_side_panel_shows_what_the_popup_showed_and_outlives_it(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)

    panel = open_from(person, popup)

    shows(panel, company)
    expect(panel.locator("header")).to_contain_text("100 credits")
    expect(panel.locator("main")).to_contain_text("To look at another page, click the toolbar icon on it.")
    expect(panel.get_by_role("button", name="Open in the side panel")).to_have_count(0)


def test_the_side_panel_keeps_what_it_shows_when_its_user_goes_elsewhere_and_sends_nothing(
    person: Person,
) -> None:
    company, other = company_of_three(person.stack), company_of_three(person.stack)
    person.sign_in()
    panel = open_from(person, person.look_at(company.website))
    shows(panel, company)
    panel.wait_for_load_state("networkidle")
    sent = len(person.network.to_api())

    person.visit(other.website)
    second = person.context.new_page()
    second.goto("http://www.elsewhere.test/")
    second.bring_to_front()

    shows(panel, company)
    assert len(person.network.to_api()) == sent
    panel.reload()
    shows(panel, company)


def test_the_side_panel_shows_the_page_whose_icon_was_clicked(person: Person) -> None:
    company, other = company_of_three(person.stack), company_of_three(person.stack)
    person.sign_in()
    panel = open_from(person, person.look_at(company.website))
    shows(panel, company)

    popup = person.look_at(other.website)

    shows(panel, other)
    shows(popup, other)
    popup.close()
    shows(panel, other)


def test_the_side_panel_reveals_and_saves_on_its_own(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    panel = open_from(person, person.look_at(company.website))

    panel.get_by_role("button", name="Ada Lovelace").click()
    panel.get_by_role("button", name="Reveal e-mail").click()

    expect(panel.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
    expect(panel.locator("header")).to_contain_text("99 credits")
    panel.get_by_text("Save this profile").click()
    panel.get_by_label("List", exact=True).fill("From the side")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_text("Saved in From the side")).to_be_visible()


def test_what_is_revealed_in_the_popup_shows_in_the_side_panel_at_once(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    url = person.plays_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace")
    panel = open_from(person, person.look_at(url))
    expect(panel.get_by_role("button", name="Reveal e-mail")).to_be_visible()
    popup = person.click_icon(person.tabs()[0])

    popup.get_by_role("button", name="Reveal e-mail").click()

    for page in (popup, panel):
        expect(page.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
        expect(page.locator("header")).to_contain_text("99 credits")
    assert len(person.network.to_api("/api/ext/reveal/email")) == 1


def test_in_the_side_panel_a_page_of_the_browser_is_nothing_to_look_up(person: Person) -> None:
    person.sign_in()

    panel = open_from(person, person.click_icon(person.visit("chrome://version/")))

    expect(panel.get_by_role("heading")).to_have_text("Nothing to look up here")
    expect(panel.locator("main")).to_contain_text("Click the toolbar icon on a page")


def test_a_profile_left_behind_is_not_read_from_the_page_that_took_its_place(person: Person) -> None:
    person.sign_in()
    first = person.plays_profile("left-behind-one", "First Person", "Baker")
    second = person.plays_profile("left-behind-two", "Second Person", "Butcher")
    panel = open_from(person, person.look_at(first))
    expect(panel.get_by_role("heading", level=1)).to_have_text("First Person")
    person.visit(second)

    panel.get_by_role("button", name="History").click()
    panel.get_by_role("button", name="Back").click()

    expect(panel.get_by_text("Not known yet", exact=True)).to_be_visible()
    expect(panel.locator("body")).not_to_contain_text("Second Person")
    expect(panel.locator("body")).not_to_contain_text("Butcher")
    assert not [
        sent for sent in person.network.to_api() if "Second" in sent.text or "left-behind-two" in sent.text
    ]
