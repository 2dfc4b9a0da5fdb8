"""With the signed file of known companies, nothing is sent about a website until the user asks."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from chromium_support import BrowserUser
from company_filter_support import SIGNING_KEY, build_filter
from company_support import Company, create_company
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from e2e_stack import Stack
from playwright.sync_api import Page, expect
from polling import wait_until
from proxy_support import CannedReply
from sqlalchemy import delete

from app.engine.lookups.company_filters import CompanyFilter
from app.features.company_filter import filters as company_filters
from app.features.company_filter import signing_keys

pytestmark = pytest.mark.release

FILE = "/api/ext/company-filter"
COMPANY = "/api/ext/company-by-hash"
LEADS = "/api/ext/leads-by-website-hash"
HOUR = 3_600_000
OTHER_KEY = Ed25519PrivateKey.generate()
VISIT_SITES = """async (hosts) => {
  const { siteView } = await import("/views/site.js");
  const { Client } = await import("/client/api.js");
  const { loadSession } = await import("/storage.js");
  const session = await loadSession();
  const client = new Client(session.origin, session.token);
  const app = { session, client, signal: new AbortController().signal };
  const shown = [];
  for (const host of hosts) {
    const node = await siteView({ kind: "site", host, url: "", tabId: 1, windowId: 1 })(app);
    shown.push([...node.querySelectorAll("button")].map((button) => button.textContent).join());
  }
  return shown;
}"""


@pytest.fixture
def company(stack: Stack) -> Company:
    return create_company(stack)


@pytest.fixture
def _no_file_afterwards(stack: Stack) -> Iterator[None]:
    """Delete the file after the test: without it, the extension of other tests asks about every website."""
    yield
    with stack.database.transaction() as session:
        session.execute(delete(CompanyFilter))


@pytest.fixture
def _file(stack: Stack, company: Company, _no_file_afterwards: None) -> None:
    build_filter(stack.database, SIGNING_KEY)


def file_of(stack: Stack) -> bytes:
    with stack.database.reading() as session:
        found = company_filters.content(session, 16)
    assert found is not None
    return found[1]


def served(file: bytes) -> CannedReply:
    return CannedReply(200, file, {"Content-Type": "application/octet-stream", "ETag": '"canned"'})


def open_again_later(user: BrowserUser, popup: Page, url: str) -> Page:
    """Open the popup again as if more than an hour had passed."""
    wait_until(lambda: "company_filter" in user.get_storage("local"))
    popup.close()
    state = user.get_storage("local")["company_filter"]
    user.set_storage("local", company_filter=state | {"checkedAt": state["checkedAt"] - 2 * HOUR})
    return user.open_popup_on(url)


@pytest.mark.usefixtures("_no_file_afterwards")
def test_of_1000_websites_of_which_10_are_known_nothing_is_sent(user: BrowserUser, stack: Stack) -> None:
    known = [create_company(stack).domain for _ in range(10)]
    unknown = [f"unknown-{number}.test" for number in range(990)]
    build_filter(stack.database, SIGNING_KEY)
    user.sign_in(look_up_by="filter")
    panel = user.open_panel()

    shown = panel.evaluate(VISIT_SITES, [*known, *unknown])

    requests = [request.path for request in user.proxy.api_requests() if request.path != "/api/ext/session"]
    false_positives = shown[10:].count("Show company and people")
    print(f"{len(shown)} websites: {requests}, {false_positives} false positives")  # noqa: T201 -- for the docs
    assert shown[:10] == ["Show company and people"] * 10
    assert sum(text.startswith("Ask the server") for text in shown[10:]) == 990 - false_positives
    assert false_positives <= 2
    assert requests == [f"{FILE}?bits=16"]


@pytest.mark.usefixtures("_file")
def test_the_default_sends_nothing_before_the_click_and_the_known_hashes_with_it(
    user: BrowserUser, company: Company
) -> None:
    popup = user.open_popup_on(f"http://www.shop.{company.domain}/")
    user.submit_sign_in(popup)
    expect(popup.get_by_text("Nothing has been sent.")).to_be_visible()
    before = [request.path for request in user.proxy.api_requests()]

    popup.get_by_role("button", name="Show company and people").click()

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    assert user.get_storage("local")["settings"]["lookupBy"] == "filter"
    assert not [path for path in before if path.startswith((COMPANY, LEADS))]
    [lookup] = user.proxy.api_requests(COMPANY)
    assert lookup.json == {"kind": "website", "hashes": [sha256(company.domain.encode()).hexdigest()]}


@pytest.mark.usefixtures("_file")
def test_an_unknown_website_is_asked_about_only_on_request(user: BrowserUser) -> None:
    user.sign_in(look_up_by="filter")

    popup = user.open_popup_on("http://nobody-knows-this.test/")
    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
    assert not user.proxy.api_requests(COMPANY)
    popup.get_by_role("button", name="Ask the server").click()

    wait_until(lambda: len(user.proxy.api_requests(COMPANY)) == 1)
    expect(popup.get_by_role("button", name="Ask the server")).to_have_count(0)


def test_without_a_file_the_website_is_asked_about_only_on_request(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in(look_up_by="filter")

    popup = user.open_popup_on(company.website)
    expect(popup.get_by_text("is not on your computer yet")).to_be_visible()
    assert not user.proxy.api_requests(COMPANY)
    popup.get_by_role("button", name="Show company and people").click()

    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()


@pytest.mark.usefixtures("_file")
@pytest.mark.parametrize("fault", ["a changed byte", "another key", "cut off"])
def test_a_file_that_is_not_signed_with_the_pinned_key_is_not_used(
    user: BrowserUser, stack: Stack, company: Company, fault: str
) -> None:
    file = file_of(stack)
    changed = {
        "a changed byte": file[:40] + bytes([file[40] ^ 1]) + file[41:],
        "another key": file[:-64] + OTHER_KEY.sign(file[:-64]),
        "cut off": file[:50],
    }
    user.sign_in(look_up_by="filter")

    with user.proxy.replying(FILE, served(changed[fault])):
        popup = user.open_popup_on(company.website)

        expect(popup.get_by_text("could not be verified")).to_be_visible()
    assert not user.proxy.api_requests(COMPANY)


@pytest.mark.usefixtures("_file")
@pytest.mark.parametrize(
    "key",
    [signing_keys.public_text(OTHER_KEY), "c2hvcnQ=", "not base64!"],
    ids=["another key", "too short", "not base64"],
)
def test_the_key_is_pinned_at_sign_in(user: BrowserUser, company: Company, key: str) -> None:
    user.sign_in(look_up_by="filter")
    session = user.get_storage("session")["session"]
    user.set_storage("session", session=session | {"filterKey": key})

    popup = user.open_popup_on(company.website)

    expect(popup.get_by_text("could not be verified")).to_be_visible()


@pytest.mark.usefixtures("_file")
def test_the_file_is_asked_for_again_after_an_hour_and_replaced_only_by_a_newer_one(
    user: BrowserUser, stack: Stack, company: Company
) -> None:
    old = file_of(stack)
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_text("knows this company")).to_be_visible()
    popup = open_again_later(user, popup, company.website)
    expect(popup.get_by_text("knows this company")).to_be_visible()
    added = create_company(stack)
    build_filter(stack.database, SIGNING_KEY)
    popup = open_again_later(user, popup, added.website)
    expect(popup.get_by_text("knows this company")).to_be_visible()

    with user.proxy.replying(FILE, served(old)):
        popup = open_again_later(user, popup, added.website)
        expect(popup.get_by_text("knows this company")).to_be_visible()

    sent = [_header(request.headers, "if-none-match") for request in user.proxy.api_requests(FILE)]
    assert sent[0] is None
    assert sent[1] == sent[2] != sent[3]
    assert None not in sent[1:]
    assert len(sent) == 4


@pytest.mark.usefixtures("_file")
def test_signing_out_deletes_the_file(user: BrowserUser, company: Company) -> None:
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_text("knows this company")).to_be_visible()
    assert user.worker.evaluate("() => caches.keys()") == ["company_filter"]

    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()

    expect(popup.get_by_label("Password")).to_be_visible()
    wait_until(lambda: user.worker.evaluate("() => caches.keys()") == [])


@pytest.mark.usefixtures("_file")
def test_by_prefix_only_known_websites_are_looked_up(user: BrowserUser, company: Company) -> None:
    user.sign_in(look_up_by="prefix")

    popup = user.open_popup_on("http://deep.shop.nobody-knows-this.test/")
    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
    popup.close()
    popup = user.open_popup_on(f"http://shop.{company.domain}/")
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)

    sent = [request.json for request in user.proxy.api_requests(COMPANY)]
    assert sent == [{"prefix": sha256(company.domain.encode()).hexdigest()[:2]}]


@pytest.mark.usefixtures("_file")
def test_a_company_page_is_looked_up_in_the_file_too(user: BrowserUser) -> None:
    user.sign_in(look_up_by="filter")
    url = "https://www.linkedin.com/company/nobody-knows-this/"
    user.tabs()[0].route(url, lambda route: route.fulfill(body="<p>About", content_type="text/html"))

    popup = user.open_popup_on(url)

    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
    assert not user.proxy.api_requests(COMPANY)


def _header(headers: dict[str, Any], name: str) -> str | None:
    return {header.lower(): value for header, value in headers.items()}.get(name)
