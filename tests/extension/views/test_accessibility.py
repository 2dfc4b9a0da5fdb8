"""Accessibility: keyboard only, light and dark, 200 % zoom, screen reader."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from chromium_support import BrowserUser
from company_support import Company, create_company
from e2e_stack import Stack
from fake_crms import FakeTwenty
from people_page_support import (
    FindsEverybody,
    connect_twenty,
    of_company,
    own,
    serve_people,
    somebodies,
)
from playwright.sync_api import Page, expect
from polling import wait_until
from proxy_support import problem_reply
from pytest_httpserver import HTTPServer
from vendors_support import FakeVendors, Responder, prospeo_finds
from werkzeug import Request

pytestmark = pytest.mark.release

NARROWEST_PANEL = 190  # CSS pixels: a side panel of 380 at 200 %
HALF_A_POPUP = {"width": 400, "height": 300}  # Chrome's largest popup, 800 by 600, at 200 %
MIN_TARGET_SIZE = 24
MAX_TAB_PRESSES = 60
RESULT_LINE: tuple[tuple[Literal["link", "button"], str], ...] = (
    ("link", "Receipt"),
    ("button", "Done"),
    ("button", "Push those found"),
)
PUSHED_MS = 60_000  # Twenty takes 100 requests a minute
ALL_RULES = {"resultTypes": ["violations"]}
COLOUR_RULES = ALL_RULES | {"runOnly": ["color-contrast", "link-in-text-block"]}
DESCRIBE_STRUCTURE = """() => {
  const visible = (node) => node.checkVisibility() && !node.closest(".visually-hidden");
  const target = (node) => (node.matches("[type=checkbox], [type=radio]") ? node.closest("label") : node);
  const area = (node) => target(node).getBoundingClientRect();
  const describe = (node) => `${node.outerHTML.slice(0, 120)} ${area(node).width}x${area(node).height}`;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const controls = all("a, button, input, select, summary, textarea").filter(visible);
  const headings = all("h1, h2, h3, h4").filter((node) => node.checkVisibility());
  return {
    lang: document.documentElement.lang,
    title: document.title,
    headings: headings.map((node) => Number(node.tagName[1])),
    small: controls.filter((node) => Math.min(area(node).width, area(node).height) < SMALLEST).map(describe),
  };
}""".replace("SMALLEST", str(MIN_TARGET_SIZE))
FIND_CUT_OFF = """() => {
  const root = document.documentElement;
  const found = root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth} wide`] : [];
  for (const node of document.body.querySelectorAll("*")) {
    if (!node.checkVisibility() || node.closest(".visually-hidden, svg, datalist")) continue;
    const { left, right } = node.getBoundingClientRect();
    const hides = getComputedStyle(node).overflowX !== "visible" && !node.matches("input, select, textarea");
    const isWide = hides && node.scrollWidth > node.clientWidth + 1;
    if (left < -1 || right > root.clientWidth + 1 || isWide) found.push(node.outerHTML.slice(0, 150));
  }
  return found;
}"""
FIND_UNREACHABLE = """() => {
  const found = [];
  for (const node of document.querySelectorAll("button, a, input, select, summary, textarea")) {
    if (!node.checkVisibility() || node.disabled) continue;
    node.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!hit || !(node.contains(hit) || hit.contains(node))) found.push(node.outerHTML.slice(0, 150));
  }
  scrollTo(0, 0);
  return found;
}"""
DESCRIBE_FOCUS = """() => {
  const node = document.activeElement;
  const style = getComputedStyle(node);
  const { top, bottom, width } = node.getBoundingClientRect();
  return {
    name: node.getAttribute("aria-label") ?? node.labels?.[0]?.textContent ?? node.textContent ?? "",
    isPage: node === document.body || node === document.documentElement,
    ring: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    isThere: width > 0 && bottom > 0 && top < innerHeight,
  };
}"""
RECORD_ANNOUNCEMENTS = """() => {
  window.announced = [];
  const region = document.getElementById("announcements");
  new MutationObserver(() => window.announced.push(region.textContent)).observe(region, { childList: true });
}"""


@pytest.fixture
def company(stack: Stack) -> Company:
    return create_company(stack)


@pytest.fixture
def hunter_may_reply(vendors: FakeVendors) -> Iterator[threading.Event]:
    """Make Hunter report a miss, once the event is set."""
    yield from _hold_replies(vendors, "hunter", vendors.responders["hunter"])


@pytest.fixture
def prospeo_may_reply(vendors: FakeVendors) -> Iterator[threading.Event]:
    """Make Prospeo return an address for every person, once the event is set."""
    yield from _hold_replies(vendors, "prospeo", prospeo_finds(f"ada.{secrets.token_hex(4)}@northwind.dev"))


def _hold_replies(vendors: FakeVendors, name: str, respond: Responder) -> Iterator[threading.Event]:
    event = threading.Event()

    def reply(request: Request) -> tuple[int, Any]:
        event.wait(30)
        return respond(request)

    vendors.responders[name] = reply
    yield event
    event.set()


def test_signing_in_is_accessible_in_light_and_dark(user: BrowserUser) -> None:
    popup = user.open_popup_on("http://quiet.test/")
    expect(popup.get_by_label("Password")).to_be_visible()

    popup.emulate_media(color_scheme="dark")
    assert _brightness(popup) < 60
    popup.emulate_media(color_scheme="light")
    assert _brightness(popup) > 195
    _assert_accessible(popup, "sign-in")
    user.submit_sign_in(popup, server="ftp://nowhere")
    expect(popup.get_by_role("alert")).to_be_visible()
    _assert_accessible(popup, "sign-in with a wrong server")
    user.submit_sign_in(popup, password="wrong")
    expect(popup.get_by_role("alert")).to_have_text("Wrong e-mail or password.")
    _assert_accessible(popup, "sign-in with a wrong password")


def test_a_company_and_a_reveal_are_accessible_in_light_and_dark(
    user: BrowserUser, company: Company, prospeo_may_reply: threading.Event
) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    _assert_accessible(popup, "company and leads")

    popup.get_by_role("button", name="Cleo Clarke").click()
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.get_by_text("Searching Prospeo")).to_be_visible()
    _assert_accessible(popup, "asking")
    prospeo_may_reply.set()
    expect(popup.get_by_role("link", name="northwind.dev")).to_be_visible()
    popup.get_by_text("Receipt").click()
    _assert_accessible(popup, "found, with the receipt of a waterfall open")

    popup.get_by_role("button", name="Back").click()
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_role("button", name="Reveal phone")).to_be_visible()
    _assert_accessible(popup, "person masked")
    popup.get_by_role("button", name="Reveal e-mail").click()
    popup.get_by_text("Receipt").click()
    popup.get_by_text("Save this profile").click()
    expect(popup.get_by_label("Note")).to_be_visible()
    _assert_accessible(popup, "revealed, with the receipt and the form to save open")
    popup.get_by_label("List").fill("Engineers")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Engineers")).to_be_visible()
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    _assert_accessible(popup, "history")
    popup.get_by_role("button", name="Ada Lovelace").click()
    popup.get_by_text("Receipt").click()
    _assert_accessible(popup, "one request of the history")
    popup.get_by_role("button", name="Settings").click()
    expect(popup.get_by_role("radio")).to_have_count(3)
    _assert_accessible(popup, "settings")


def test_empty_states_and_errors_are_accessible_in_light_and_dark(
    user: BrowserUser, company: Company, prospeo_may_reply: threading.Event
) -> None:
    user.sign_in()
    profile = user.serve_profile(f"stranger-{secrets.token_hex(4)}", "Ada Stranger", "Engineer at Northwind")

    popup = user.open_popup_on("about:blank")
    expect(popup.get_by_text("Nothing to look up here")).to_be_visible()
    _assert_accessible(popup, "nothing to look up")
    popup.get_by_role("searchbox").fill("nobody")
    popup.keyboard.press("Enter")
    _assert_accessible(popup, "an invalid search")
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_text("Nothing has been revealed yet")).to_be_visible()
    _assert_accessible(popup, "history, empty")
    popup.close()

    popup = user.open_popup_on(f"http://unknown-{secrets.token_hex(4)}.test/")
    expect(popup.get_by_text("No company is known")).to_be_visible()
    _assert_accessible(popup, "unknown company")
    popup.close()

    with user.proxy.replying("/api/ext/lookup", problem_reply(429, "rate_limited", retry_after=30)):
        popup = user.open_popup_on(profile)
        expect(popup.get_by_role("alert")).to_contain_text("Too many requests")
        _assert_accessible(popup, "a failure with a countdown")
        popup.close()

    popup = user.open_popup_on(profile)
    expect(popup.get_by_role("button", name="Look up everything")).to_be_visible()
    _assert_accessible(popup, "unknown person")
    popup.get_by_role("button", name="Look up everything").click()
    expect(popup.get_by_text("You can close this")).to_be_visible()
    _assert_accessible(popup, "enrichment running")


def test_the_people_of_a_page_are_accessible_in_light_and_dark(
    user: BrowserUser, company: Company, prospeo_may_reply: threading.Event
) -> None:
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, [*of_company(company), *somebodies(2)]))
    expect(popup.get_by_text("Not known yet").first).to_be_visible()
    popup.get_by_label("Pick all").check()
    _assert_accessible(popup, "people picked")
    popup.get_by_role("button", name="Put on a list").click()
    _assert_accessible(popup, "putting people on a list")
    popup.get_by_role("button", name="Find contacts").click()
    expect(popup.get_by_role("button", name="Find 5 people")).to_be_enabled()
    _assert_accessible(popup, "price of people")
    popup.get_by_role("button", name="Find 5 people").click()
    expect(popup.get_by_text("In progress").first).to_be_visible()
    _assert_accessible(popup, "people requested")
    prospeo_may_reply.set()
    expect(popup.get_by_role("button", name="Done")).to_be_visible()
    _assert_accessible(popup, "people found")


def test_people_of_a_page_are_picked_and_found_by_keyboard(user: BrowserUser, company: Company) -> None:
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, of_company(company)))
    expect(popup.locator(".people-on-page").get_by_text("a•••••@")).to_be_visible()
    popup.evaluate(RECORD_ANNOUNCEMENTS)

    _tab_to(popup, "Pick all")
    _tab_to(popup, "Ada Lovelace")
    popup.keyboard.press("Space")
    _tab_to(popup, "Find contacts")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("checkbox", name="E-mail")).to_be_focused()
    expect(popup.get_by_role("button", name="Find 1 person · at most 1 credit")).to_be_enabled()
    _tab_to(popup, "Find 1 person")
    popup.keyboard.press("Enter")

    expect(popup.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
    expect(popup.get_by_text("Pick the people you want.")).to_be_focused()
    assert popup.evaluate("announced").pop() == "1 of 1 found or revealed already. Charged: 1 credit."


def test_a_recruiter_picks_buys_and_pushes_by_keyboard(user: BrowserUser, vendors: FakeVendors) -> None:
    people = somebodies(4)
    user.sign_in()
    own(user, people[:1])
    FindsEverybody(vendors).know(people[1:3])
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        connect_twenty(user, FakeTwenty(server))
        popup = user.open_popup_on(serve_people(user, people))
        expect(popup.get_by_text("Revealed", exact=True)).to_be_visible()
        expect(popup.get_by_role("button", name="Push to CRM")).to_be_visible()

        _tab_to(popup, people[0].name)
        popup.keyboard.press("Space")
        for _one in people[1:3]:
            popup.keyboard.press("ArrowDown")
            popup.keyboard.press("Space")
        expect(popup.get_by_text("3 people picked")).to_be_visible()
        _tab_to(popup, "Find contacts")
        popup.keyboard.press("Enter")
        expect(popup.get_by_role("checkbox", name="E-mail")).to_be_focused()
        expect(popup.get_by_role("button", name="Find 2 people · at most 2 credits")).to_be_enabled()
        _tab_to(popup, "Find 2 people")
        popup.keyboard.press("Enter")
        actions = popup.get_by_role("region", name="With the people you picked")
        expect(actions).to_contain_text("3 of 3 found or revealed already. Charged: 2 credits.")
        expect(popup.locator("#people-summary")).to_be_focused()
        boxes = [actions.get_by_role(role, name=name).bounding_box() for role, name in RESULT_LINE]
        assert len({round(box["y"] + box["height"] / 2) for box in boxes if box}) == 1
        _tab_to(popup, "Push those found")
        popup.keyboard.press("Enter")
        expect(popup.get_by_role("button", name="Push 3 people to Twenty")).to_be_focused()
        popup.keyboard.press("Enter")
        expect(actions).to_contain_text("Twenty: 3 created.", timeout=PUSHED_MS)
        _tab_to(popup, "Done")
        popup.keyboard.press("Enter")

        expect(popup.locator("#people-summary")).to_be_focused()
        expect(popup.get_by_role("button", name="Done")).to_have_count(1)  # that of the push


@pytest.mark.parametrize("place", ["side panel", "popup"])
def test_at_200_percent_the_people_of_a_page_are_all_there(
    user: BrowserUser, company: Company, place: str
) -> None:
    user.sign_in()
    people = [*of_company(company), *somebodies(3)]
    popup = user.open_popup_on(serve_people(user, people))
    expect(popup.get_by_text("6 people on this page")).to_be_visible()
    popup.close()
    panel = user.open_panel()
    panel.set_viewport_size(
        {"width": NARROWEST_PANEL, "height": 400} if place == "side panel" else HALF_A_POPUP
    )
    expect(panel.get_by_text("Not known yet").first).to_be_visible()
    panel.get_by_role("checkbox", name="Pick all").check()
    _assert_nothing_cut_off(panel, "people picked")
    panel.get_by_role("button", name="Find contacts").click()
    expect(panel.get_by_role("button", name="Find 6 people")).to_be_enabled()
    _assert_nothing_cut_off(panel, "price of people")
    panel.get_by_role("button", name="Put on a list").click()
    _assert_nothing_cut_off(panel, "putting people on a list")


def test_every_step_works_by_keyboard_with_a_visible_focus(user: BrowserUser, company: Company) -> None:
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_label("Server")).to_be_visible()

    for label, text in (("Server", user.server), ("E-mail", user.email), ("Password", "wrong")):
        _tab_to(popup, label)
        popup.keyboard.type(text)
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("alert")).to_have_text("Wrong e-mail or password.")
    expect(popup.get_by_label("Password")).to_be_focused()
    popup.keyboard.press("ControlOrMeta+a")
    popup.keyboard.type("correct horse battery staple")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("button", name="Show company and people")).to_be_visible()
    _tab_to(popup, "Show company and people")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("heading", name=company.name)).to_be_focused()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    _tab_to(popup, "Ada Lovelace")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("heading", name="Ada Lovelace")).to_be_focused()
    _tab_to(popup, "Reveal e-mail")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
    _tab_to(popup, "Copy")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("button", name="Copied")).to_be_focused()
    _tab_to(popup, "Receipt")
    popup.keyboard.press("Space")
    expect(popup.get_by_text("Job job_")).to_be_visible()
    _tab_to(popup, "Back")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("heading", name=company.name)).to_be_focused()
    _tab_to(popup, "Settings")
    popup.keyboard.press("Space")
    _tab_to(popup, "Most private")
    popup.keyboard.press("ArrowDown")

    expect(popup.get_by_role("radio", name="More private")).to_be_checked()
    wait_until(lambda: user.get_storage("local")["settings"]["lookupBy"] == "prefix")


@pytest.mark.parametrize("place", ["side panel", "popup"])
def test_at_200_percent_nothing_is_cut_off_and_every_control_is_reachable(
    user: BrowserUser, company: Company, place: str, prospeo_may_reply: threading.Event
) -> None:
    panel = user.context.new_page()
    panel.set_viewport_size(
        {"width": NARROWEST_PANEL, "height": 400} if place == "side panel" else HALF_A_POPUP
    )
    panel.goto(
        f"chrome-extension://{user.extension_id}/panel.html" + ("?side" if place == "side panel" else "")
    )
    expect(panel.get_by_label("Password")).to_be_visible()
    _assert_nothing_cut_off(panel, "sign-in")
    user.submit_sign_in(panel, password="wrong")
    expect(panel.get_by_role("alert")).to_be_visible()
    _assert_nothing_cut_off(panel, "sign-in with an error")

    user.sign_in()
    panel.reload()
    if place == "popup":  # the popup's own tab is the active tab
        panel.get_by_role("searchbox").fill(company.profiles["Ada"])
        panel.keyboard.press("Enter")
    else:
        _open_and_close_popup(user, company)
        panel.bring_to_front()
        expect(panel.get_by_role("button", name="Ada Lovelace")).to_be_visible()
        _assert_nothing_cut_off(panel, "company")
        panel.get_by_role("button", name="Ada Lovelace").click()
    expect(panel.get_by_role("button", name="Reveal phone")).to_be_visible()
    _assert_nothing_cut_off(panel, "person masked")
    panel.get_by_role("button", name="Reveal e-mail").click()
    expect(panel.get_by_text("Receipt")).to_have_count(1)  # the card is drawn again, which could lose a click
    panel.get_by_role("button", name="Reveal phone").click()
    expect(panel.get_by_text("Receipt")).to_have_count(2)
    for receipt in panel.get_by_text("Receipt").all():
        receipt.click()
    panel.get_by_text("Save this profile").click()
    _assert_nothing_cut_off(panel, "person revealed, all open")
    panel.get_by_role("button", name="History").click()
    expect(panel.get_by_role("button", name="Ada Lovelace")).to_have_count(2)
    _assert_nothing_cut_off(panel, "history")
    panel.get_by_role("button", name="Settings").click()
    expect(panel.get_by_role("radio")).to_have_count(3)
    _assert_nothing_cut_off(panel, "settings")
    panel.get_by_role("button", name="Back").click()
    if place == "popup":
        panel.get_by_role("searchbox").fill(company.profiles["Cleo"])
        panel.keyboard.press("Enter")
    else:
        panel.get_by_role("button", name="Cleo Clarke").click()
    panel.get_by_role("button", name="Find e-mail").click()
    expect(panel.get_by_text("Searching Prospeo")).to_be_visible()
    _assert_nothing_cut_off(panel, "asking")
    prospeo_may_reply.set()
    expect(panel.get_by_role("link", name="northwind.dev")).to_be_visible()
    panel.get_by_text("Receipt").click()
    _assert_nothing_cut_off(panel, "receipt of a waterfall")


def test_a_screen_reader_announces_the_progress_and_the_result(
    user: BrowserUser,
    company: Company,
    hunter_may_reply: threading.Event,
    prospeo_may_reply: threading.Event,
) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    popup.get_by_role("button", name="Cleo Clarke").click()
    expect(popup.get_by_role("button", name="Find e-mail")).to_be_visible()
    email = popup.get_by_role("region", name="E-mail", exact=True)
    popup.evaluate(RECORD_ANNOUNCEMENTS)

    email.get_by_role("button", name="Find e-mail").click()
    progress = email.get_by_role("status")
    expect(progress).to_have_text("Searching Hunter…")
    progress.evaluate("line => { line.isSameAsBefore = true; }")
    hunter_may_reply.set()
    expect(progress).to_have_text("Searched Hunter. Searching Prospeo…")
    assert progress.evaluate(
        "line => line.isSameAsBefore"
    )  # a change is announced only in a line that is not replaced
    prospeo_may_reply.set()
    expect(email.get_by_role("link", name="northwind.dev")).to_be_visible()
    popup.get_by_role("button", name="Find phone").click()
    phone = popup.get_by_role("region", name="Phone", exact=True)
    expect(phone).to_contain_text("Nothing found. Nothing was charged.")

    found = email.get_by_role("link", name="northwind.dev").text_content()
    assert popup.evaluate("announced") == [found, "Nothing found. Nothing was charged."]
    with user.proxy.replying("/api/ext/linkedin-save", problem_reply(422, "person_suppressed")):
        popup.get_by_text("Save this profile").click()
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_role("heading", level=1)).to_have_text("This person has opted out")
    assert popup.evaluate("announced").pop() == "This person has opted out"


def test_the_spinner_slows_down_for_users_who_prefer_reduced_motion(
    user: BrowserUser, prospeo_may_reply: threading.Event
) -> None:
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(f"still-{secrets.token_hex(4)}", "Ada Still"))
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.get_by_text("Searching Prospeo")).to_be_visible()
    turn = "getComputedStyle(document.querySelector('.spinner'))"

    usual = popup.evaluate(f"parseFloat({turn}.animationDuration)")
    popup.emulate_media(reduced_motion="reduce")
    reduced = popup.evaluate(
        f"{turn}.animationName === 'none' ? Infinity : parseFloat({turn}.animationDuration)"
    )

    assert usual < 2
    assert reduced >= 5


def _assert_accessible(panel: Page, state: str) -> None:
    for colours, options in (("dark", COLOUR_RULES), ("light", ALL_RULES)):
        panel.emulate_media(color_scheme=colours)
        results = _axe(panel).run(panel, options=options)
        assert results.violations_count == 0, f"{state}, {colours}: {results.generate_report()}"
    structure = panel.evaluate(DESCRIBE_STRUCTURE)
    steps = list(zip([0, *structure["headings"]], structure["headings"], strict=False))

    assert structure["lang"].startswith("en"), state
    assert structure["title"] == "Contact lookup", state
    assert structure["headings"], state
    assert all(below - above <= 1 for above, below in steps), (state, structure["headings"])
    assert structure["small"] == [], state


def _axe(panel: Page) -> Axe:
    """Return axe, without its script of half a megabyte if the page has it already."""
    return Axe("") if panel.evaluate("'axe' in window") else Axe()


def _brightness(panel: Page) -> float:
    """Return the brightness of the page background, from 0 to 255."""
    colour: str = panel.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    parts = [float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    return sum(parts) / len(parts)


def _assert_nothing_cut_off(panel: Page, state: str) -> None:
    assert panel.evaluate(FIND_CUT_OFF) == [], state
    assert panel.evaluate(FIND_UNREACHABLE) == [], state


def _open_and_close_popup(user: BrowserUser, company: Company) -> None:
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    popup.close()


def _tab_to(panel: Page, name: str) -> None:
    """Press Tab until the named control is focused; the focus must be visible at every step."""
    for _step in range(MAX_TAB_PRESSES):
        panel.keyboard.press("Tab")
        focus = panel.evaluate(DESCRIBE_FOCUS)
        if not focus["isPage"]:
            assert focus["ring"] >= 2, focus
            assert focus["isThere"], focus
        if focus["name"].startswith(name):
            return
    pytest.fail(f"Tab does not reach {name}")
