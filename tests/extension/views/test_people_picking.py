"""Picking people of a page with the mouse and the keyboard, filters, and putting them on a list."""

from __future__ import annotations

import re

import pytest
from chromium_support import BrowserUser
from people_page_support import Somebody, own, put_into_crm, serve_people, somebodies, store
from playwright.sync_api import Locator, Page, expect
from proxy_support import problem_reply

from app.domain.exclusions import Kind, Reason
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusions
from app.engine.exclusions.exclusions import Entry
from app.infra import clock
from app.web.pages import value_words

LOOKUP = "/api/ext/lookup"
LISTS = "/api/lists"


@pytest.fixture
def signed_in(user: BrowserUser) -> BrowserUser:
    user.sign_in()
    return user


def row(page: Page, one: Somebody) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(one.name, exact=True))


def box(page: Page, one: Somebody) -> Locator:
    return row(page, one).get_by_role("checkbox")


def all_of(page: Page) -> Locator:
    return page.locator(".picking").get_by_role("checkbox")


def popup_of(user: BrowserUser, people: list[Somebody]) -> Page:
    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, people[-1])).to_contain_text(re.compile("Not known yet|Revealed|In HubSpot|•"))
    return popup


def picked(page: Page) -> int:
    return page.locator(".people-on-page li :checked").count()


def test_all_some_and_nobody_are_picked_with_one_box(signed_in: BrowserUser) -> None:
    people = somebodies(3)
    popup = popup_of(signed_in, people)

    box(popup, people[0]).check()
    expect(all_of(popup)).to_be_checked(indeterminate=True)
    expect(popup.locator(".picking")).to_contain_text("1 of 3 picked")
    all_of(popup).check()
    assert picked(popup) == 3
    expect(popup.get_by_text("3 people picked · at most 3 credits")).to_be_visible()
    all_of(popup).uncheck()

    assert picked(popup) == 0
    expect(popup.get_by_role("button", name="Find contacts")).to_be_disabled()
    expect(popup.get_by_role("button", name="Put on a list")).to_be_disabled()


def test_the_excluded_and_the_suppressed_cannot_be_picked(signed_in: BrowserUser) -> None:
    people = somebodies(3)
    entry = Entry(Kind.LINKEDIN_URL, people[0].profile, Reason.CUSTOMER)
    with signed_in.stack.database.transaction() as session:
        exclusions.add(session, signed_in.workspace, [entry], created_by="acc_1", now=clock.now())
        opted_out = [Identifier("linkedin_url", people[1].profile)]
        suppressions.suppress(session, opted_out, reason="asked", now=clock.now())
    popup = popup_of(signed_in, people)

    tones = value_words.RESULTS  # of the pages
    excluded = row(popup, people[0]).locator(f".badge.{tones['excluded'].tone}")
    expect(excluded).to_have_text("Excluded: customer")
    expect(row(popup, people[1]).locator(f".badge.{tones['suppressed'].tone}")).to_have_text("Opted out")
    all_of(popup).check()

    assert [box(popup, one).is_disabled() for one in people] == [True, True, False]
    assert picked(popup) == 1


def test_a_filter_leaves_rows_and_all_picks_only_those(signed_in: BrowserUser) -> None:
    people = somebodies(6)
    own(signed_in, people[:2])
    store(signed_in, people[2:3])
    put_into_crm(signed_in, people[3:4])
    popup = popup_of(signed_in, people)
    choice = popup.get_by_label("Show")
    expect(choice.locator("option")).to_have_text(
        ["All (6)", "New to you (3)", "With e-mail (3)", "Revealed or in your systems (3)"]
    )

    choice.select_option("New to you (3)")
    all_of(popup).check()
    expect(popup.locator(".people-on-page li:visible")).to_have_count(3)
    choice.select_option("All (6)")

    assert [box(popup, one).is_checked() for one in people] == [False, False, True, False, True, True]


def test_everybody_between_two_clicks_is_picked_with_the_shift_key(signed_in: BrowserUser) -> None:
    people = somebodies(6)
    popup = popup_of(signed_in, people)

    box(popup, people[1]).click()
    box(popup, people[4]).click(modifiers=["Shift"])

    assert [box(popup, one).is_checked() for one in people] == [False, True, True, True, True, False]


def test_people_are_picked_with_the_keyboard_alone(signed_in: BrowserUser) -> None:
    people = somebodies(3)
    popup = popup_of(signed_in, people)
    popup.get_by_label("Show").focus()

    for key in (
        "Tab",
        "Space",
        "ArrowDown",
        "ArrowDown",
        "Space",
        "ArrowDown",
        "ArrowUp",
        "ArrowUp",
        "ArrowUp",
    ):
        popup.keyboard.press(key)

    assert [box(popup, one).is_checked() for one in people] == [True, False, True]
    expect(box(popup, people[0])).to_be_focused()


def test_who_was_picked_is_still_picked_when_the_popup_opens_again(signed_in: BrowserUser) -> None:
    people = somebodies(3)
    popup = popup_of(signed_in, people)
    box(popup, people[1]).check()
    expect(popup.get_by_text("1 person picked")).to_be_visible()
    popup.close()

    popup = popup_of(signed_in, people)

    expect(box(popup, people[1])).to_be_checked()
    assert picked(popup) == 1


