"""The settings that an administrator enforces, with a real policy file of Chromium."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from chromium_support import BrowserUser, launch_browser
from company_filter_support import SIGNING_KEY, build_filter
from company_support import Company, create_company
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from e2e_stack import PASSWORD, Stack
from extension_ids import unpacked_id
from playwright.sync_api import Playwright, expect
from proxy_support import RecordingProxy
from sqlalchemy import delete

from app.engine.lookups.company_filters import CompanyFilter
from app.features.company_filter import signing_keys

pytestmark = pytest.mark.release

POLICIES = Path("/etc/chromium/policies/managed")
OTHER_KEY = Ed25519PrivateKey.generate()
SITE = "http://www.acme.test/"
StartBrowser = Callable[[dict[str, Any]], BrowserUser]


@pytest.fixture
def managed(
    playwright: Playwright, proxy: RecordingProxy, stack: Stack, tmp_path: Path
) -> Iterator[StartBrowser]:
    """Return a function that starts a browser with this policy for the extension."""
    if not os.access(POLICIES if POLICIES.exists() else "/etc", os.W_OK):
        pytest.skip(f"{POLICIES} cannot be written")
    POLICIES.mkdir(parents=True, exist_ok=True)
    file = POLICIES / f"contact-lookup-test-{secrets.token_hex(4)}.json"
    with ExitStack() as stop:
        stop.callback(file.unlink, missing_ok=True)

        def start(policy: dict[str, Any]) -> BrowserUser:
            extensions = {unpacked_id(tmp_path / "extension"): policy}
            file.write_text(json.dumps({"3rdparty": {"extensions": extensions}}))
            workspace, token = stack.create_workspace()
            browser = stop.enter_context(launch_browser(playwright, tmp_path, proxy))
            return BrowserUser(browser, proxy, stack, workspace, token)

        yield start


@pytest.fixture
def company(stack: Stack) -> Iterator[Company]:
    """Return a company that the file has, which SIGNING_KEY signed."""
    company = create_company(stack)
    build_filter(stack.database, SIGNING_KEY)
    yield company
    with stack.database.transaction() as session:
        session.execute(delete(CompanyFilter))


def test_the_server_is_filled_in_and_cannot_be_changed(managed: StartBrowser, stack: Stack) -> None:
    user = managed({"server": stack.base_url})

    panel = user.open_panel()

    expect(panel.get_by_label("Server")).to_have_value(stack.base_url)
    expect(panel.get_by_label("Server")).not_to_be_editable()
    expect(panel.get_by_text("Your organization's administrator has set this.")).to_be_visible()


def test_the_server_may_be_written_in_another_form(managed: StartBrowser, stack: Stack) -> None:
    user = managed({"server": f"{stack.base_url.replace('http', 'HTTP')}/"})
    panel = user.open_panel()
    expect(panel.get_by_label("Server")).to_have_value(stack.base_url)

    panel.get_by_label("E-mail").fill(user.email)
    panel.get_by_label("Password").fill(PASSWORD)
    panel.get_by_role("button", name="Sign in").click()

    expect(panel.get_by_text("100 credits")).to_be_visible()


def test_a_session_at_another_server_is_not_used(managed: StartBrowser) -> None:
    user = managed({"server": "https://contacts.example.com"})
    user.sign_in(stay_signed_in=True)

    panel = user.open_panel()

    expect(panel.get_by_label("Server")).to_have_value("https://contacts.example.com")
    assert user.proxy.api_requests() == []


def test_with_company_accounts_only_there_is_no_field_for_a_password(managed: StartBrowser) -> None:
    user = managed({"company_sign_in_only": True})

    panel = user.open_panel()

    expect(panel.get_by_role("button", name="Continue with")).to_be_visible()
    expect(panel.get_by_label("Password")).to_be_hidden()
    expect(panel.get_by_role("button", name="Sign in")).to_be_hidden()


def test_with_prefixes_only_the_whole_hash_is_not_sent_and_cannot_be_chosen(managed: StartBrowser) -> None:
    user = managed({"prefix_lookup_only": True})
    user.sign_in(look_up_by="hash")

    popup = user.open_popup_on(SITE)
    expect(popup.get_by_role("heading", name="No company is known for www.acme.test")).to_be_visible()
    popup.get_by_role("button", name="Settings").click()

    [sent] = user.proxy.api_requests("/api/ext/company-by-hash")
    assert set(sent.json) == {"prefix"}
    expect(popup.get_by_label("More private")).to_be_checked()
    expect(popup.get_by_label("Most private")).to_be_enabled()
    expect(popup.get_by_label("Fastest")).to_be_disabled()


@pytest.mark.parametrize(
    ("key", "text"),
    [(SIGNING_KEY, "knows this company"), (OTHER_KEY, "not signed with the expected key, so it is not used")],
)
def test_the_file_must_be_signed_with_the_key_of_the_policy(
    managed: StartBrowser, company: Company, key: Ed25519PrivateKey, text: str
) -> None:
    user = managed({"filter_key": signing_keys.public_text(key)})
    user.sign_in(look_up_by="filter")

    popup = user.open_popup_on(company.website)

    expect(popup.get_by_text(text)).to_be_visible()
    assert len(user.proxy.api_requests("/api/ext/company-filter")) == 1
    assert not user.proxy.api_requests("/api/ext/company-by-hash")


@pytest.mark.parametrize("off", ["json-ld", "*.speakers.test", "*"])
def test_rules_and_hosts_that_the_policy_turns_off_read_nobody(managed: StartBrowser, off: str) -> None:
    user = managed({"page_rules_off": [off]})
    user.sign_in()
    people = json.dumps([{"@type": "Person", "name": name} for name in ("ada", "grace")])
    html = f'<script type="application/ld+json">{people}</script><p>ada</p><p>grace</p>'
    tab = user.tabs()[0]
    tab.route("http://www.speakers.test/", lambda route: route.fulfill(body=html, content_type="text/html"))
    popup = user.open_popup_on("http://www.speakers.test/")

    read = popup.evaluate("""async () => {
      const [{ id: tabId }] = await chrome.tabs.query({ active: true });
      return (await import("/page_people.js")).readPeople({ tabId, host: "www.speakers.test", url: "" });
    }""")

    assert (read["kind"], read["people"]) == ("none", [])


def test_a_browser_without_a_policy_enforces_nothing(user: BrowserUser) -> None:
    panel = user.open_panel()

    expect(panel.get_by_label("Server")).to_be_editable()
    expect(panel.get_by_label("Password")).to_be_visible()


def test_the_schema_names_every_setting_that_the_extension_reads() -> None:
    extension = Path(__file__).parents[3] / "extension"
    schema = json.loads((extension / "managed_schema.json").read_text())
    code = (extension / "policy.js").read_text()
    docs = (extension.parent / "docs" / "managed-policy.md").read_text()

    names = set(schema["properties"])

    assert names == {
        *("server", "company_sign_in_only", "prefix_lookup_only", "filter_key"),
        "page_rules_off",
    }
    assert all(name in code and f"`{name}`" in docs for name in names)
