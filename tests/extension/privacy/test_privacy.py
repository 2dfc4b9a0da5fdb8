"""Privacy: nothing is sent while browsing, and a click sends hashes to the user's server only."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import pytest
from chromium_support import EXTENSION, PROFILE, BrowserUser
from company_support import Company, create_company
from e2e_stack import PASSWORD, Stack
from playwright.sync_api import BrowserContext, Dialog, Page, expect
from polling import wait_until
from proxy_support import CannedReply, RecordedRequest

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, Source, SourceKind
from app.engine.contacts import contacts
from app.infra import clock

SITES = 20
NETWORK = "www.linkedin.com:443"  # Playwright serves its pages, but Chromium still connects
PAGE_REQUESTS = {("GET", "/", b""), ("GET", "/favicon.ico", b""), ("CONNECT", "", b"")}
TWO_DIGITS = re.compile("[0-9a-f]{2}")
HTML = "<img src=x onerror=alert(1)>"
READ_STORAGE = """async () => {
  const keys = {};
  for (const area of ["session", "local"]) {
    try { keys[area] = Object.keys(await chrome.storage[area].get(null)); }
    catch (error) { keys[area] = String(error.message); }
  }
  return keys;
}"""
FETCH_EXTENSION_FILES = """async (id) => {
  const tried = {};
  for (const path of ["panel.html", "manifest.json", "client/api.js", "icons/16.png"]) {
    tried[path] = await fetch(`chrome-extension://${id}/${path}`).then(() => "loaded", () => "refused");
  }
  return tried;
}"""
VIOLATE_POLICY = """async () => {
  const refused = [];
  document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
  const inline = document.createElement("script");
  inline.textContent = "window.ran = 'inline'";
  const remote = document.createElement("script");
  remote.src = "https://evil.test/remote.js";
  const image = document.createElement("img");
  image.src = "https://evil.test/pixel.png";
  const button = document.createElement("button");
  button.setAttribute("onclick", "window.ran = 'handler'");
  const frame = document.createElement("iframe");
  frame.src = "http://evil.test/frame"; // for https, Chromium connects before it checks the policy
  document.body.append(inline, remote, image, button, frame);
  button.click();
  await fetch("http://evil.test/leak").catch(() => null);
  const rest = () => new Promise((done) => setTimeout(done, 20));
  for (let round = 0; round < 100 && new Set(refused).size < 5; round += 1) await rest();
  return { ran: window.ran ?? null, refused: [...new Set(refused)].sort() };
}"""


@pytest.fixture
def company(stack: Stack) -> Company:
    return create_company(stack)


def test_visiting_twenty_websites_sends_nothing_and_one_click_sends_hashes(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in()
    sites = [f"http://shop-{number}.test/" for number in range(1, SITES)] + [company.website]
    linkedin = "https://www.linkedin.com"
    paths = ("in/walker-1", "in/walker-2", f"company/engines-{company.domain}")
    profiles = [_serve(user.context, f"{linkedin}/{path}/") for path in paths]

    _browse(user, [*sites, *profiles])

    recorded = list(user.proxy.sent)
    pages = [request for request in recorded if f"http://{request.host}/" in sites or request.host == NETWORK]
    other_requests = [request for request in recorded if request not in pages]
    popup = user.click_icon(user.visit(company.website))
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    api_requests = user.proxy.api_requests()
    print(_table(pages, other_requests, api_requests))  # noqa: T201 -- a table for the docs, shown with -s

    assert {f"http://{request.host}/" for request in pages if request.host != NETWORK} == set(sites)
    assert {(request.method, request.path, request.body) for request in pages} <= PAGE_REQUESTS
    assert [request.text for request in other_requests if not request.is_of_chromium] == []
    assert not [request for request in recorded if request.host == user.proxy.api]
    assert Counter(request.path for request in api_requests) == {
        "/api/ext/session": 1,
        "/api/ext/page-rules": 1,
        "/api/ext/company-by-hash": 1,
        "/api/ext/leads-by-website-hash": 1,
    }
    hashes = [_sha256(f"www.{company.domain}"), _sha256(company.domain)]
    assert _only_request_to(api_requests, "/api/ext/company-by-hash").json == {
        "kind": "website",
        "hashes": hashes,
    }
    assert _only_request_to(api_requests, "/api/ext/leads-by-website-hash").json == {
        "hash": hashes[1],
        "limit": 25,
    }
    assert not _requests_containing(api_requests, company.domain)


def test_a_click_on_a_profile_sends_its_url_and_none_of_its_content(user: BrowserUser) -> None:
    user.sign_in()
    page = user.serve_profile("grace-walker-9", "Grace Walker", "Building quiet things")

    popup = user.open_popup_on(page)
    expect(popup.get_by_role("heading", name="Grace Walker")).to_be_visible()
    expect(popup.get_by_text("Building quiet things")).to_be_visible()

    api_requests = user.proxy.api_requests()
    subject = {"linkedin_url": "https://www.linkedin.com/in/grace-walker-9"}
    assert _only_request_to(api_requests, "/api/ext/lookup").json == {"subject": subject}
    assert not _requests_containing(api_requests, "Building quiet things")
    assert {request.path for request in api_requests} <= {
        "/api/ext/session",
        "/api/ext/page-rules",
        "/api/ext/lookup",
        "/api/ext/enrichment-request",
    }
    assert all(
        request.json["dry_run"] for request in api_requests if request.path == "/api/ext/enrichment-request"
    )


def test_a_click_on_a_page_that_is_not_a_website_requests_only_the_session(
    user: BrowserUser, tmp_path: Path
) -> None:
    user.sign_in()
    (tmp_path / "salaries.html").write_text("<title>Salaries</title>")
    places = ["about:blank", "chrome://version/", f"file://{tmp_path}/salaries.html", "http://10.1.2.3/wages"]

    for place in places:
        popup = user.open_popup_on(place)
        expect(popup.get_by_text("Nothing to look up here")).to_be_visible()
        popup.wait_for_load_state("networkidle")
        popup.close()

    api_requests = user.proxy.api_requests()
    assert [(request.method, request.path, request.body) for request in api_requests] == [
        ("GET", "/api/ext/session", b"")
    ] * 4
    assert not _requests_containing(api_requests, "salaries", "10.1.2.3", "version")


def test_by_prefix_the_full_hash_is_sent_only_when_people_are_requested(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in(look_up_by="prefix")
    digest = _sha256(company.domain)

    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("heading", name=company.name)).to_be_visible()

    lookups = user.proxy.api_requests("/api/ext/company-by-hash")
    assert [request.json for request in lookups] == [{"prefix": digest[:2]}]
    assert TWO_DIGITS.fullmatch(lookups[0].json["prefix"])
    assert not _requests_containing(user.proxy.api_requests(), company.domain, digest)
    assert not user.proxy.api_requests("/api/ext/leads-by-website-hash")

    popup.get_by_role("button", name="Show people").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()

    leads = _only_request_to(user.proxy.api_requests(), "/api/ext/leads-by-website-hash")
    assert leads.json == {"hash": digest, "limit": 25}
    assert not _requests_containing(user.proxy.api_requests(), company.domain)


def test_requests_carry_no_credentials_but_the_bearer_token(user: BrowserUser, company: Company) -> None:
    user.context.add_cookies([{"name": "seen", "value": "before", "url": user.server}])
    user.visit(f"{user.server}/healthz")
    assert user.proxy.api_requests("/healthz")[0].headers["Cookie"] == "seen=before"  # a page load sends it
    user.proxy.sent.clear()

    popup = user.open_popup_on(company.website)
    user.submit_sign_in(popup)
    popup.get_by_role("button", name="Show company and people").click()
    popup.get_by_role("button", name="Ada Lovelace").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("List").fill("Engineers")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Engineers")).to_be_visible()
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name=re.compile("E-mail found"))).to_be_visible()
    token = user.get_storage("session")["session"]["token"]
    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()
    expect(popup.get_by_label("Password")).to_be_visible()

    anonymous = ("/api/ext/sign-in-options", "/api/ext/login")
    sent = user.proxy.api_requests("/api/")
    login = next(request for request in sent if request.path == "/api/ext/login")
    rest = [request for request in sent if request.path not in anonymous]
    assert "Authorization" not in login.headers
    assert {request.path.partition("?")[0].removeprefix("/api/ext/") for request in rest} >= {
        *(
            "company-filter",
            "company-by-hash",
            "leads-by-website-hash",
            "lookup",
            "reveal/email",
            "linkedin-save",
            "jobs",
            "logout",
        ),
    }
    for request in sent:
        assert request.method in ("GET", "POST")  # no OPTIONS: the server needs no CORS
        assert "Cookie" not in request.headers
        assert "Referer" not in request.headers
        assert request.headers.get("Origin", "") in ("", f"chrome-extension://{user.extension_id}")
        assert request.path in anonymous or request.headers["Authorization"] == f"Bearer {token}"
        assert token not in request.path
        assert token.encode() not in request.body
        assert request is login or PASSWORD not in request.text
    assert not _requests_containing(user.proxy.api_requests("/api/ext/company-by-hash"), company.domain)


def test_the_token_is_not_sent_to_a_redirect_target(user: BrowserUser, company: Company) -> None:
    user.sign_in()
    elsewhere = CannedReply(307, {}, {"Location": "https://evil.test/api/ext/company-by-hash"})

    with user.proxy.replying("/api/ext/company-by-hash", elsewhere):
        popup = user.open_popup_on(company.website)
        expect(popup.get_by_role("alert")).to_contain_text("does not respond")

    assert not [request for request in user.proxy.sent if "evil.test" in request.host]


def _content(path: Path) -> bytes:
    """Return what a file of the profile contains, or nothing if the browser has just deleted it."""
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


@pytest.mark.parametrize("stay", [False, True], ids=["until the browser ends", "staying signed in"])
def test_no_page_and_no_content_script_can_read_the_token(
    user: BrowserUser, company: Company, *, stay: bool
) -> None:
    popup = user.open_popup_on(company.website)
    if stay:
        popup.get_by_label("Stay signed in").check()
    user.submit_sign_in(popup)
    expect(popup.get_by_role("button", name="Show company and people")).to_be_visible()
    page = user.tabs()[0]

    reached = user.worker.evaluate(
        f"""async () => {{
          const [tab] = await chrome.tabs.query({{ active: true }});
          const [{{ result }}] = await chrome.scripting.executeScript({{
            target: {{ tabId: tab.id }}, func: {READ_STORAGE} }});
          return result;
        }}"""
    )
    from_page = page.evaluate("() => typeof chrome?.storage + ' ' + typeof chrome?.runtime?.sendMessage")

    token = user.get_storage("session")["session"]["token"]
    on_disk = json.dumps(user.get_storage("local"))
    files = [path for path in user.browser.profile.rglob("*") if path.is_file()]
    assert token.startswith("ses_")
    assert {area: "not allowed" in text for area, text in reached.items()} == {"session": True, "local": True}
    assert from_page == "undefined undefined"
    assert (token in on_disk) is stay
    assert stay or not [path.name for path in files if token.encode() in _content(path)]
    assert PASSWORD not in on_disk + json.dumps(user.get_storage("session"))
    assert len(files) > 20


def test_a_content_script_cannot_start_a_sign_in(user: BrowserUser, company: Company) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    send = "server => chrome.runtime.sendMessage({ type: 'company_sign_in', server })"

    answer = user.worker.evaluate(
        f"""async (server) => {{
          const [tab] = await chrome.tabs.query({{ active: true }});
          const [{{ result }}] = await chrome.scripting.executeScript({{
            target: {{ tabId: tab.id }}, args: [server], func: {send} }});
          return result;
        }}""",
        user.server,
    )

    assert answer is None
    assert user.proxy.api_requests("/api/ext/sign-in-options") == []


def test_a_website_cannot_load_frame_or_find_the_extension(user: BrowserUser) -> None:
    page = user.visit("http://curious.test/")
    manifest = json.loads((EXTENSION / "manifest.json").read_text())

    tried = page.evaluate(FETCH_EXTENSION_FILES, user.extension_id)
    page.evaluate(
        """id => new Promise(done => {
          const frame = document.createElement("iframe");
          frame.onload = done;
          frame.src = `chrome-extension://${id}/panel.html`;
          document.body.append(frame);
        })""",
        user.extension_id,
    )

    assert "web_accessible_resources" not in manifest
    assert set(tried.values()) == {"refused"}
    assert [frame.url for frame in page.frames[1:] if "panel" in frame.url] == []


def test_chrome_shows_no_permission_warning_at_installation(user: BrowserUser) -> None:
    shipped = json.loads((EXTENSION / "manifest.json").read_text())

    none = _warnings(user, shipped)
    control = _warnings(user, shipped | {"permissions": [*shipped["permissions"], "tabs"]})

    assert none == []
    assert control == ["Read your browsing history"]


def test_the_content_security_policy_blocks_scripts_images_frames_and_requests(user: BrowserUser) -> None:
    popup = user.open_popup_on("http://quiet.test/")

    tried = popup.evaluate(VIOLATE_POLICY)

    assert tried["ran"] is None
    assert tried["refused"] == [
        "connect-src",
        "frame-src",
        "img-src",
        "script-src-attr",
        "script-src-elem",
    ]
    assert not [request for request in user.proxy.sent if "evil.test" in request.text]


def test_html_in_stored_or_page_data_is_shown_as_text(user: BrowserUser, stack: Stack) -> None:
    profile, domain = _store_contact_with_html(stack)
    user.sign_in(lists=[f"List {HTML}"])
    ran: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        ran.append(dialog.message)
        dialog.dismiss()

    user.context.on("dialog", dismiss)

    popup = user.open_popup_on(f"http://{domain}/")
    expect(popup.get_by_role("heading", name=f"Company {HTML}")).to_be_visible()
    popup.get_by_role("button", name=f"Name {HTML}").click()
    expect(popup.get_by_role("heading", name=f"Name {HTML}")).to_be_visible()
    expect(popup.get_by_text(f"Title {HTML}")).to_be_visible()
    popup.get_by_role("button", name="Reveal e-mail").click()
    popup.get_by_text("Receipt").click()
    expect(popup.get_by_text(f"Imported from file {HTML}")).to_be_visible()
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("List").fill(f"List {HTML}")
    popup.get_by_label("Tags").fill(HTML)
    popup.get_by_label("Note").fill(f"</textarea>{HTML}")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text(f"Saved in List {HTML}")).to_be_visible()
    _assert_no_injected_elements(popup)
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name=f"Name {HTML}")).to_be_visible()
    _assert_no_injected_elements(popup)
    popup.close()

    again = user.open_popup_on(user.serve_profile("coded-page", f"Page {escape(HTML)}", escape(HTML)))
    expect(again.get_by_role("heading", name=f"Page {HTML}")).to_be_visible()
    _assert_no_injected_elements(again)
    again.close()

    saved = user.open_popup_on(user.serve_profile(profile, "Somebody"))
    expect(saved.get_by_label("Note")).to_have_value(f"</textarea>{HTML}")
    _assert_no_injected_elements(saved)
    user.context.remove_listener("dialog", dismiss)
    assert ran == []


def _browse(user: BrowserUser, addresses: list[str]) -> None:
    """Visit every page, reload some, go back and forth, switch tabs, and let the alarm fire."""
    second = user.context.new_page()
    for number, address in enumerate(addresses):
        page = user.tabs()[number % 2]
        page.bring_to_front()
        page.goto(address)
        if number % 5 == 0:
            page.reload()
    second.go_back()
    second.go_forward()
    user.trigger_alarm()
    wait_until(lambda: user.worker.evaluate("async () => (await chrome.alarms.getAll()).length === 0"))
    second.close()


def _serve(context: BrowserContext, url: str) -> str:
    html = PROFILE.format(n=3, name="Walker", headline="Baker")
    context.route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
    return url


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _only_request_to(requests: list[RecordedRequest], path: str) -> RecordedRequest:
    (found,) = [request for request in requests if request.path == path]
    return found


def _requests_containing(requests: list[RecordedRequest], *names: str) -> list[str]:
    """Return the requests that contain one of the texts in path, headers or body."""
    return [
        request.text for request in requests if any(name.lower() in request.text.lower() for name in names)
    ]


def _table(
    pages: list[RecordedRequest], other_requests: list[RecordedRequest], after_click: list[RecordedRequest]
) -> str:
    """Return a readable table of the requests."""
    loads = Counter(request.host for request in pages)
    rows = [("while browsing", f"{host}, the page itself", str(count)) for host, count in loads.items()]
    own = Counter(request.host for request in other_requests)
    rows += [("while browsing", f"{host}, Chromium itself", str(count)) for host, count in own.items()]
    rows.append(("while browsing", "to the server", "0"))
    rows += [
        (
            "after one click",
            f"{request.method} {request.path} {request.body.decode()[:60]}",
            str(len(request.body)),
        )
        for request in after_click
    ]
    return "\n" + "\n".join(f"{when:16} {what:100} {size:>5}" for when, what, size in rows)


def _warnings(user: BrowserUser, manifest: dict[str, Any]) -> list[str]:
    warnings: list[str] = user.worker.evaluate(
        "manifest => chrome.management.getPermissionWarningsByManifest(JSON.stringify(manifest))", manifest
    )
    return warnings


def _store_contact_with_html(stack: Stack) -> tuple[str, str]:
    """Store a contact whose every field contains HTML; return its slug and website."""
    now = clock.now()
    source = Source(f"file {HTML}", SourceKind.IMPORT, now)
    domain = f"coded-{now.timestamp():.0f}.test"
    found_company = FoundCompany(
        source=source, name=f"Company {HTML}", domain=domain, industry=f"Industry {HTML}"
    )
    address = FoundEmail(email=f"code@{domain}", type="work", status=EmailStatus.VALID, source=source)
    slug = f"coded-{now.timestamp():.0f}"
    found = FoundContact(
        source=source,
        full_name=f"Name {HTML}",
        title=f"Title {HTML}",
        city=f"City {HTML}",
        linkedin_url=f"https://www.linkedin.com/in/{slug}",
        company=found_company,
        emails=(address,),
    )
    with stack.database.transaction() as session:
        contacts.upsert(session, found, now=now)
    return slug, domain


def _assert_no_injected_elements(panel: Page) -> None:
    foreign = "img:not([src='icons/48.png']), script:not([src]), iframe"
    assert panel.evaluate("selector => document.querySelectorAll(selector).length", foreign) == 0
