"""No request is charged twice or lost, whatever is closed, killed or disconnected while it runs."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from chromium_support import BrowserUser, launch_browser
from company_support import create_company
from e2e_stack import Stack
from playwright.sync_api import Locator, Page, Playwright, expect
from polling import wait_until
from proxy_support import CannedReply, RecordedRequest, RecordingProxy, problem_reply
from vendors_support import FakeVendors, prospeo_finds

pytestmark = pytest.mark.release

DAY = 24 * 3600 * 1000
REVEAL = "/api/ext/reveal/email"
POLL = "/api/ext/jobs?id="
FIND_EMAIL = "Find e-mail · 1 credit if found"
CREDITS = 100
OPEN_JOB = CannedReply(
    202,
    {
        "job": {"id": "job_1", "status": "queued", "finished_at": None, "progress": {"done": 0, "total": 1}},
        "result": None,
        "trace": [],
        "credits": {"charged": 0, "reserved": 1, "balance": 99, "already_owned": False},
    },
)


CLOSE_ONCE_STORED = """() => {
  const set = chrome.storage.local.set.bind(chrome.storage.local);
  chrome.storage.local.set = async (items) => {
    await set(items);
    if (!Object.keys(items)[0].startsWith("request:")) return;
    window.close();
    await new Promise(() => {});
  };
}"""


@dataclass
class Stranger:
    """A person whom only Prospeo knows; Prospeo replies once `may_reply` is set."""

    profile_url: str
    email: str
    may_reply: threading.Event
    vendors: FakeVendors

    @property
    def is_requested(self) -> bool:
        return self.vendors.calls("prospeo") > 0


@pytest.fixture
def stranger(vendors: FakeVendors, user: BrowserUser) -> Iterator[Stranger]:
    tag = secrets.token_hex(4)
    stranger = Stranger(
        user.serve_profile(f"ada-{tag}", "Ada Lovelace"),
        f"ada@{tag}.example",
        threading.Event(),
        vendors,
    )
    reply = prospeo_finds(stranger.email)
    vendors.responders["prospeo"] = lambda request: (stranger.may_reply.wait(20), reply(request))[1]
    yield stranger
    stranger.may_reply.set()
    continue_workers(user)


def test_a_click_is_stored_on_disk_with_its_own_key_before_it_is_sent(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack
) -> None:
    company = create_company(stack)
    user.sign_in()
    popup = open_person(user, company.website, "Ada Lovelace")

    with proxy.holding("/api/ext/reveal/"):
        popup.get_by_role("button", name="Reveal e-mail · 1 credit").click()
        popup.get_by_role("button", name="Reveal phone").click()
        wait_until(lambda: len(proxy.api_requests("/api/ext/reveal/")) == 2)
        on_disk = [value for name, value in user.get_storage("local").items() if name.startswith("request:")]

    sent = {
        idempotency_keys([request])[0]: request.json for request in proxy.api_requests("/api/ext/reveal/")
    }
    assert len(sent) == 2
    assert {stored["key"]: stored["body"] for stored in on_disk} == sent
    assert {stored["state"] for stored in on_disk} == {"sending"}
    expect(address(popup, company.emails["Ada"])).to_be_visible()


def test_a_click_is_continued_if_the_popup_closes_as_soon_as_it_is_stored(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack
) -> None:
    company = create_company(stack)
    user.sign_in()
    popup = open_person(user, company.website, "Ada Lovelace")
    user.worker.evaluate("() => chrome.alarms.clearAll()")
    popup.evaluate(CLOSE_ONCE_STORED)

    popup.get_by_role("button", name="Reveal e-mail · 1 credit").click(no_wait_after=True)
    wait_until(lambda: user.stored_requests() != [] and popup.is_closed())

    assert [alarm["name"] for alarm in user.worker.evaluate("() => chrome.alarms.getAll()")] == ["requests"]
    assert proxy.api_requests(REVEAL) == []
    user.trigger_alarm_until(lambda: user.badge_text() == "1")
    assert user.balance() == CREDITS - 1
    expect(address(open_person(user, company.website, "Ada Lovelace"), company.emails["Ada"])).to_be_visible()


@pytest.mark.own_browser
def test_the_service_worker_continues_after_the_popup_closed_and_after_it_was_stopped_itself(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger
) -> None:
    user.sign_in()
    popup = reveal_while_workers_are_stopped(user, stranger)
    [alarm] = user.worker.evaluate("() => chrome.alarms.getAll()")

    popup.close()
    stop_and_wake_worker(user, proxy)
    early = user.badge_text()
    continue_workers(user)
    stop_and_wake_worker(user, proxy)
    user.trigger_alarm_until(lambda: user.badge_text() == "1")
    later = user.open_popup_on(stranger.profile_url)

    expect(address(later, stranger.email)).to_be_visible()
    expect(later.get_by_text("Charged: 1 credit")).to_be_attached()
    wait_until(lambda: user.badge_text() == "" and user.stored_requests() == [])
    assert (alarm["name"], alarm["periodInMinutes"], early) == ("requests", 0.5, "")
    assert len(proxy.api_requests(REVEAL)) == 1
    assert user.balance() == CREDITS - 1
    again = user.open_popup_on(stranger.profile_url)
    expect(address(again, stranger.email)).to_be_visible()  # the workspace owns it now
    expect(again.get_by_text("Charged: 1 credit")).to_have_count(0)


def test_a_lost_response_is_requested_again_with_the_same_key_and_charged_once(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack
) -> None:
    company = create_company(stack)
    user.sign_in()
    popup = open_person(user, company.website, "Ada Lovelace")

    with proxy.dropping_replies(REVEAL, times=99):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_text("Retrying; you are never charged twice.")).to_be_visible()
        balance = user.balance()
    expect(address(popup, company.emails["Ada"])).to_be_visible()

    sent = proxy.api_requests(REVEAL)
    assert len(sent) > 1
    assert len(set(idempotency_keys(sent))) == len({request.body for request in sent}) == 1
    assert balance == CREDITS - 1  # the server had accepted the request
    assert user.balance() == CREDITS - 1
    expect(popup.get_by_text("99 credits", exact=True)).to_be_visible()


@pytest.mark.parametrize("body", [b"<html>Sign in to the hotel's network</html>", {"hotel": "welcome"}])
def test_a_captive_portal_loses_no_request(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger, body: object
) -> None:
    user.sign_in()
    popup = user.open_popup_on(stranger.profile_url)

    with proxy.replying(POLL, CannedReply(200, body), times=2):
        popup.get_by_role("button", name=FIND_EMAIL).click()
        expect(popup.get_by_text("is not a contact lookup server")).to_be_visible()
    stranger.may_reply.set()

    expect(address(popup, stranger.email)).to_be_visible()
    assert len(set(idempotency_keys(proxy.api_requests(REVEAL)))) == 1
    assert user.balance() == CREDITS - 1


def test_a_click_made_offline_is_sent_by_the_service_worker_once_online(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack
) -> None:
    company = create_company(stack)
    user.sign_in()
    popup = open_person(user, company.website, "Ada Lovelace")

    with proxy.replying("/", CannedReply()):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_contain_text(f"{proxy.api} does not respond.")
        popup.close()
        user.trigger_alarm_until(lambda: len(proxy.api_requests(REVEAL)) > 1)
    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    assert len(set(idempotency_keys(proxy.api_requests(REVEAL)))) == 1
    assert user.balance() == CREDITS - 1
    expect(address(open_person(user, company.website, "Ada Lovelace"), company.emails["Ada"])).to_be_visible()


def test_a_request_that_the_server_does_not_accept_for_a_day_fails_with_a_message(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack
) -> None:
    company = create_company(stack)
    user.sign_in()
    popup = open_person(user, company.website, "Ada Lovelace")

    def a_day_later() -> None:
        yesterday = 1000 * time.time() - DAY
        aged = [stored | {"createdAt": yesterday, "retryAt": 0} for stored in user.stored_requests()]
        user.set_storage(
            "local", **{f"request:{stored['key']}": stored for stored in aged if stored["state"] == "sending"}
        )

    with proxy.replying(REVEAL, problem_reply(500, "internal_error", detail="Something broke.")):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_contain_text("Something broke.")
        popup.close()
        user.trigger_alarm_until(lambda: (a_day_later(), user.badge_text() == "1")[1])
        popup = open_person(user, company.website, "Ada Lovelace")
        expect(popup.locator(".failure")).to_have_text("The request failed: Something broke.Try again")
    wait_until(lambda: user.badge_text() == "" and user.stored_requests() == [])
    popup.get_by_role("button", name="Try again").click()

    expect(address(popup, company.emails["Ada"])).to_be_visible()
    assert len(set(idempotency_keys(proxy.api_requests(REVEAL)))) == 2
    assert user.balance() == CREDITS - 1


def test_a_click_that_was_not_sent_for_a_day_is_not_sent_later(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack
) -> None:
    company = create_company(stack)
    user.sign_in()
    popup = open_person(user, company.website, "Ada Lovelace")
    with proxy.replying(REVEAL, CannedReply()):
        popup.get_by_role("button", name="Reveal e-mail").click()
        expect(popup.get_by_role("alert")).to_contain_text("does not respond.")
        popup.close()
        [stored] = user.stored_requests()
        yesterday = 1000 * time.time() - DAY
        old = stored | {"createdAt": yesterday, "retryAt": 0, "problem": None, "failures": 0}
        user.set_storage("local", **{f"request:{stored['key']}": old})
    attempts = len(proxy.api_requests(REVEAL))

    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    popup = open_person(user, company.website, "Ada Lovelace")
    expect(popup.locator(".failure")).to_contain_text("The request was not processed in time.")
    assert (len(proxy.api_requests(REVEAL)), user.balance()) == (attempts, CREDITS)
    popup.get_by_role("button", name="Try again").click()
    expect(address(popup, company.emails["Ada"])).to_be_visible()
    assert user.balance() == CREDITS - 1


def test_a_server_that_does_not_wait_for_the_job_is_polled_once_a_second(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger
) -> None:
    user.sign_in()
    popup = user.open_popup_on(stranger.profile_url)

    with proxy.replying(REVEAL, OPEN_JOB), proxy.replying(POLL, OPEN_JOB):
        popup.get_by_role("button", name=FIND_EMAIL).click()
        wait_until(lambda: len(proxy.api_requests(POLL)) == 1)
        started_at = time.monotonic()
        wait_until(lambda: len(proxy.api_requests(POLL)) >= 4)
        duration = time.monotonic() - started_at

    assert duration > 2.5


@pytest.mark.parametrize("refused", [REVEAL, POLL])
def test_an_expired_token_loses_no_request_once_the_same_account_signs_in(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger, refused: str
) -> None:
    user.sign_in()
    popup = user.open_popup_on(stranger.profile_url)

    with proxy.replying(refused, problem_reply(401, "token_expired")):
        popup.get_by_role("button", name=FIND_EMAIL).click()
        expect(popup.get_by_role("alert")).to_have_text(
            "Your session has expired. Sign in again; requests in progress continue."
        )
    user.trigger_alarm()  # while no one is signed in
    user.submit_sign_in(popup)
    wait_until(lambda: stranger.is_requested)
    expect(popup.get_by_text("You can close this")).to_be_visible()
    popup.close()
    alarms = user.worker.evaluate("() => chrome.alarms.getAll()")
    stranger.may_reply.set()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    assert [alarm["name"] for alarm in alarms] == ["requests"]
    expect(address(user.open_popup_on(stranger.profile_url), stranger.email)).to_be_visible()
    assert len(set(idempotency_keys(proxy.api_requests(REVEAL)))) == 1
    assert user.balance() == CREDITS - 1


def test_a_late_401_for_the_previous_token_does_not_end_the_new_session(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger
) -> None:
    stranger.may_reply.set()
    user.sign_in()
    [panel] = open_panels_on(user, stranger)
    stop_workers(user)
    old, late = user.token, threading.Event()

    def refuse_late(sent: RecordedRequest) -> CannedReply | None:
        if not sent.path.startswith(POLL) or sent.headers["Authorization"] != old:
            return None
        late.wait(20)
        return problem_reply(401, "token_expired")

    proxy.before_api.append(refuse_late)
    panel.get_by_role("button", name=FIND_EMAIL).click()
    wait_until(lambda: proxy.api_requests(POLL))
    with proxy.replying("/api/ext/jobs?limit", problem_reply(401, "token_expired")):
        panel.get_by_role("button", name="History").click()
        expect(panel.get_by_role("alert")).to_contain_text("Your session has expired.")
    user.submit_sign_in(panel)
    expect(panel.get_by_text("You can close this")).to_be_visible()

    late.set()
    wait_until(
        lambda: [request for request in proxy.api_requests(POLL) if request.headers["Authorization"] != old]
    )
    continue_workers(user)

    expect(address(panel, stranger.email)).to_be_visible()
    expect(panel.get_by_label("Password")).to_have_count(0)


def test_two_windows_that_click_at_once_share_one_request(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger
) -> None:
    user.sign_in()
    panels = open_panels_on(user, stranger, 2)
    for panel in panels:
        panel.get_by_role("button", name=FIND_EMAIL).evaluate(
            "button => { new BroadcastChannel('now').onmessage = () => button.click(); }"
        )

    user.worker.evaluate("() => new BroadcastChannel('now').postMessage('click')")

    wait_until(lambda: stranger.is_requested)
    for panel in panels:
        expect(panel.get_by_text("You can close this")).to_be_visible()
    stranger.may_reply.set()
    for panel in panels:
        expect(address(panel, stranger.email)).to_be_visible()
        expect(panel.get_by_text("99 credits", exact=True)).to_be_visible()
    wait_until(lambda: user.stored_requests() == [])
    assert len(proxy.api_requests(REVEAL)) == 1
    assert user.balance() == CREDITS - 1


def test_the_same_reveal_in_two_browsers_of_one_account_is_charged_once(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger, playwright: Playwright, tmp_path: Path
) -> None:
    user.sign_in()
    with launch_browser(playwright, tmp_path / "other", proxy) as started:
        other = replace(user, browser=started)
        other.sign_in()
        other.serve_profile(stranger.profile_url.split("/")[-2], "Ada Lovelace")
        popups = [user.open_popup_on(stranger.profile_url), other.open_popup_on(stranger.profile_url)]

        with proxy.holding(REVEAL):
            for popup in popups:
                popup.get_by_role("button", name=FIND_EMAIL).click()
            wait_until(lambda: len(proxy.api_requests(REVEAL)) == 2)
        stranger.may_reply.set()

        for popup in popups:
            expect(address(popup, stranger.email)).to_be_visible()
    assert len(set(idempotency_keys(proxy.api_requests(REVEAL)))) == 2
    assert stranger.vendors.calls("prospeo") == 1
    assert user.balance() == CREDITS - 1


@pytest.mark.own_browser
def test_a_request_continues_after_the_browser_was_killed_and_the_user_signs_in_again(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger, playwright: Playwright, tmp_path: Path
) -> None:
    user.sign_in()
    reveal_while_workers_are_stopped(user, stranger)

    with restarted_browser(user, playwright, tmp_path) as later:
        popup = later.open_popup_on(later.serve_profile(f"grace-{secrets.token_hex(4)}", "Grace Hopper"))
        later.submit_sign_in(popup)
        row = popup.get_by_role("region", name="Other requests").get_by_role("button", name="Ada Lovelace")
        expect(row).to_contain_text("in progress")
        continue_workers(user)
        expect(row).to_contain_text("E-mail found")
        row.click()

        expect(address(popup, stranger.email)).to_be_visible()
        expect(popup.get_by_text("Charged: 1 credit")).to_be_attached()
    assert len(proxy.api_requests(REVEAL)) == 1
    assert user.balance() == CREDITS - 1


@pytest.mark.own_browser
def test_a_user_who_stays_signed_in_gets_the_badge_after_the_browser_was_killed(
    user: BrowserUser, proxy: RecordingProxy, stranger: Stranger, playwright: Playwright, tmp_path: Path
) -> None:
    user.sign_in(stay_signed_in=True)
    reveal_while_workers_are_stopped(user, stranger)
    wait_until(lambda: "session" in user.get_storage("local"))
    polls = len(proxy.api_requests(POLL))

    with restarted_browser(user, playwright, tmp_path) as later:
        wait_until(lambda: len(proxy.api_requests(POLL)) > polls)  # without a click
        [alarm] = wait_until(lambda: later.worker.evaluate("() => chrome.alarms.getAll()"))
        continue_workers(user)
        later.trigger_alarm_until(lambda: later.badge_text() == "1")
        later.serve_profile(stranger.profile_url.split("/")[-2], "Ada Lovelace")

        expect(address(later.open_popup_on(stranger.profile_url), stranger.email)).to_be_visible()
    assert (alarm["name"], alarm["periodInMinutes"]) == ("requests", 0.5)
    assert len(proxy.api_requests(REVEAL)) == 1
    assert user.balance() == CREDITS - 1


def test_another_account_sees_no_requests_of_the_first(
    user: BrowserUser, proxy: RecordingProxy, stack: Stack, stranger: Stranger
) -> None:
    workspace, token = stack.create_workspace()
    other = replace(user, workspace=workspace, token=token)
    user.sign_in()
    popup = user.open_popup_on(stranger.profile_url)
    popup.get_by_role("button", name=FIND_EMAIL).click()
    wait_until(lambda: stranger.is_requested)
    popup.close()
    stranger.may_reply.set()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")
    wait_until(lambda: user.worker.evaluate("() => chrome.alarms.getAll()") == [])
    key = user.stored_requests()[0]["key"]

    stack.call("POST", "/api/ext/logout", Authorization=user.token)
    popup = user.open_popup_on(stranger.profile_url)
    expect(popup.get_by_role("alert")).to_contain_text("Your session was ended.")
    wait_until(lambda: user.badge_text() == "")
    other.submit_sign_in(popup)
    expect(popup.get_by_role("button", name="Reveal e-mail · 1 credit")).to_be_visible()
    expect(address(popup, stranger.email)).to_have_count(0)
    expect(popup.get_by_role("heading", name="Other requests")).to_have_count(0)
    assert user.badge_text() == ""
    new_token = user.get_storage("session")["session"]["token"]
    stack.call("POST", "/api/ext/logout", Authorization=f"Bearer {new_token}")
    popup = user.open_popup_on(stranger.profile_url)
    expect(popup.get_by_role("alert")).to_contain_text("Your session was ended.")
    user.submit_sign_in(popup)

    expect(address(popup, stranger.email)).to_be_visible()
    expect(popup.get_by_text("Charged: 1 credit")).to_be_attached()
    assert set(idempotency_keys(proxy.api_requests(REVEAL))) == {key}


def idempotency_keys(sent: list[RecordedRequest]) -> list[str]:
    return [request.headers["Idempotency-Key"] for request in sent]


def address(page: Page, email: str) -> Locator:
    """Return the link with the revealed address."""
    return page.get_by_role("link", name=email)


def stop_workers(user: BrowserUser) -> None:
    """Stop the Celery workers: stopped, they outlast the time limit of a provider call.

    They are stopped while this process has the write lock of the database: a worker that was stopped in a
    transaction would keep the lock, and the API would wait for it.
    """
    with user.stack.database.transaction() as session:
        session.connection()
        for worker in user.stack.workers:
            os.killpg(worker.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, worker.pid, os.WSTOPPED)


def continue_workers(user: BrowserUser) -> None:
    for worker in user.stack.workers:
        os.killpg(worker.pid, signal.SIGCONT)


def reveal_while_workers_are_stopped(user: BrowserUser, stranger: Stranger) -> Page:
    """Request the stranger's address while the Celery workers are stopped, so that the job stays open."""
    stranger.may_reply.set()
    popup = user.open_popup_on(stranger.profile_url)
    stop_workers(user)
    popup.get_by_role("button", name=FIND_EMAIL).click()
    wait_until(lambda: [stored["state"] for stored in user.stored_requests()] == ["open"])
    return popup


