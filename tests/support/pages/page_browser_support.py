"""A real Chromium on the pages of a running service, and what tests measure in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from e2e_stack import PASSWORD, PASSWORD_HASH, Stack
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from app.engine.accounts import accounts, workspaces
from app.engine.accounts.accounts import Role
from app.engine.ledger import credits
from app.infra import clock

OPERATOR = "olive@customer.example"
OPERATORS = {subject: f"olive.{subject}@customer.example" for subject in ("contacts", "pages", "webhooks")}
"""The operators of the service that these subjects share, each in a workspace of their own."""
TIMEOUT_MS = 15_000  # long enough for a browser on a busy machine
expect.set_options(timeout=TIMEOUT_MS)
ASYNC = {"Prefer": "respond-async"}
"""Headers with which a reveal shows its progress at once."""
FIND_CUT_OFF = """() => {
  const root = document.documentElement;
  const found = root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth} wide`] : [];
  for (const node of document.body.querySelectorAll("*")) {
    const isOfItsOwn = node.closest(".visually-hidden, .skip, .table, .navigation, svg");
    if (!node.checkVisibility() || isOfItsOwn) continue;
    const { left, right } = node.getBoundingClientRect();
    if (left < -1 || right > root.clientWidth + 1) found.push(node.outerHTML.slice(0, 150));
  }
  for (const table of document.querySelectorAll(".table")) {
    const isWide = table.scrollWidth > table.clientWidth + 1;
    if (!isWide || getComputedStyle(table).overflowX !== "clip") continue;
    found.push(`the table is ${table.scrollWidth} wide, in ${table.clientWidth}`);
  }
  return found;
}"""
FIND_SMALL = """() => [...document.querySelectorAll("a, button, input, select, summary, textarea")]
  .filter((node) => node.checkVisibility() && !node.closest(".visually-hidden, .skip, p, td, th"))
  .map((node) => [node.closest("label") ?? node, node])
  .map(([target, node]) => [target.getBoundingClientRect(), node])
  .filter(([area]) => Math.min(area.width, area.height) < 24)
  .map(([, node]) => node.outerHTML.slice(0, 150))"""
DESCRIBE_FOCUS = """() => {
  const node = document.activeElement;
  const style = getComputedStyle(node);
  return {
    name: (node.labels?.[0]?.textContent ?? node.textContent ?? "").trim(),
    ring: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    isPage: node === document.body,
  };
}"""


@dataclass(frozen=True, slots=True)
class PageBrowser:
    """A browser, and the service whose pages it opens."""

    browser: Browser
    stack: Stack

    @contextmanager
    def visit(self, *, width: int = 1280, height: int = 860, **options: Any) -> Iterator[Page]:
        """Open a window whose pages throw no errors and load nothing that the policy refuses."""
        context = self._context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console", lambda entry: faults.append(entry.text) if "Content Security" in entry.text else None
        )
        yield page
        context.close()
        assert faults == []

    def _context(self, **options: Any) -> BrowserContext:
        context = self.browser.new_context(base_url=self.stack.base_url, **options)
        context.set_default_timeout(TIMEOUT_MS)
        return context


def launch(playwright: Playwright) -> Browser:
    """Start Chromium; skip the test if there is none, except in CI."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        message = "Chromium is not installed: apt-get install chromium, or name it in CHROMIUM"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return playwright.chromium.launch(executable_path=path)


def sign_in(page: Page, *, path: str = "/", email: str = OPERATOR) -> None:
    """Sign in as the operator, on the way to a page."""
    page.goto(path)
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def assert_accessible(page: Page) -> None:
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]

    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in violations] == []


def create_operator(stack: Stack, email: str = OPERATOR) -> str:
    """Create a workspace with credits and an admin who is also an operator; return its id."""
    with stack.database.transaction() as session:
        now = clock.now()
        workspace = workspaces.create(session, name="Acme Sales", now=now)
        credits.grant(session, workspace.id, 100, reason="November", now=now)
        accounts.create(
            session,
            workspace.id,
            email=email,
            name="Olive Example",
            role=Role.ADMIN,
            api_access=True,
            password_hash=PASSWORD_HASH,
            now=now,
        )
    return workspace.id
