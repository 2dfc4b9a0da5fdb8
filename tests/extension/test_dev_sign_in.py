"""`dev.py extension` opens a browser in which the extension is signed in."""

from __future__ import annotations

from pathlib import Path

from chromium_support import HEADLESS_ARGUMENTS, chromium_path
from e2e_stack import PASSWORD, Stack
from playwright.sync_api import Playwright, expect
from sqlalchemy import select

from app.engine.accounts.accounts import Account
from tools import extension, extension_session


def test_the_extension_is_signed_in_when_the_browser_opens(
    playwright: Playwright, stack: Stack, tmp_path: Path
) -> None:
    workspace, _token = stack.create_workspace(grant=7)
    with stack.database.reading() as session:
        email = session.scalars(select(Account.email).where(Account.workspace_id == workspace)).one()
    access = {"base_url": stack.base_url, "email": email, "password": PASSWORD}

    copy = extension_session.signed_in_copy(extension.SOURCE, tmp_path, access)

    context = playwright.chromium.launch_persistent_context(
        tmp_path / "profile",
        executable_path=chromium_path(),
        args=[
            *("--no-sandbox", f"--disable-extensions-except={copy}", f"--load-extension={copy}"),
            *HEADLESS_ARGUMENTS,
        ],
    )
    try:
        worker = context.service_workers[0] if context.service_workers else None
        worker = worker or context.wait_for_event("serviceworker")
        page = context.new_page()
        page.goto(f"chrome-extension://{worker.url.split('/')[2]}/panel.html")
        expect(page.locator("header")).to_contain_text("7 credits")
    finally:
        context.close()
