"""The people of a page in the CRM: the walk of a recruiter, from a search page to records in Twenty."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from chromium_support import BrowserUser
from fake_crms import FakeTwenty
from people_page_support import (
    FindsEverybody,
    Somebody,
    connect_twenty,
    own,
    serve_people,
    somebodies,
)
from playwright.sync_api import Locator, Page, expect
from proxy_support import problem_reply
from pytest_httpserver import HTTPServer
from vendors_support import FakeVendors

ENRICHMENT = "/api/ext/enrichment-request"
PUSHES = "/api/crm/pushes"
PACED_MS = 60_000  # Twenty takes 100 requests a minute, of which a turn uses a quarter


@pytest.fixture
def crm() -> Iterator[FakeTwenty]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield FakeTwenty(server)


@pytest.fixture
def prospeo(vendors: FakeVendors) -> FindsEverybody:
    return FindsEverybody(vendors)


def row(page: Page, one: Somebody) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(one.name, exact=True))


def actions(page: Page) -> Locator:
    return page.get_by_role("region", name="With the people you picked")


def pick(page: Page, people: list[Somebody]) -> None:
    for one in people:
        row(page, one).get_by_role("checkbox").check()


def push_picked(page: Page, label: str) -> None:
    """Open the form, and press its button."""
    actions(page).get_by_role("button", name="Push to CRM", expanded=False).click()
    actions(page).get_by_role("button", name=label).click()


def addresses(crm: FakeTwenty) -> Counter[str | None]:
    """Return how many records of Twenty have each address, None for those without one."""
    return Counter((record.get("emails") or {}).get("primaryEmail") for record in crm.people.values())


def pushes(user: BrowserUser) -> list[Any]:
    return [sent for sent in user.proxy.api_requests(PUSHES) if sent.method == "POST"]


def test_the_walk_of_a_recruiter(user: BrowserUser, prospeo: FindsEverybody, crm: FakeTwenty) -> None:
    people = somebodies(25)
    owned, in_crm, found, others = people[:4], people[4:7], people[7:12], people[12:]
    user.sign_in()
    own(user, owned)
    connect_twenty(user, crm, in_crm)
    prospeo.know(found)
    before, records = user.balance(), dict(crm.people)

    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, owned[0])).to_contain_text("Revealed")
    expect(row(popup, in_crm[0])).to_contain_text("In Twenty")
    expect(row(popup, others[0])).to_contain_text("Not known yet")
    pick(popup, [*owned, *in_crm, *found])
    expect(popup.get_by_text("12 people picked · at most 5 credits")).to_be_visible()
    popup.get_by_role("button", name="Find contacts").click()
    expect(popup.get_by_text("4 revealed already, 3 left out, 5 to find.")).to_be_visible()
    popup.get_by_role("button", name="Find 5 people · at most 5 credits").click()

    result = actions(popup).locator(".success").first
    expect(result).to_have_text("9 of 12 found or revealed already. Charged: 5 credits.")
    for one in found:
        expect(row(popup, one).get_by_role("link", name=one.email)).to_be_visible()
        expect(row(popup, one)).to_contain_text("Cost 1 credit")
    expect(row(popup, in_crm[0])).to_contain_text("Skipped")
    receipt = popup.get_by_role("link", name="Receipt")
    expect(receipt).to_have_attribute("href", re.compile(rf"^{user.server}/history/job_\w+$"))
    assert before - user.balance() == 5
    [request] = [sent.json for sent in user.proxy.api_requests(ENRICHMENT) if not sent.json.get("dry_run")]
    assert (len(request["items"]), request["max_credits"], request["skip"]) == (12, 5, ["crm"])

    by_hand = {"name": {"firstName": "By", "lastName": "Hand"}, "emails": {"primaryEmail": owned[0].email}}
    crm.people["00000000-0000-4000-8000-000000000001"] = by_hand  # a colleague creates one meanwhile
    actions(popup).locator(".push-found").click()
    actions(popup).get_by_role("button", name="Push 9 people to Twenty").click()

    expect(actions(popup)).to_contain_text("Twenty: 8 created, 1 updated.", timeout=PACED_MS)
    expect(row(popup, owned[0])).to_contain_text("Updated in Twenty")
    for one in (*owned[1:], *found):
        expect(row(popup, one)).to_contain_text("Created in Twenty")
    expect(actions(popup).get_by_role("link", name="Receipt").last).to_have_attribute(
        "href", re.compile(rf"^{user.server}/crm/pushes/psh_\w+$")
    )
    assert {id_: crm.people[id_] for id_ in records} == records  # those whom it had are not touched
    assert addresses(crm) == Counter({one.email: 1 for one in (*owned, *found)} | {None: 4})
    assert before - user.balance() == 5
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name="12 people")).to_contain_text("5 credits")


def test_who_is_pushed_twice_exists_once(user: BrowserUser, crm: FakeTwenty) -> None:
    people = somebodies(3)
    user.sign_in()
    own(user, people[:2])
    connect_twenty(user, crm)
    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, people[0])).to_contain_text("Revealed")
    pick(popup, people)
    actions(popup).get_by_role("button", name="Push to CRM").click()
    expect(actions(popup)).to_contain_text(
        "1 person can be pushed only once an address or a number is revealed."
    )
    actions(popup).get_by_role("button", name="Push 2 people to Twenty").click()
    expect(actions(popup)).to_contain_text("Twenty: 2 created.")

    pick(popup, people[:2])
    push_picked(popup, "Push 2 people to Twenty")

    expect(actions(popup)).to_contain_text("Twenty: 2 had everything already.")
    assert addresses(crm) == Counter({one.email: 1 for one in people[:2]} | {None: 1})


def test_a_push_goes_on_and_is_shown_again_when_the_popup_was_closed(
    user: BrowserUser, crm: FakeTwenty
) -> None:
    people = somebodies(2)
    user.sign_in()
    own(user, people)
    connect_twenty(user, crm)
    url = serve_people(user, people)
    popup = user.open_popup_on(url)
    expect(row(popup, people[1])).to_contain_text("Revealed")
    pick(popup, people)
    with user.proxy.replying(PUSHES, problem_reply(503, "unavailable", retryable=True)):
        push_picked(popup, "Push 2 people to Twenty")
        expect(actions(popup)).to_contain_text("Nobody is pushed twice.")
        popup.close()
    assert addresses(crm) == Counter({None: 1})

    user.trigger_alarm_until(lambda: user.badge_text() == "1")
    popup = user.open_popup_on(url)

    expect(actions(popup)).to_contain_text("Twenty: 2 created.")
    expect(row(popup, people[0])).to_contain_text("Created in Twenty")
    assert addresses(crm) == Counter({one.email: 1 for one in people} | {None: 1})
    assert len({sent.headers["Idempotency-Key"] for sent in pushes(user)}) == 1
    actions(popup).get_by_role("button", name="Done").click()
    expect(row(popup, people[0])).not_to_contain_text("Twenty")
    assert user.stored_requests() == []


def test_values_stay_as_they_are_while_a_push_goes_on(user: BrowserUser, crm: FakeTwenty) -> None:
    people = somebodies(2)
    user.sign_in()
    own(user, people)
    connect_twenty(user, crm)
    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, people[1])).to_contain_text("Revealed")
    pick(popup, people)
    with user.proxy.holding(PUSHES):
        push_picked(popup, "Push 2 people to Twenty")
        expect(row(popup, people[0])).to_contain_text("Pushing to Twenty")
        link = row(popup, people[0]).get_by_role("link")
        link.evaluate("element => element.classList.add('first')")

        user.change_request(popup, failures=1)

        expect(row(popup, people[0]).locator("a.first")).to_be_visible()


def test_who_is_refused_by_the_crm_says_why(user: BrowserUser, crm: FakeTwenty) -> None:
    people = somebodies(2)
    user.sign_in()
    own(user, people)
    connect_twenty(user, crm)
    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, people[1])).to_contain_text("Revealed")
    pick(popup, people)
    in_trash = {"emails": {"primaryEmail": people[0].email}, "deletedAt": "2026-11-01T00:00:00.000Z"}
    crm.people["00000000-0000-4000-8000-000000000001"] = in_trash

    push_picked(popup, "Push 2 people to Twenty")

    expect(actions(popup)).to_contain_text("Twenty: 1 created, 1 refused.")
    expect(popup.locator(".people-on-page li .error")).to_have_text(re.compile("in the CRM's trash"))


def test_who_may_not_push_or_has_no_crm_sees_no_button(user: BrowserUser, crm: FakeTwenty) -> None:
    people = somebodies(2)
    user.sign_in()
    own(user, people)
    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, people[1])).to_contain_text("Revealed")
    expect(actions(popup).get_by_role("button", name="Put on a list")).to_be_visible()
    expect(actions(popup).get_by_role("button", name="Push to CRM")).to_have_count(0)
    popup.close()
    connect_twenty(user, crm)
    session = user.get_storage("session")["session"]
    scopes = [scope for scope in session["auth"]["scopes"] if scope != "save"]
    with user.proxy.replying("/api/ext/session", problem_reply(503, "unavailable")):
        user.set_storage("session", session=session | {"auth": session["auth"] | {"scopes": scopes}})

        popup = user.open_popup_on(serve_people(user, people))

        expect(row(popup, people[1])).to_contain_text("Revealed")
        expect(actions(popup).get_by_role("button", name="Push to CRM")).to_have_count(0)
    assert [sent for sent in user.proxy.api_requests("/api/crm/connections") if sent.method == "GET"]
