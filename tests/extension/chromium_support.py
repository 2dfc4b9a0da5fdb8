"""A real Chromium with the extension, and a user who clicks its icon, popup and side panel."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from e2e_stack import PASSWORD, Stack
from polling import wait_until
from proxy_support import RecordingProxy

os.environ["PW_CHROMIUM_ATTACH_TO_OTHER"] = "1"  # before Playwright: the popup becomes a page

from playwright.sync_api import BrowserContext, CDPSession, Locator, Page, Playwright, Worker, expect

EXTENSION = Path(__file__).parents[2] / "extension"
LOOPBACK = "http://127.0.0.1/*"
TIMEOUT_MS = 15_000  # long enough for a browser on a busy machine
expect.set_options(timeout=TIMEOUT_MS)
DISABLED_FEATURES = (
    # Playwright's list, which this one replaces: Chromium takes only the last --disable-features.
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "AutofillServerCommunication",  # of each form, with Google
    # Processes that Chromium starts ahead of need: a fifth of the processor time of opening a popup.
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)
HEADLESS_ARGUMENTS = ("--animation-duration-scale=0",)  # in its windows: half the processor time of a popup
SECONDS_BETWEEN_ALARMS = 0.2  # a request that the alarm starts takes about as long
CLEAR_STORAGE = """async () => {
  await Promise.all([chrome.storage.local.clear(), chrome.storage.session.clear(), chrome.alarms.clearAll()]);
  for (const name of await caches.keys()) await caches.delete(name);
  await chrome.action.setBadgeText({ text: "" });
}"""
NO_LOCK_IS_HELD = "async () => (await navigator.locks.query()).held.length === 0"
PROFILE = """<!doctype html><html lang=en><title>({n}) {name} | LinkedIn</title><main><h1> {name}
 </h1><div class="text-body-medium">{headline}</div></main>"""


def chromium_path() -> str:
    """Return the path of Chromium; skip the test if there is none, except in CI."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail("Chromium is not installed: apt-get install chromium, or name it in CHROMIUM")
    pytest.skip("Chromium is not installed: apt-get install chromium, or name it in CHROMIUM")


