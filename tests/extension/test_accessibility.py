"""Everybody can use it: by keyboard alone, in light and dark, at 200 % zoom, and with a screen reader."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from chromium_support import Person, until
from e2e_stack import Stack
from people_support import Company, company_of_three
from playwright.sync_api import Page, expect
from proxy_support import problem
from vendors_support import Says, Vendors, prospeo_knows
from werkzeug import Request

NARROWEST = 190  # CSS pixels: a side panel of 380 at 200 %
HALF_A_POPUP = {"width": 400, "height": 300}  # Chrome's largest popup, 800 by 600, at 200 %
SMALLEST_TARGET = 24
MOST_STEPS = 60
LIGHT_AND_DARK = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
STRUCTURE = """() => {
  const seen = (one) => one.checkVisibility() && !one.closest(".unseen");
  const target = (one) => (one.matches("[type=checkbox], [type=radio]") ? one.closest("label") : one);
  const area = (one) => target(one).getBoundingClientRect();
  const say = (one) => `${one.outerHTML.slice(0, 120)} ${area(one).width}x${area(one).height}`;
  const things = [...document.querySelectorAll("a, button, input, select, summary, textarea")].filter(seen);
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")].filter((one) => one.checkVisibility());
  return {
    lang: document.documentElement.lang,
    title: document.title,
    headings: headings.map((one) => Number(one.tagName[1])),
    small: things.filter((one) => Math.min(area(one).width, area(one).height) < SMALLEST).map(say),
  };
}""".replace("SMALLEST", str(SMALLEST_TARGET))
CUT_OFF = """() => {
  const root = document.documentElement;
  const found = root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth} wide`] : [];
  for (const one of document.body.querySelectorAll("*")) {
    if (!one.checkVisibility() || one.closest(".unseen, svg, datalist")) continue;
    const { left, right } = one.getBoundingClientRect();
    const hides = getComputedStyle(one).overflowX !== "visible" && !one.matches("input, select, textarea");
    const isWide = hides && one.scrollWidth > one.clientWidth + 1;
    if (left < -1 || right > root.clientWidth + 1 || isWide) found.push(one.outerHTML.slice(0, 150));
  }
  return found;
}"""
OUT_OF_REACH = """() => {
  const found = [];
  for (const one of document.querySelectorAll("button, a, input, select, summary, textarea")) {
    if (!one.checkVisibility() || one.disabled) continue;
    one.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, right, top, bottom } = one.getBoundingClientRect();
    const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!there || !(one.contains(there) || there.contains(one))) found.push(one.outerHTML.slice(0, 150));
  }
  scrollTo(0, 0);
  return found;
}"""
FOCUSED = """() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const { top, bottom, width } = one.getBoundingClientRect();
  return {
    name: one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent ?? "",
    isPage: one === document.body || one === document.documentElement,
    ring: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    isThere: width > 0 && bottom > 0 && top < innerHeight,
  };
}"""
LISTEN = """() => {
  window.heard = [];
  const region = document.getElementById("announcements");
  new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true });
}"""


@pytest.fixture
def company(stack: Stack) -> Company:
    return company_of_three(stack)


@pytest.fixture
def hunter_may_answer(vendors: Vendors) -> Iterator[threading.Event]:
    """Let Hunter know nobody, and keep that to itself until told."""
    yield from _gate(vendors, "hunter", vendors.says["hunter"])


@pytest.fixture
def prospeo_may_answer(vendors: Vendors) -> Iterator[threading.Event]:
    """Let Prospeo know everybody's address, and keep it to itself until told."""
    yield from _gate(vendors, "prospeo", prospeo_knows(f"ada.{secrets.token_hex(4)}@northwind.dev"))


def _gate(vendors: Vendors, name: str, says: Says) -> Iterator[threading.Event]:
    event = threading.Event()

    def say(request: Request) -> tuple[int, Any]:
        event.wait(30)
        return says(request)

    vendors.says[name] = say
    yield event
    event.set()


@LIGHT_AND_DARK
def test_signing_in_has_no_barrier(person: Person, *, dark: bool) -> None:
    popup = person.look_at("http://quiet.test/")
    expect(popup.get_by_label("Password")).to_be_visible()

    assert popup.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is dark
    assert (_brightness(popup) < 60) is dark
    _has_no_barrier(popup, "sign-in")
    person.fill_in(popup, server="ftp://nowhere")
    expect(popup.get_by_role("alert")).to_be_visible()
    _has_no_barrier(popup, "sign-in with a wrong server")
    person.fill_in(popup, password="wrong")
    expect(popup.get_by_role("alert")).to_have_text("Wrong e-mail or password.")
    _has_no_barrier(popup, "sign-in with a wrong password")


@LIGHT_AND_DARK
def test_a_company_and_a_reveal_have_no_barrier(
    person: Person, company: Company, prospeo_may_answer: threading.Event
) -> None:
    person.sign_in()
    popup = person.look_at(company.website)
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    _has_no_barrier(popup, "company and leads")

    popup.get_by_role("button", name="Cleo Clarke").click()
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.get_by_text("Asking Prospeo")).to_be_visible()
    _has_no_barrier(popup, "asking")
    prospeo_may_answer.set()
    expect(popup.get_by_role("link", name="northwind.dev")).to_be_visible()
    popup.get_by_text("Receipt").click()
    _has_no_barrier(popup, "found, with the receipt of a waterfall open")

    popup.get_by_role("button", name="Back").click()
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_role("button", name="Reveal phone")).to_be_visible()
    _has_no_barrier(popup, "person masked")
    popup.get_by_role("button", name="Reveal e-mail").click()
    popup.get_by_text("Receipt").click()
    popup.get_by_text("Save this profile").click()
    expect(popup.get_by_label("Note")).to_be_visible()
    _has_no_barrier(popup, "revealed, with the receipt and the form to save open")
    popup.get_by_label("List").fill("Engineers")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Engineers")).to_be_visible()
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    _has_no_barrier(popup, "history")
    popup.get_by_role("button", name="Ada Lovelace").click()
    popup.get_by_text("Receipt").click()
    _has_no_barrier(popup, "one question of the history")
    popup.get_by_role("button", name="Settings").click()
    expect(popup.get_by_role("radio")).to_have_count(2)
    _has_no_barrier(popup, "settings")


@LIGHT_AND_DARK
def test_what_is_missing_or_fails_has_no_barrier(
    person: Person, company: Company, prospeo_may_answer: threading.Event
) -> None:
    person.sign_in()
    profile = person.plays_profile(
        f"stranger-{secrets.token_hex(4)}", "Ada Stranger", "Engineer at Northwind"
    )

    popup = person.look_at("about:blank")
    expect(popup.get_by_text("Nothing to look up here")).to_be_visible()
    _has_no_barrier(popup, "nothing to look up")
    popup.get_by_role("searchbox").fill("nobody")
    popup.keyboard.press("Enter")
    _has_no_barrier(popup, "a search for nothing")
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_text("Nothing was revealed so far")).to_be_visible()
    _has_no_barrier(popup, "history, empty")
    popup.close()

    popup = person.look_at(f"http://unknown-{secrets.token_hex(4)}.test/")
    expect(popup.get_by_text("No company is known")).to_be_visible()
    _has_no_barrier(popup, "unknown company")
    popup.close()

    with person.network.failing("/api/ext/lookup", problem(429, "rate_limited", retry_after=30)):
        popup = person.look_at(profile)
        expect(popup.get_by_role("alert")).to_contain_text("Too many requests")
        _has_no_barrier(popup, "a failure with a countdown")
        popup.close()

    popup = person.look_at(profile)
    expect(popup.get_by_role("button", name="Look up everything")).to_be_visible()
    _has_no_barrier(popup, "unknown person")
    popup.get_by_role("button", name="Look up everything").click()
    expect(popup.get_by_text("You can close this")).to_be_visible()
    _has_no_barrier(popup, "enrichment running")


def test_the_whole_way_goes_by_keyboard_with_the_focus_in_sight(person: Person, company: Company) -> None:
    popup = person.look_at(company.website)

    for label, text in (("Server", person.server), ("E-mail", person.email), ("Password", "wrong")):
        _tab_to(popup, label)
        popup.keyboard.type(text)
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("alert")).to_have_text("Wrong e-mail or password.")
    expect(popup.get_by_label("Password")).to_be_focused()
    popup.keyboard.press("ControlOrMeta+a")
    popup.keyboard.type("correct horse battery staple")
    popup.keyboard.press("Enter")
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
    _tab_to(popup, "Standard")
    popup.keyboard.press("ArrowDown")

    expect(popup.get_by_role("radio", name="More private")).to_be_checked()
    until(lambda: person.stored("local")["settings"]["ask"] == "prefix")


@pytest.mark.parametrize("place", ["side panel", "popup"])
def test_at_200_percent_nothing_is_cut_off_and_all_can_be_reached(
    person: Person, company: Company, place: str, prospeo_may_answer: threading.Event
) -> None:
    panel = person.context.new_page()
    panel.set_viewport_size({"width": NARROWEST, "height": 400} if place == "side panel" else HALF_A_POPUP)
    panel.goto(f"chrome-extension://{person.id}/panel.html" + ("?side" if place == "side panel" else ""))
    expect(panel.get_by_label("Password")).to_be_visible()
    _fits(panel, "sign-in")
    person.fill_in(panel, password="wrong")
    expect(panel.get_by_role("alert")).to_be_visible()
    _fits(panel, "sign-in with an error")

    person.sign_in()
    panel.reload()
    if place == "popup":  # it is about the tab that it is in itself
        panel.get_by_role("searchbox").fill(company.profiles["Ada"])
        panel.keyboard.press("Enter")
    else:
        _look_and_close(person, company)
        panel.bring_to_front()
        expect(panel.get_by_role("button", name="Ada Lovelace")).to_be_visible()
        _fits(panel, "company")
        panel.get_by_role("button", name="Ada Lovelace").click()
    expect(panel.get_by_role("button", name="Reveal phone")).to_be_visible()
    _fits(panel, "person masked")
    panel.get_by_role("button", name="Reveal e-mail").click()
    panel.get_by_role("button", name="Reveal phone").click()
    expect(panel.get_by_text("Receipt")).to_have_count(2)
    for receipt in panel.get_by_text("Receipt").all():
        receipt.click()
    panel.get_by_text("Save this profile").click()
    _fits(panel, "person revealed, all open")
    panel.get_by_role("button", name="History").click()
    expect(panel.get_by_role("button", name="Ada Lovelace")).to_have_count(2)
    _fits(panel, "history")
    panel.get_by_role("button", name="Settings").click()
    expect(panel.get_by_role("radio")).to_have_count(2)
    _fits(panel, "settings")
    panel.get_by_role("button", name="Back").click()
    if place == "popup":
        panel.get_by_role("searchbox").fill(company.profiles["Cleo"])
        panel.keyboard.press("Enter")
    else:
        panel.get_by_role("button", name="Cleo Clarke").click()
    panel.get_by_role("button", name="Find e-mail").click()
    expect(panel.get_by_text("Asking Prospeo")).to_be_visible()
    _fits(panel, "asking")
    prospeo_may_answer.set()
    expect(panel.get_by_role("link", name="northwind.dev")).to_be_visible()
    panel.get_by_text("Receipt").click()
    _fits(panel, "receipt of a waterfall")


def test_a_screen_reader_hears_how_far_it_is_and_what_came_of_it(
    person: Person,
    company: Company,
    hunter_may_answer: threading.Event,
    prospeo_may_answer: threading.Event,
) -> None:
    person.sign_in()
    popup = person.look_at(company.website)
    popup.get_by_role("button", name="Cleo Clarke").click()
    expect(popup.get_by_role("button", name="Find e-mail")).to_be_visible()
    email = popup.get_by_role("region", name="E-mail", exact=True)
    popup.evaluate(LISTEN)

    email.get_by_role("button", name="Find e-mail").click()
    progress = email.get_by_role("status")
    expect(progress).to_have_text("Asking Hunter…")
    progress.evaluate("line => { line.isSameAsBefore = true; }")
    hunter_may_answer.set()
    expect(progress).to_have_text("Asked Hunter. Asking Prospeo…")
    assert progress.evaluate(
        "line => line.isSameAsBefore"
    )  # only a line that stays is read out when it changes
    prospeo_may_answer.set()
    expect(email.get_by_role("link", name="northwind.dev")).to_be_visible()
    popup.get_by_role("button", name="Find phone").click()
    phone = popup.get_by_role("region", name="Phone", exact=True)
    expect(phone).to_contain_text("Nothing found. Nothing was charged.")

    found = email.get_by_role("link", name="northwind.dev").text_content()
    assert popup.evaluate("heard") == [found, "Nothing found. Nothing was charged."]
    with person.network.failing("/api/ext/linkedin-save", problem(422, "person_suppressed")):
        popup.get_by_text("Save this profile").click()
        popup.get_by_role("button", name="Save", exact=True).click()
        expect(popup.get_by_role("heading", level=1)).to_have_text("This person asked to be left alone")
    assert popup.evaluate("heard").pop() == "This person asked to be left alone"


def test_who_wants_less_motion_gets_none_that_matters(
    person: Person, prospeo_may_answer: threading.Event
) -> None:
    person.sign_in()
    popup = person.look_at(person.plays_profile(f"still-{secrets.token_hex(4)}", "Ada Still"))
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.get_by_text("Asking Prospeo")).to_be_visible()
    turn = "getComputedStyle(document.querySelector('.spinner'))"

    usual = popup.evaluate(f"parseFloat({turn}.animationDuration)")
    popup.emulate_media(reduced_motion="reduce")
    reduced = popup.evaluate(
        f"{turn}.animationName === 'none' ? Infinity : parseFloat({turn}.animationDuration)"
    )

    assert usual < 2
    assert reduced >= 5


def _has_no_barrier(panel: Page, state: str) -> None:
    results = Axe().run(panel)
    structure = panel.evaluate(STRUCTURE)
    steps = list(zip([0, *structure["headings"]], structure["headings"], strict=False))

    assert results.violations_count == 0, f"{state}: {results.generate_report()}"
    assert structure["lang"].startswith("en"), state
    assert structure["title"] == "Contact lookup", state
    assert structure["headings"], state
    assert all(below - above <= 1 for above, below in steps), (state, structure["headings"])
    assert structure["small"] == [], state


def _brightness(panel: Page) -> float:
    """Give how bright the ground behind it all is, from 0 to 255."""
    colour: str = panel.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    parts = [float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    return sum(parts) / len(parts)


def _fits(panel: Page, state: str) -> None:
    assert panel.evaluate(CUT_OFF) == [], state
    assert panel.evaluate(OUT_OF_REACH) == [], state


def _look_and_close(person: Person, company: Company) -> None:
    popup = person.look_at(company.website)
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    popup.close()


def _tab_to(panel: Page, name: str) -> None:
    """Press Tab until the focus is on what bears that name; it is to be seen wherever it goes."""
    for _step in range(MOST_STEPS):
        panel.keyboard.press("Tab")
        focus = panel.evaluate(FOCUSED)
        if not focus["isPage"]:
            assert focus["ring"] >= 2, focus
            assert focus["isThere"], focus
        if focus["name"].startswith(name):
            return
    pytest.fail(f"Tab never comes to {name}")
