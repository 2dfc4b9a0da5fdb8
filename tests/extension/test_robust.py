"""Nothing is paid twice and nothing is lost, whatever is closed, killed or cut off while a question runs."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from chromium_support import Person, browser, until
from e2e_stack import Stack
from people_support import company_of_three
from playwright.sync_api import Locator, Page, Playwright, expect
from proxy_support import Network, Reply, Sent, problem
from vendors_support import Vendors, prospeo_knows

DAY = 24 * 3600 * 1000
REVEAL = "/api/ext/reveal/email"
POLL = "/api/ext/jobs?id="
FIND = "Find e-mail · 1 credit if found"
CREDITS = 100


@dataclass
class Stranger:
    """Somebody whom only Prospeo knows, which answers when it may."""

    page: str
    email: str
    known: threading.Event
    vendors: Vendors

    @property
    def is_asked_for(self) -> bool:
        return self.vendors.calls("prospeo") > 0


@pytest.fixture
def stranger(vendors: Vendors, person: Person) -> Iterator[Stranger]:
    tag = secrets.token_hex(4)
    who = Stranger(
        person.plays_profile(f"ada-{tag}", "Ada Lovelace"),
        f"ada@{tag}.example",
        threading.Event(),
        vendors,
    )
    answer = prospeo_knows(who.email)
    vendors.says["prospeo"] = lambda request: (who.known.wait(20), answer(request))[1]
    yield who
    who.known.set()
    signal_workers(person, signal.SIGCONT)


def test_a_click_is_on_disk_with_a_key_of_its_own_before_it_is_sent(
    person: Person, net: Network, stack: Stack
) -> None:
    company = company_of_three(stack)
    person.sign_in()
    popup = reveal_of(person, company.website, "Ada Lovelace")

    with net.holding("/api/ext/reveal/"):
        popup.get_by_role("button", name="Reveal e-mail · 1 credit").click()
        popup.get_by_role("button", name="Reveal phone").click()
        until(lambda: len(net.to_api("/api/ext/reveal/")) == 2)
        stored = [value for name, value in person.stored("local").items() if name.startswith("question:")]

    sent = {keys_of([one])[0]: one.json for one in net.to_api("/api/ext/reveal/")}
    assert len(sent) == 2
    assert {one["key"]: one["body"] for one in stored} == sent
    assert {one["state"] for one in stored} == {"sending"}
    expect(address(popup, company.emails["Ada"])).to_be_visible()


@pytest.mark.own_browser
def test_the_worker_goes_on_after_the_popup_and_is_itself_ended_and_the_answer_is_shown_once(
    person: Person, net: Network, stranger: Stranger
) -> None:
    person.sign_in()
    popup = ask_at_rest(person, stranger)
    [alarm] = person.worker.evaluate("() => chrome.alarms.getAll()")

    popup.close()
    ended_and_woken(person, net)
    early = person.badge()
    signal_workers(person, signal.SIGCONT)
    ended_and_woken(person, net)
    rung_until(person, lambda: person.badge() == "1")
    later = person.look_at(stranger.page)

    expect(address(later, stranger.email)).to_be_visible()
    expect(later.get_by_text("Charged: 1 credit")).to_be_attached()
    until(lambda: person.badge() == "" and person.questions() == [])
    assert (alarm["name"], alarm["periodInMinutes"], early) == ("questions", 0.5, "")
    assert len(net.to_api(REVEAL)) == 1
    assert person.balance() == CREDITS - 1
    again = person.look_at(stranger.page)
    expect(address(again, stranger.email)).to_be_visible()  # it is owned now
    expect(again.get_by_text("Charged: 1 credit")).to_have_count(0)


def test_an_answer_lost_on_its_way_is_asked_for_again_with_the_same_key_and_paid_once(
    person: Person, net: Network, stack: Stack
) -> None:
    company = company_of_three(stack)
    person.sign_in()
    popup = reveal_of(person, company.website, "Ada Lovelace")

    with net.losing_the_answer(REVEAL, times=99):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_text("Trying again; nothing is paid twice.")).to_be_visible()
        balance = person.balance()
    expect(address(popup, company.emails["Ada"])).to_be_visible()

    sent = net.to_api(REVEAL)
    assert len(sent) > 1
    assert len(set(keys_of(sent))) == len({one.body for one in sent}) == 1
    assert balance == CREDITS - 1  # it had been taken in
    assert person.balance() == CREDITS - 1
    expect(popup.get_by_text("99 credits", exact=True)).to_be_visible()


@pytest.mark.parametrize("body", [b"<html>Sign in to the hotel's network</html>", {"hotel": "welcome"}])
def test_a_captive_portal_in_between_loses_nothing(
    person: Person, net: Network, stranger: Stranger, body: object
) -> None:
    person.sign_in()
    popup = person.look_at(stranger.page)

    with net.failing(POLL, Reply(200, body), times=2):
        popup.get_by_role("button", name=FIND).click()
        expect(popup.get_by_text("is not a contact lookup server")).to_be_visible()
    stranger.known.set()

    expect(address(popup, stranger.email)).to_be_visible()
    assert len(set(keys_of(net.to_api(REVEAL)))) == 1
    assert person.balance() == CREDITS - 1


def test_a_click_without_a_network_is_sent_by_the_worker_when_there_is_one(
    person: Person, net: Network, stack: Stack
) -> None:
    company = company_of_three(stack)
    person.sign_in()
    popup = reveal_of(person, company.website, "Ada Lovelace")

    with net.failing("/", Reply()):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_contain_text(f"{net.api} does not answer.")
        popup.close()
        rung_until(person, lambda: len(net.to_api(REVEAL)) > 1)
    rung_until(person, lambda: person.badge() == "1")

    assert len(set(keys_of(net.to_api(REVEAL)))) == 1
    assert person.balance() == CREDITS - 1
    expect(address(reveal_of(person, company.website, "Ada Lovelace"), company.emails["Ada"])).to_be_visible()


def test_a_click_that_the_server_does_not_take_in_for_a_day_is_given_up_and_said(
    person: Person, net: Network, stack: Stack
) -> None:
    company = company_of_three(stack)
    person.sign_in()
    popup = reveal_of(person, company.website, "Ada Lovelace")

    def a_day_later() -> None:
        yesterday = 1000 * time.time() - DAY
        aged = [one | {"made": yesterday, "after": 0} for one in person.questions()]
        person.store("local", **{f"question:{one['key']}": one for one in aged if one["state"] == "sending"})

    with net.failing(REVEAL, problem(500, "internal_error", detail="Something broke.")):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_contain_text("Something broke.")
        popup.close()
        rung_until(person, lambda: (a_day_later(), person.badge() == "1")[1])
        popup = reveal_of(person, company.website, "Ada Lovelace")
        expect(popup.locator(".failure")).to_have_text("This did not work: Something broke.Try again")
    until(lambda: person.badge() == "" and person.questions() == [])
    popup.get_by_role("button", name="Try again").click()

    expect(address(popup, company.emails["Ada"])).to_be_visible()
    assert len(set(keys_of(net.to_api(REVEAL)))) == 2
    assert person.balance() == CREDITS - 1


@pytest.mark.parametrize("refused", [REVEAL, POLL])
def test_a_token_that_ends_meanwhile_loses_nothing_once_the_same_account_is_back(
    person: Person, net: Network, stranger: Stranger, refused: str
) -> None:
    person.sign_in()
    popup = person.look_at(stranger.page)

    with net.failing(refused, problem(401, "token_expired")):
        popup.get_by_role("button", name=FIND).click()
        expect(popup.get_by_role("alert")).to_have_text(
            "Your sign-in has expired. Sign in again; what was under way goes on."
        )
    person.ring_alarm()  # while nobody is signed in
    person.fill_in(popup)
    until(lambda: stranger.is_asked_for)
    expect(popup.get_by_text("You can close this")).to_be_visible()
    popup.close()
    alarms = person.worker.evaluate("() => chrome.alarms.getAll()")
    stranger.known.set()
    rung_until(person, lambda: person.badge() == "1")

    assert [alarm["name"] for alarm in alarms] == ["questions"]
    expect(address(person.look_at(stranger.page), stranger.email)).to_be_visible()
    assert len(set(keys_of(net.to_api(REVEAL)))) == 1
    assert person.balance() == CREDITS - 1


def test_a_late_refusal_of_the_last_token_does_not_end_the_new_sign_in(
    person: Person, net: Network, stranger: Stranger
) -> None:
    stranger.known.set()
    person.sign_in()
    [panel] = panels_about(person, stranger)
    signal_workers(person, signal.SIGSTOP)
    old, late = person.token, threading.Event()

    def refuse_late(sent: Sent) -> Reply | None:
        if not sent.path.startswith(POLL) or sent.headers["Authorization"] != old:
            return None
        late.wait(20)
        return problem(401, "token_expired")

    net.faults.append(refuse_late)
    panel.get_by_role("button", name=FIND).click()
    until(lambda: net.to_api(POLL))
    with net.failing("/api/ext/jobs?limit", problem(401, "token_expired")):
        panel.get_by_role("button", name="History").click()
        expect(panel.get_by_role("alert")).to_contain_text("Your sign-in has expired.")
    person.fill_in(panel)
    expect(panel.get_by_text("You can close this")).to_be_visible()

    late.set()
    until(lambda: [one for one in net.to_api(POLL) if one.headers["Authorization"] != old])
    signal_workers(person, signal.SIGCONT)

    expect(address(panel, stranger.email)).to_be_visible()
    expect(panel.get_by_label("Password")).to_have_count(0)


def test_two_windows_that_click_at_once_share_one_question(
    person: Person, net: Network, stranger: Stranger
) -> None:
    person.sign_in()
    panels = panels_about(person, stranger, 2)
    for panel in panels:
        panel.get_by_role("button", name=FIND).evaluate(
            "button => { new BroadcastChannel('now').onmessage = () => button.click(); }"
        )

    person.worker.evaluate("() => new BroadcastChannel('now').postMessage('click')")

    until(lambda: stranger.is_asked_for)
    for panel in panels:
        expect(panel.get_by_text("You can close this")).to_be_visible()
    stranger.known.set()
    for panel in panels:
        expect(address(panel, stranger.email)).to_be_visible()
        expect(panel.get_by_text("99 credits", exact=True)).to_be_visible()
    until(lambda: person.questions() == [])
    assert len(net.to_api(REVEAL)) == 1
    assert person.balance() == CREDITS - 1


def test_two_browsers_of_one_account_that_ask_at_once_pay_once(
    person: Person, net: Network, stranger: Stranger, playwright: Playwright, tmp_path: Path
) -> None:
    person.sign_in()
    with browser(playwright, tmp_path / "other", net) as started:
        other = replace(person, browser=started)
        other.sign_in()
        other.plays_profile(stranger.page.split("/")[-2], "Ada Lovelace")
        popups = [person.look_at(stranger.page), other.look_at(stranger.page)]

        with net.holding(REVEAL):
            for popup in popups:
                popup.get_by_role("button", name=FIND).click()
            until(lambda: len(net.to_api(REVEAL)) == 2)
        stranger.known.set()

        for popup in popups:
            expect(address(popup, stranger.email)).to_be_visible()
    assert len(set(keys_of(net.to_api(REVEAL)))) == 2
    assert stranger.vendors.calls("prospeo") == 1
    assert person.balance() == CREDITS - 1


@pytest.mark.own_browser
def test_a_job_is_found_again_when_its_browser_was_killed_and_the_person_signs_in(
    person: Person, net: Network, stranger: Stranger, playwright: Playwright, tmp_path: Path
) -> None:
    person.sign_in()
    ask_at_rest(person, stranger)

    with restarted(person, playwright, tmp_path) as later:
        popup = later.look_at(later.plays_profile(f"grace-{secrets.token_hex(4)}", "Grace Hopper"))
        later.fill_in(popup)
        asked = popup.get_by_role("region", name="Asked elsewhere").get_by_role("button", name="Ada Lovelace")
        expect(asked).to_contain_text("under way")
        signal_workers(person, signal.SIGCONT)
        expect(asked).to_contain_text("E-mail found")
        asked.click()

        expect(address(popup, stranger.email)).to_be_visible()
        expect(popup.get_by_text("Charged: 1 credit")).to_be_attached()
    assert len(net.to_api(REVEAL)) == 1
    assert person.balance() == CREDITS - 1


@pytest.mark.own_browser
def test_who_stays_signed_in_finds_the_badge_after_the_browser_was_killed(
    person: Person, net: Network, stranger: Stranger, playwright: Playwright, tmp_path: Path
) -> None:
    person.sign_in(stay=True)
    ask_at_rest(person, stranger)
    until(lambda: "session" in person.stored("local"))
    polls = len(net.to_api(POLL))

    with restarted(person, playwright, tmp_path) as later:
        until(lambda: len(net.to_api(POLL)) > polls)  # by itself
        [alarm] = until(lambda: later.worker.evaluate("() => chrome.alarms.getAll()"))
        signal_workers(person, signal.SIGCONT)
        rung_until(later, lambda: later.badge() == "1")
        later.plays_profile(stranger.page.split("/")[-2], "Ada Lovelace")

        expect(address(later.look_at(stranger.page), stranger.email)).to_be_visible()
    assert (alarm["name"], alarm["periodInMinutes"]) == ("questions", 0.5)
    assert len(net.to_api(REVEAL)) == 1
    assert person.balance() == CREDITS - 1


def test_another_account_sees_nothing_of_what_the_first_one_asked(
    person: Person, net: Network, stack: Stack, stranger: Stranger
) -> None:
    workspace, token = stack.workspace()
    other = replace(person, workspace=workspace, token=token)
    person.sign_in()
    popup = person.look_at(stranger.page)
    popup.get_by_role("button", name=FIND).click()
    until(lambda: stranger.is_asked_for)
    popup.close()
    stranger.known.set()
    rung_until(person, lambda: person.badge() == "1")
    until(lambda: person.worker.evaluate("() => chrome.alarms.getAll()") == [])
    key = person.questions()[0]["key"]

    stack.call("POST", "/api/ext/logout", Authorization=person.token)
    popup = person.look_at(stranger.page)
    expect(popup.get_by_role("alert")).to_contain_text("Your sign-in was ended.")
    until(lambda: person.badge() == "")
    other.fill_in(popup)
    expect(popup.get_by_role("button", name="Reveal e-mail · 1 credit")).to_be_visible()
    expect(address(popup, stranger.email)).to_have_count(0)
    expect(popup.get_by_role("heading", name="Asked elsewhere")).to_have_count(0)
    assert person.badge() == ""
    new_token = person.stored("session")["session"]["token"]
    stack.call("POST", "/api/ext/logout", Authorization=f"Bearer {new_token}")
    popup = person.look_at(stranger.page)
    expect(popup.get_by_role("alert")).to_contain_text("Your sign-in was ended.")
    person.fill_in(popup)

    expect(address(popup, stranger.email)).to_be_visible()
    expect(popup.get_by_text("Charged: 1 credit")).to_be_attached()
    assert set(keys_of(net.to_api(REVEAL))) == {key}


def keys_of(sent: list[Sent]) -> list[str]:
    return [one.headers["Idempotency-Key"] for one in sent]


def address(page: Page, email: str) -> Locator:
    """Give the place where the address is shown in full."""
    return page.get_by_role("link", name=email)


def signal_workers(person: Person, what: signal.Signals) -> None:
    """Let the workers rest for as long as a browser takes, which is more than a vendor is given; or go on."""
    for worker in person.stack.workers:
        os.killpg(worker.pid, what)


def ask_at_rest(person: Person, stranger: Stranger) -> Page:
    """Ask about the stranger while the workers rest; it stays under way until they go on."""
    stranger.known.set()
    popup = person.look_at(stranger.page)
    signal_workers(person, signal.SIGSTOP)
    popup.get_by_role("button", name=FIND).click()
    until(lambda: [one["state"] for one in person.questions()] == ["open"])
    return popup


def panels_about(person: Person, stranger: Stranger, count: int = 1) -> list[Page]:
    """Open what the side panel shows of the page, so many times."""
    popup = person.look_at(stranger.page)
    expect(popup.get_by_role("button", name=FIND)).to_be_visible()
    return [person.open_panel() for _ in range(count)]


def reveal_of(person: Person, website: str, name: str) -> Page:
    """Look at the company's website and open one of its people."""
    popup = person.look_at(website)
    popup.locator(".people").get_by_role("button", name=name).click()  # not what was asked elsewhere
    expect(popup.get_by_role("heading", name=name)).to_be_visible()
    return popup


def ended_and_woken(person: Person, net: Network) -> None:
    """End the worker, as Chrome does, before the alarm rings; then it asks how far the job is."""
    person.ring_alarm(seconds=1)
    person.stop_worker(person.tabs()[0])
    polls = len(net.to_api(POLL))
    until(lambda: len(net.to_api(POLL)) > polls)


def rung_until(person: Person, condition: Callable[[], bool]) -> None:
    """Let the alarm ring until it has brought that about."""
    until(lambda: (person.ring_alarm(), condition())[1])


@contextmanager
def restarted(person: Person, playwright: Playwright, folder: Path) -> Iterator[Person]:
    """End the browser and start it again, with what it has on disk."""
    person.context.close()
    with browser(playwright, folder, person.network) as started:
        yield replace(person, browser=started)
