"""Data that version 1.0 of the extension stored on disk is still used after the update."""

from __future__ import annotations

import secrets
import time
from typing import Any

from chromium_support import BrowserUser
from playwright.sync_api import Page, expect
from polling import wait_until

REVEAL = "/api/ext/reveal/email"


def test_a_request_and_settings_stored_by_version_1_0_survive_the_update(user: BrowserUser) -> None:
    user.sign_in(stay_signed_in=True)
    slug = f"ada-{secrets.token_hex(4)}"
    url = user.serve_profile(slug, "Ada Lovelace")
    account = user.get_storage("session")["session"]["account"]["id"]
    old_request = _old_request(f"https://www.linkedin.com/in/{slug}", owner=f"{user.server} {account}")
    settings = {"server": user.server, "email": user.email, "stay": True, "ask": "prefix", "lists": ["Leads"]}
    user.set_storage("local", **{f"question:{old_request['key']}": old_request, "settings": settings})
    user.worker.evaluate("() => chrome.alarms.create('questions', { periodInMinutes: 0.5 })")

    popup = user.open_popup_on(url)

    expect(_email(popup)).to_contain_text("Nothing found. Nothing was charged.")
    [sent] = user.proxy.api_requests(REVEAL)
    assert sent.headers["Idempotency-Key"] == old_request["key"]
    assert sent.json == old_request["body"]
    wait_until(lambda: user.stored_requests() == [])
    on_disk = user.get_storage("local")
    assert set(on_disk) == {"settings", "session"}
    assert on_disk["settings"] == {
        "server": user.server,
        "email": user.email,
        "staySignedIn": True,
        "lookupBy": "prefix",
        "lists": ["Leads"],
    }
    alarms = user.worker.evaluate("async () => (await chrome.alarms.getAll()).map(({ name }) => name)")
    assert "questions" not in alarms


def _old_request(profile: str, owner: str) -> dict[str, Any]:
    """Return a reveal as version 1.0 stored it before its first response."""
    return {
        "key": secrets.token_hex(16),
        "name": f"reveal.email {profile}",
        "method": "revealEmail",
        "body": {"subject": {"linkedin_url": profile}},
        "about": {"subject": {"linkedin_url": profile}, "label": "Ada Lovelace"},
        "owner": owner,
        "made": int(1000 * time.time()),
        "state": "sending",
        "jobId": None,
        "answer": None,
        "problem": None,
        "after": 0,
        "failures": 0,
    }


def _email(popup: Page) -> Any:
    return popup.get_by_role("region", name="E-mail", exact=True)
