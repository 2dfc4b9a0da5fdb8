"""A real Chromium with the extension in it: the toolbar's click, the popup, the side panel, the worker."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from e2e_stack import PASSWORD, Stack, until
from proxy_support import Network

os.environ["PW_CHROMIUM_ATTACH_TO_OTHER"] = "1"  # before Playwright: the popup becomes a page

from playwright.sync_api import BrowserContext, CDPSession, Locator, Page, Playwright, Worker, expect

EXTENSION = Path(__file__).parents[2] / "extension"
LOOPBACK = "http://127.0.0.1/*"
SECONDS = 15
expect.set_options(timeout=SECONDS * 1000)  # a browser on a busy machine takes its time
CLEAR_STORAGE = """async () => {
  await Promise.all([chrome.storage.local.clear(), chrome.storage.session.clear(), chrome.alarms.clearAll()]);
  await chrome.action.setBadgeText({ text: "" });
}"""
NO_LOCK_IS_HELD = "async () => (await navigator.locks.query()).held.length === 0"
PROFILE = """<!doctype html><html lang=en><title>({n}) {name} | LinkedIn</title><main><h1> {name}
 </h1><div class="text-body-medium">{headline}</div></main>"""


def chromium() -> str:
    """Give Chromium's path; where CI runs it has to be there."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail("Chromium is not installed: apt-get install chromium, or name it in CHROMIUM")
    pytest.skip("Chromium is not installed: apt-get install chromium, or name it in CHROMIUM")