def test_a_person_is_opened_and_the_list_is_as_before_after_going_back(signed_in: BrowserUser) -> None:
    people = somebodies(3)
    store(signed_in, people[:1])
    popup = popup_of(signed_in, people)
    box(popup, people[1]).check()

    popup.get_by_role("button", name=f"Open {people[0].name}").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_role("link", name=people[0].email)).to_be_visible()
    popup.get_by_role("button", name="Back").click()

    expect(row(popup, people[0])).to_contain_text("Revealed")
    expect(row(popup, people[0]).get_by_role("link", name=people[0].email)).to_be_visible()
    expect(box(popup, people[1])).to_be_checked()


def test_two_hundred_people_are_shown_at_once_and_looked_up_in_four_requests(signed_in: BrowserUser) -> None:
    people = somebodies(200)
    popup = popup_of(signed_in, people)

    milliseconds = popup.evaluate(
        """() => {
          const started = performance.now();
          document.querySelector(".picking input").click();
          document.body.offsetHeight; // with the layout
          return performance.now() - started;
        }"""
    )

    assert [len(sent.json["subjects"]) for sent in signed_in.proxy.api_requests(LOOKUP)] == [50] * 4
    assert picked(popup) == 200
    print(f"\nall of 200 are picked in {milliseconds:.0f} ms")  # noqa: T201 -- shown with -s
    assert milliseconds < 5000
    popup.get_by_role("button", name="Find contacts").click()
    expect(popup.get_by_text("One search takes 100 people, and you picked 200.")).to_be_visible()
    expect(popup.get_by_role("button", name="Find 200 people")).to_have_count(0)
    popup.get_by_role("button", name="Keep the first 100").click()
    expect(popup.get_by_role("button", name="Find 100 people · at most 100 credits")).to_be_enabled()


def test_a_lookup_that_fails_can_be_tried_again(signed_in: BrowserUser) -> None:
    people = somebodies(60)
    with signed_in.proxy.replying(LOOKUP, problem_reply(429, "rate_limited", retry_after=1)):
        popup = signed_in.open_popup_on(serve_people(signed_in, people))
        expect(popup.get_by_role("alert")).to_contain_text("Too many requests")

    popup.get_by_role("button", name="Try again").click()

    expect(row(popup, people[-1])).to_contain_text("Not known yet")
    expect(popup.get_by_role("alert")).to_have_count(0)


def test_people_with_and_without_a_stored_contact_are_put_on_a_list_in_one_request(
    signed_in: BrowserUser,
) -> None:
    people = somebodies(5)
    store(signed_in, people[:2])
    signed_in.stack.call("POST", LISTS, {"name": "Autumn"}, Authorization=signed_in.token)
    popup = popup_of(signed_in, people)
    for one in people[:4]:
        box(popup, one).check()

    popup.get_by_role("button", name="Put on a list").click()
    expect(popup.locator("#people-lists option[value=Autumn]")).to_be_attached()
    popup.get_by_label("List", exact=True).fill("Autumn")
    popup.get_by_role("button", name="Add 4 people").click()

    expect(popup.locator(".people-actions .success")).to_have_text("4 people added to Autumn")
    expect(row(popup, people[3]).get_by_title("Saved")).to_be_visible()
    [change] = signed_in.proxy.api_requests(f"{LISTS}/")
    assert (len(change.json["add"]), len(change.json["profiles"])) == (2, 2)
    assert set(change.json["profiles"][0]) == {"linkedin_url", "full_name"}
    lists = signed_in.stack.call("GET", LISTS, Authorization=signed_in.token).body["lists"]
    assert [(one["name"], one["count"]) for one in lists] == [("Autumn", 4)]


def test_a_list_that_cannot_be_changed_says_why(signed_in: BrowserUser) -> None:
    people = somebodies(2)
    popup = popup_of(signed_in, people)
    box(popup, people[0]).check()
    popup.get_by_role("button", name="Put on a list").click()
    popup.get_by_label("List", exact=True).fill("New")

    with signed_in.proxy.replying(f"{LISTS}/", problem_reply(503, "unavailable")):
        popup.get_by_role("button", name="Add 1 person").click()
        expect(popup.get_by_role("alert")).to_contain_text("temporarily unavailable")

    popup.get_by_role("button", name="Add 1 person").click()
    expect(popup.locator(".people-actions .success")).to_have_text("1 person added to New")


def test_the_people_of_a_website_are_offered_and_not_looked_up_until_then(signed_in: BrowserUser) -> None:
    people = somebodies(2)

    popup = signed_in.open_popup_on(serve_people(signed_in, people, "http://people.test/"))

    expect(popup.get_by_text("No company is known for people.test")).to_be_visible()
    assert signed_in.proxy.api_requests("/api/ext/lookup") == []
    popup.get_by_role("button", name="2 people on this page").click()
    expect(popup.get_by_role("listitem")).to_have_count(2)
    expect(popup.get_by_text("Not known yet")).to_have_count(2)


def test_the_company_of_a_company_page_with_people_can_be_opened(signed_in: BrowserUser) -> None:
    url = "https://www.linkedin.com/company/acme-of-the-list/people/"
    popup = signed_in.open_popup_on(serve_people(signed_in, somebodies(2), url))

    popup.get_by_role("button", name="The company of this page").click()

    expect(popup.get_by_text("No company is known for")).to_be_visible()


def test_the_side_panel_reads_the_page_again_at_each_click_on_the_icon(signed_in: BrowserUser) -> None:
    people = somebodies(4)
    popup_of(signed_in, people[:2]).close()
    panel = signed_in.open_panel()
    expect(panel.get_by_role("heading", level=1)).to_have_text("2 people on this page")

    popup_of(signed_in, people).close()

    expect(panel.get_by_role("heading", level=1)).to_have_text("4 people on this page")
