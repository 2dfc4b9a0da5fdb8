"""Serves a page in the browser's first tab, clicks the icon, and reads its people as the popup does."""

from __future__ import annotations

from typing import Any

from chromium_support import BrowserUser
from playwright.sync_api import Page
from polling import wait_until

READ = """async () => {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const { readActivePage } = await import("/active_page.js");
  const { readPeople } = await import("/page_people.js");
  await (await import("/page_rules.js")).loadPageRules(); // as after the first click
  const page = await readActivePage();
  const started = performance.now();
  const read = await readPeople(page);
  return { ...read, page, ms: performance.now() - started };
}"""

NO_FILE_IS_DOWNLOADED = """async () => {
  const { held, pending } = await navigator.locks.query();
  return [...held, ...pending].every(({ name }) => name !== "page_rules");
}"""


def serve(user: BrowserUser, url: str, html: str) -> Page:
    """Show the page at this URL in the first tab, until it is closed."""
    tab = user.tabs()[0]
    tab.route(
        url.partition("#")[0], lambda route: route.fulfill(body=html, content_type="text/html; charset=utf-8")
    )
    tab.goto(url)
    return tab


def read_people(user: BrowserUser, url: str, html: str) -> dict[str, Any]:
    """Return what a click on the icon reads of the page; `page` is what the icon was clicked on."""
    popup = user.click_icon(serve(user, url, html))
    read: dict[str, Any] = popup.evaluate(READ)
    wait_until(lambda: popup.evaluate(NO_FILE_IS_DOWNLOADED))
    popup.close()
    return read