def copy_extension(folder: Path) -> Path:
    """Copy the extension with a host permission for the server, so that Chrome does not ask for it."""
    copy = folder / "extension"
    shutil.copytree(EXTENSION, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["host_permissions"] = [LOOPBACK]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    return copy


@dataclass(frozen=True, slots=True)
class Browser:
    """A running Chromium with the extension, its profile on disk, and the errors that its pages threw."""

    context: BrowserContext
    profile: Path
    extension_id: str
    errors: list[str]

    @property
    def worker(self) -> Worker:
        """The service worker. One that has been stopped never responds: start it again first."""
        if not self.context.service_workers:
            self.context.wait_for_event("serviceworker")
        return self.context.service_workers[-1]

    def reset(self) -> None:
        """Close every page but the first tab, empty that, and delete all cookies and data of the extension.

        The service worker may still run a request when the storage is cleared, and store its result. It holds
        a lock until then, so the storage is cleared again once no lock is held.
        """
        tab, *others = self.context.pages
        for page in others:
            page.close()
        self.context.unroute_all()
        tab.unroute_all()
        tab.goto("about:blank")
        self.context.clear_cookies()
        self.worker.evaluate(CLEAR_STORAGE)
        wait_until(lambda: self.worker.evaluate(NO_LOCK_IS_HELD))
        self.worker.evaluate(CLEAR_STORAGE)


@dataclass
class BrowserUser:
    """A user of the browser, with an account in a new workspace."""

    browser: Browser
    proxy: RecordingProxy
    stack: Stack
    workspace: str
    token: str

    @property
    def context(self) -> BrowserContext:
        return self.browser.context

    @property
    def extension_id(self) -> str:
        return self.browser.extension_id

    @property
    def email(self) -> str:
        return f"{self.workspace.replace('_', '-')}@customer.example"

    @property
    def server(self) -> str:
        return self.stack.base_url

    @property
    def worker(self) -> Worker:
        return self.browser.worker

    def visit(self, url: str) -> Page:
        """Open a website in the first tab."""
        page = self.tabs()[0]
        page.goto(url)
        return page

    def tabs(self) -> list[Page]:
        return [page for page in self.context.pages if not page.url.startswith("chrome-extension:")]

    def click_icon(self, page: Page) -> Page:
        """Click the toolbar icon, which grants access to this tab; return the popup."""
        page.bring_to_front()
        cdp = self._cdp()
        tabs = cdp.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        target = next(tab["targetId"] for tab in tabs if tab["url"] == page.url)
        with self.context.expect_page() as opened:
            cdp.send("Extensions.triggerAction", {"id": self.extension_id, "targetId": target})
        cdp.detach()
        popup = opened.value
        popup.wait_for_load_state()
        popup.set_default_timeout(TIMEOUT_MS)
        return popup

    def open_popup_on(self, url: str) -> Page:
        """Open a website in the first tab and click the icon; return the popup."""
        return self.click_icon(self.visit(url))

    def open_panel(self, *, side: bool = True) -> Page:
        """Open the page of the side panel, or of the popup, in a new tab."""
        page = self.context.new_page()
        page.goto(f"chrome-extension://{self.extension_id}/panel.html{'?side' if side else ''}")
        page.set_default_timeout(TIMEOUT_MS)
        return page

    def _cdp(self) -> CDPSession:
        started = self.context.browser
        assert started is not None
        return started.new_browser_cdp_session()

    def sign_in(
        self, *, stay_signed_in: bool = False, look_up_by: str = "hash", lists: Sequence[str] = ()
    ) -> None:
        """Store a session and settings as the sign-in form does."""
        response = self.stack.call("GET", "/api/ext/session", Authorization=self.token)
        session = response.body | {"origin": self.server, "token": self.token.removeprefix("Bearer ")}
        settings = {
            "server": self.server,
            "email": self.email,
            "staySignedIn": stay_signed_in,
            "lookupBy": look_up_by,
            "lists": list(lists),
        }
        self.set_storage("session", session=session)
        self.set_storage("local", settings=settings)

    def submit_sign_in(self, popup: Page, password: str = PASSWORD, server: str | None = None) -> None:
        popup.get_by_label("Server").fill(server or self.server)
        popup.get_by_label("E-mail").fill(self.email)
        popup.get_by_label("Password").fill(password)
        popup.get_by_role("button", name="Sign in").click()

    def set_storage(self, area: str, **values: Any) -> None:
        self.worker.evaluate(f"values => chrome.storage.{area}.set(values)", values)

    def get_storage(self, area: str) -> dict[str, Any]:
        values: dict[str, Any] = self.worker.evaluate(f"() => chrome.storage.{area}.get(null)")
        return values

    def stored_requests(self) -> list[dict[str, Any]]:
        """Return the stored requests, on disk and in memory."""
        values = self.get_storage("local") | self.get_storage("session")
        return [value for key, value in values.items() if key.startswith("request:")]

    def change_request(self, page: Page, **values: Any) -> None:
        """Change the one stored request, and wait until the page has shown the change."""
        [request] = self.stored_requests()
        area = "session" if request["state"] in {"done", "refused"} else "local"
        listen = "() => chrome.storage.onChanged.addListener(() => { document.body.id = 'informed'; })"
        page.evaluate(listen)  # after the listeners of the page, which are called first
        self.set_storage(area, **{f"request:{request['key']}": request | values})
        page.locator("#informed").wait_for()

    def badge_text(self) -> str:
        text: str = self.worker.evaluate("() => chrome.action.getBadgeText({})")
        return text

    def stop_worker(self, page: Page) -> None:
        """Stop the service worker, as Chrome does after thirty idle seconds."""
        cdp = self.context.new_cdp_session(page)
        cdp.send("ServiceWorker.enable")
        cdp.send("ServiceWorker.stopAllWorkers")
        cdp.detach()

    def trigger_alarm(self, seconds: float = 0.001) -> None:
        """Trigger the alarm of the extension now, or after some seconds."""
        create = "seconds => chrome.alarms.create('requests', { when: Date.now() + 1000 * seconds })"
        self.worker.evaluate(create, seconds)

    def trigger_alarm_until(self, condition: Callable[[], bool]) -> None:
        """Trigger the alarm again and again until the condition is true."""
        triggered_at = 0.0

        def trigger_and_check() -> bool:
            nonlocal triggered_at
            if time.monotonic() - triggered_at > SECONDS_BETWEEN_ALARMS:
                self.trigger_alarm()
                triggered_at = time.monotonic()
            return condition()

        wait_until(trigger_and_check)

    def balance(self) -> int:
        response = self.stack.call("GET", "/api/ext/session", Authorization=self.token)
        balance: int = response.body["credits"]["balance"]
        return balance

    def serve_profile(self, slug: str, name: str, headline: str = "") -> str:
        """Serve a profile page in the first tab, until that tab is closed; return its URL."""
        url = f"https://www.linkedin.com/in/{slug}/"
        html = PROFILE.format(n=3, name=name, headline=headline)
        self.tabs()[0].route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
        return url


@contextmanager
def mouse_held_down_on(page: Page, button: Locator) -> Iterator[None]:
    """Press the mouse on a button, and release it at the end of the block."""
    box = button.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    yield
    page.mouse.up()


def layout(page: Page) -> list[Any]:
    """Return the positions of all visible controls of the view."""
    script = """nodes => nodes.map((node) => {
      const { x, y, height } = node.getBoundingClientRect();
      return [x, y, height];
    })"""
    return list(page.locator("main").locator("button:visible, summary:visible").evaluate_all(script))


@contextmanager
def launch_browser(
    playwright: Playwright,
    folder: Path,
    proxy: RecordingProxy,
    *,
    dark: bool = False,
    on_screen: dict[str, str] | None = None,
    language: str | None = None,
) -> Iterator[Browser]:
    """Start Chromium with the extension and the profile in the folder, which is created if it is missing.

    It is headless unless `on_screen` has the environment variables of a screen. `language` is that of the
    texts of Chromium and of the extension. At the end no page may have thrown an error.
    """
    extension = copy_extension(folder) if not (folder / "extension").exists() else folder / "extension"
    environment = dict(on_screen or os.environ) | ({"LANGUAGE": language} if language else {})
    context = playwright.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=chromium_path(),
        headless=on_screen is None,
        env=dict(environment) if on_screen or language else None,
        no_viewport=True,
        ignore_default_args=["--hide-scrollbars"],  # they take up space in a user's window too
        color_scheme="dark" if dark else "light",
        args=[
            "--no-sandbox",
            "--disable-background-networking",
            "--disable-component-update",
            f"--disable-features={','.join(DISABLED_FEATURES)}",
            "--disable-quic",
            "--disable-sync",
            "--no-first-run",
            "--window-position=0,0",
            "--window-size=1280,900",
            f"--proxy-server=http://127.0.0.1:{proxy.port}",
            "--proxy-bypass-list=<-loopback>",
            "--enable-unsafe-extension-debugging",
            f"--disable-extensions-except={extension}",
            f"--load-extension={extension}",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            *(HEADLESS_ARGUMENTS if on_screen is None else ()),
            *((f"--lang={language}",) if language else ()),
        ],
    )
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    try:
        if not context.service_workers:
            context.wait_for_event("serviceworker")
        yield Browser(context, folder / "profile", context.service_workers[0].url.split("/")[2], errors)
    finally:
        with suppress(Exception):
            context.close()
    assert errors == [], "a page threw an error"