def unpacked(folder: Path) -> Path:
    """Copy the extension, with one host granted: no test can press Chrome's own prompt."""
    copy = folder / "extension"
    shutil.copytree(EXTENSION, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["host_permissions"] = [LOOPBACK]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    return copy


@dataclass(frozen=True, slots=True)
class Browser:
    """A running Chromium with the extension in it, and the errors that its pages threw."""

    context: BrowserContext
    extension_id: str
    errors: list[str]

    def reset(self) -> None:
        """Close every page and delete what the extension has stored; one empty tab is left.

        A request that is still running when its page is closed ends before the storage is cleared a second
        time: it holds a lock for as long as it may write.
        """
        pages = self.context.pages
        tab = self.context.new_page()
        for page in pages:
            page.close()
        self.context.clear_cookies()
        tab.goto(f"chrome-extension://{self.extension_id}/manifest.json")
        tab.evaluate(CLEAR_STORAGE)
        tab.wait_for_function(NO_LOCK_IS_HELD)
        tab.evaluate(CLEAR_STORAGE)
        tab.goto("about:blank")


@dataclass
class Person:
    """Somebody at the browser, with an account of a workspace of their own."""

    browser: Browser
    network: Network
    stack: Stack
    workspace: str
    token: str

    @property
    def context(self) -> BrowserContext:
        return self.browser.context

    @property
    def id(self) -> str:
        return self.browser.extension_id

    @property
    def email(self) -> str:
        return f"{self.workspace.replace('_', '-')}@walkers.example"

    @property
    def server(self) -> str:
        return self.stack.base_url

    @property
    def worker(self) -> Worker:
        """The service worker; woken if it sleeps."""
        until(lambda: self.context.service_workers)
        return self.context.service_workers[-1]

    def visit(self, url: str) -> Page:
        """Open a website in the window's tab."""
        page = self.tabs()[0]
        page.goto(url)
        return page

    def tabs(self) -> list[Page]:
        return [page for page in self.context.pages if not page.url.startswith("chrome-extension:")]

    def panels(self) -> list[Page]:
        return [page for page in self.context.pages if page.url.startswith("chrome-extension:")]

    def click_icon(self, page: Page) -> Page:
        """Click the extension's icon, as the person does: it may see this tab now, and the popup opens."""
        page.bring_to_front()
        cdp = self._cdp()
        tabs = cdp.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        target = next(tab["targetId"] for tab in tabs if tab["url"] == page.url)
        with self.context.expect_page() as opened:
            cdp.send("Extensions.triggerAction", {"id": self.id, "targetId": target})
        cdp.detach()
        popup = opened.value
        popup.wait_for_load_state()
        popup.set_default_timeout(SECONDS * 1000)
        return popup

    def look_at(self, url: str) -> Page:
        """Visit a page and click the icon on it."""
        return self.click_icon(self.visit(url))

    def open_panel(self, *, side: bool = True) -> Page:
        """Open what the side panel shows, or the popup, in a tab of its own."""
        page = self.context.new_page()
        page.goto(f"chrome-extension://{self.id}/panel.html{'?side' if side else ''}")
        page.set_default_timeout(SECONDS * 1000)
        return page

    def _cdp(self) -> CDPSession:
        started = self.context.browser
        assert started is not None
        return started.new_browser_cdp_session()

    def sign_in(self, **settings: Any) -> None:
        """Be signed in, as if the form had been filled in some time ago."""
        answer = self.stack.call("GET", "/api/ext/session", Authorization=self.token)
        kept = answer.body | {"origin": self.server, "token": self.token.removeprefix("Bearer ")}
        chosen = {"server": self.server, "email": self.email, "stay": False, "ask": "hash", "lists": []}
        self.store("session", session=kept)
        self.store("local", settings=chosen | settings)

    def fill_in(self, popup: Page, password: str = PASSWORD, server: str | None = None) -> None:
        popup.get_by_label("Server").fill(server or self.server)
        popup.get_by_label("E-mail").fill(self.email)
        popup.get_by_label("Password").fill(password)
        popup.get_by_role("button", name="Sign in").click()

    def store(self, area: str, **values: Any) -> None:
        self.worker.evaluate(f"values => chrome.storage.{area}.set(values)", values)

    def stored(self, area: str) -> dict[str, Any]:
        found: dict[str, Any] = self.worker.evaluate(f"() => chrome.storage.{area}.get(null)")
        return found

    def questions(self) -> list[dict[str, Any]]:
        """Give what the extension keeps of questions, wherever."""
        both = self.stored("local") | self.stored("session")
        return [value for key, value in both.items() if key.startswith("question:")]

    def badge(self) -> str:
        text: str = self.worker.evaluate("() => chrome.action.getBadgeText({})")
        return text

    def stop_worker(self, page: Page) -> None:
        """End the service worker, as Chrome does after thirty seconds."""
        cdp = self.context.new_cdp_session(page)
        cdp.send("ServiceWorker.enable")
        cdp.send("ServiceWorker.stopAllWorkers")
        cdp.detach()

    def ring_alarm(self, seconds: float = 0.001) -> None:
        """Let the half-minute alarm ring now, or in so many seconds."""
        ring = "seconds => chrome.alarms.create('questions', { when: Date.now() + 1000 * seconds })"
        self.worker.evaluate(ring, seconds)

    def balance(self) -> int:
        answer = self.stack.call("GET", "/api/ext/session", Authorization=self.token)
        credits_left: int = answer.body["credits"]["balance"]
        return credits_left

    def plays_profile(self, slug: str, name: str, headline: str = "") -> str:
        """Let the first tab find that profile; give its address. Its route ends with the tab."""
        url = f"https://www.linkedin.com/in/{slug}/"
        html = PROFILE.format(n=3, name=name, headline=headline)
        self.tabs()[0].route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
        return url


@contextmanager
def pressed(page: Page, button: Locator) -> Iterator[None]:
    """Press a button down, let something happen, and let go."""
    box = button.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    yield
    page.mouse.up()


@contextmanager
def browser(
    playwright: Playwright,
    folder: Path,
    network: Network,
    *,
    dark: bool = False,
    on_screen: dict[str, str] | None = None,
) -> Iterator[Browser]:
    """Start Chromium with the extension and the profile in the folder, which is made if it is missing.

    It is headless unless `on_screen` is the environment of a program on a screen. No page may have thrown
    an error when it is ended.
    """
    extension = unpacked(folder) if not (folder / "extension").exists() else folder / "extension"
    context = playwright.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=chromium(),
        headless=on_screen is None,
        env=dict(on_screen) if on_screen else None,
        no_viewport=True,
        ignore_default_args=["--hide-scrollbars"],  # they take room, which a person's window has to have
        color_scheme="dark" if dark else "light",
        args=[
            "--no-sandbox",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-quic",
            "--disable-sync",
            "--no-first-run",
            "--window-position=0,0",
            "--window-size=1280,900",
            f"--proxy-server=http://127.0.0.1:{network.port}",
            "--proxy-bypass-list=<-loopback>",
            "--enable-unsafe-extension-debugging",
            f"--disable-extensions-except={extension}",
            f"--load-extension={extension}",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ],
    )
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    try:
        if not context.service_workers:
            context.wait_for_event("serviceworker")
        yield Browser(context, context.service_workers[0].url.split("/")[2], errors)
    finally:
        with suppress(Exception):
            context.close()
    assert errors == [], "a page threw"