def open_panels_on(user: BrowserUser, stranger: Stranger, count: int = 1) -> list[Page]:
    """Open the page of the side panel for the stranger's profile, so many times."""
    popup = user.open_popup_on(stranger.profile_url)
    expect(popup.get_by_role("button", name=FIND_EMAIL)).to_be_visible()
    return [user.open_panel() for _ in range(count)]


def open_person(user: BrowserUser, website: str, name: str) -> Page:
    """Open the popup on the company's website and open one of its people."""
    popup = user.open_popup_on(website)
    popup.locator(".people").get_by_role("button", name=name).click()  # not one of the other requests
    expect(popup.get_by_role("heading", name=name)).to_be_visible()
    return popup


def stop_and_wake_worker(user: BrowserUser, proxy: RecordingProxy) -> None:
    """Stop the service worker, as Chrome does; the alarm starts it again, and it polls the job."""
    user.trigger_alarm(seconds=1)
    user.stop_worker(user.tabs()[0])
    polls = len(proxy.api_requests(POLL))
    wait_until(lambda: len(proxy.api_requests(POLL)) > polls)


@contextmanager
def restarted_browser(user: BrowserUser, playwright: Playwright, folder: Path) -> Iterator[BrowserUser]:
    """Restart the browser with the same profile on disk."""
    user.context.close()
    with launch_browser(playwright, folder, user.proxy) as started:
        yield replace(user, browser=started)
