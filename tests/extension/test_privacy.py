"""The extension does not say where its user is; a click says it as a hash, to the server and nobody else."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

import pytest
from chromium_support import EXTENSION, PROFILE, Person, until
from e2e_stack import PASSWORD, Stack
from people_support import Company, company_of_three
from playwright.sync_api import BrowserContext, Dialog, Page, expect
from proxy_support import Reply, Sent

from app.core.contacts import contacts
from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, Source, SourceKind
from app.infra import clock

SITES = 20
CHROMES_OWN = re.compile(
    r"(?:update|accounts)\.google(?:apis)?\.com(?::443)?"
)  # Chromium asks there at start
NETWORK = "www.linkedin.com:443"  # its pages are played inside the browser; it dials there all the same
OF_A_PAGE = {("GET", "/", b""), ("GET", "/favicon.ico", b""), ("CONNECT", "", b"")}
FOUR_DIGITS = re.compile("[0-9a-f]{4}")
CODE = "<img src=x onerror=alert(1)>"
TRY_TO_READ = """async () => {
  const told = {};
  for (const area of ["session", "local"]) {
    try { told[area] = Object.keys(await chrome.storage[area].get(null)); }
    catch (error) { told[area] = String(error.message); }
  }
  return told;
}"""
TRY_TO_LOAD = """async (id) => {
  const tried = {};
  for (const path of ["panel.html", "manifest.json", "client/api.js", "icons/16.png"]) {
    tried[path] = await fetch(`chrome-extension://${id}/${path}`).then(() => "loaded", () => "refused");
  }
  return tried;
}"""
TRY_TO_RUN = """async () => {
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
  frame.src = "http://evil.test/frame"; // https is dialled before the policy is asked
  document.body.append(inline, remote, image, button, frame);
  button.click();
  await fetch("http://evil.test/told").catch(() => null);
  const rest = () => new Promise((done) => setTimeout(done, 20));
  for (let round = 0; round < 100 && new Set(refused).size < 5; round += 1) await rest();
  return { ran: window.ran ?? null, refused: [...new Set(refused)].sort() };
}"""


@pytest.fixture
def company(stack: Stack) -> Company:
    return company_of_three(stack)


@pytest.mark.own_browser
def test_a_walk_over_twenty_websites_without_a_click_sends_nothing_and_one_click_sends_hashes(
    person: Person, company: Company
) -> None:
    person.sign_in()
    sites = [f"http://shop-{number}.test/" for number in range(1, SITES)] + [company.website]
    network = "https://www.linkedin.com"
    paths = ("in/walker-1", "in/walker-2", f"company/engines-{company.domain}")
    profiles = [_plays(person.context, f"{network}/{path}/") for path in paths]

    _walk(person, [*sites, *profiles])

    walk = list(person.network.sent)
    pages = [one for one in walk if f"http://{one.host}/" in sites or one.host == NETWORK]
    others = [one for one in walk if one not in pages]
    clicked = person.click_icon(person.visit(company.website))
    expect(clicked.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    to_api = person.network.to_api()
    print(_table(pages, others, to_api))  # noqa: T201 -- to quote, with `-s`

    assert {f"http://{one.host}/" for one in pages if one.host != NETWORK} == set(sites)
    assert {(one.method, one.path, one.body) for one in pages} <= OF_A_PAGE
    assert [one.text for one in others if not CHROMES_OWN.fullmatch(one.host)] == []
    assert not [one for one in walk if one.host == person.network.api]
    assert Counter(one.path for one in to_api) == {
        "/api/ext/session": 1,
        "/api/ext/company-by-hash": 1,
        "/api/ext/leads-by-website-hash": 1,
    }
    hashes = [_sha256(f"www.{company.domain}"), _sha256(company.domain)]
    assert _sent(to_api, "/api/ext/company-by-hash").json == {"kind": "website", "hashes": hashes}
    assert _sent(to_api, "/api/ext/leads-by-website-hash").json == {"hash": hashes[1], "limit": 25}
    assert not _naming(to_api, company.domain)


def test_a_click_on_a_profile_sends_its_address_and_nothing_that_stands_on_it(person: Person) -> None:
    person.sign_in()
    page = person.plays_profile("grace-walker-9", "Grace Walker", "Building quiet things")

    popup = person.look_at(page)
    expect(popup.get_by_role("heading", name="Grace Walker")).to_be_visible()
    expect(popup.get_by_text("Building quiet things")).to_be_visible()

    to_api = person.network.to_api()
    subject = {"linkedin_url": "https://www.linkedin.com/in/grace-walker-9"}
    assert _sent(to_api, "/api/ext/lookup").json == {"subject": subject}
    assert not _naming(to_api, "Building quiet things")
    assert {one.path for one in to_api} <= {
        "/api/ext/session",
        "/api/ext/lookup",
        "/api/ext/enrichment-request",
    }
    assert all(one.json["dry_run"] for one in to_api if one.path == "/api/ext/enrichment-request")


def test_a_click_where_no_website_is_sends_nothing_but_the_sessions_question(
    person: Person, tmp_path: Path
) -> None:
    person.sign_in()
    (tmp_path / "salaries.html").write_text("<title>Salaries</title>")
    places = ["about:blank", "chrome://version/", f"file://{tmp_path}/salaries.html", "http://10.1.2.3/wages"]

    for place in places:
        popup = person.look_at(place)
        expect(popup.get_by_text("Nothing to look up here")).to_be_visible()
        popup.wait_for_load_state("networkidle")
        popup.close()

    to_api = person.network.to_api()
    assert [(one.method, one.path, one.body) for one in to_api] == [("GET", "/api/ext/session", b"")] * 4
    assert not _naming(to_api, "salaries", "10.1.2.3", "version")


def test_by_prefix_only_a_few_digits_leave_until_the_people_are_asked_for(
    person: Person, company: Company
) -> None:
    person.sign_in(ask="prefix")
    whole = _sha256(company.domain)

    popup = person.look_at(company.website)
    expect(popup.get_by_role("heading", name=company.name)).to_be_visible()

    asked = person.network.to_api("/api/ext/company-by-hash")
    assert [one.json for one in asked] == [{"prefix": whole[:4]}]
    assert FOUR_DIGITS.fullmatch(asked[0].json["prefix"])
    assert not _naming(person.network.to_api(), company.domain, whole)
    assert not person.network.to_api("/api/ext/leads-by-website-hash")

    popup.get_by_role("button", name="Show the people").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()

    leads = _sent(person.network.to_api(), "/api/ext/leads-by-website-hash")
    assert leads.json == {"hash": whole, "limit": 25}
    assert not _naming(person.network.to_api(), company.domain)


def test_nothing_but_a_bearer_token_is_sent_with_what_is_asked(person: Person, company: Company) -> None:
    person.context.add_cookies([{"name": "seen", "value": "before", "url": person.server}])
    person.visit(f"{person.server}/healthz")
    assert person.network.to_api("/healthz")[0].headers["Cookie"] == "seen=before"  # a page's own load has it
    person.network.sent.clear()

    popup = person.look_at(company.website)
    person.fill_in(popup)
    popup.get_by_role("button", name="Ada Lovelace").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("List").fill("Engineers")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text("Saved in Engineers")).to_be_visible()
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name=re.compile("E-mail found"))).to_be_visible()
    token = person.stored("session")["session"]["token"]
    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()
    expect(popup.get_by_label("Password")).to_be_visible()

    login, *rest = person.network.to_api("/api/")
    assert login.path == "/api/ext/login"
    assert "Authorization" not in login.headers
    assert {one.path.partition("?")[0].removeprefix("/api/ext/") for one in rest} >= {
        *(
            "company-by-hash",
            "leads-by-website-hash",
            "lookup",
            "reveal/email",
            "linkedin-save",
            "jobs",
            "logout",
        ),
    }
    for one in [login, *rest]:
        assert one.method in ("GET", "POST")  # no OPTIONS: the server need not answer to other origins
        assert "Cookie" not in one.headers
        assert "Referer" not in one.headers
        assert one.headers.get("Origin", "") in ("", f"chrome-extension://{person.id}")
        assert one is login or one.headers["Authorization"] == f"Bearer {token}"
        assert token not in one.path
        assert token.encode() not in one.body
        assert one is login or PASSWORD not in one.text
    assert not _naming(person.network.to_api("/api/ext/company-by-hash"), company.domain)


def test_the_token_goes_to_nobody_whom_the_server_points_to(person: Person, company: Company) -> None:
    person.sign_in()
    elsewhere = Reply(307, {}, {"Location": "https://evil.test/api/ext/company-by-hash"})

    with person.network.failing("/api/ext/company-by-hash", elsewhere):
        popup = person.look_at(company.website)
        expect(popup.get_by_role("alert")).to_contain_text("does not answer")

    assert not [one for one in person.network.sent if "evil.test" in one.host]


@pytest.mark.own_browser
@pytest.mark.parametrize("stay", [False, True], ids=["until the browser ends", "staying signed in"])
def test_the_token_can_be_read_by_no_page_and_no_content_script(
    person: Person, company: Company, tmp_path: Path, *, stay: bool
) -> None:
    popup = person.look_at(company.website)
    if stay:
        popup.get_by_label("Stay signed in").check()
    person.fill_in(popup)
    expect(popup.get_by_role("heading", name=company.name)).to_be_visible()
    page = person.tabs()[0]

    reached = person.worker.evaluate(
        f"""async () => {{
          const [tab] = await chrome.tabs.query({{ active: true }});
          const [{{ result }}] = await chrome.scripting.executeScript({{
            target: {{ tabId: tab.id }}, func: {TRY_TO_READ} }});
          return result;
        }}"""
    )
    from_page = page.evaluate("() => typeof chrome?.storage + ' ' + typeof chrome?.runtime?.sendMessage")

    token = person.stored("session")["session"]["token"]
    on_disk = json.dumps(person.stored("local"))
    files = [path for path in (tmp_path / "profile").rglob("*") if path.is_file()]
    assert token.startswith("ses_")
    assert {area: "not allowed" in told for area, told in reached.items()} == {"session": True, "local": True}
    assert from_page == "undefined undefined"
    assert (token in on_disk) is stay
    assert stay or not [path.name for path in files if token.encode() in path.read_bytes()]
    assert PASSWORD not in on_disk + json.dumps(person.stored("session"))
    assert len(files) > 20


def test_a_website_cannot_load_frame_or_find_the_extension(person: Person) -> None:
    page = person.visit("http://curious.test/")
    manifest = json.loads((EXTENSION / "manifest.json").read_text())

    tried = page.evaluate(TRY_TO_LOAD, person.id)
    page.evaluate(
        """id => new Promise(done => {
          const frame = document.createElement("iframe");
          frame.onload = done;
          frame.src = `chrome-extension://${id}/panel.html`;
          document.body.append(frame);
        })""",
        person.id,
    )

    assert "web_accessible_resources" not in manifest
    assert set(tried.values()) == {"refused"}
    assert [frame.url for frame in page.frames[1:] if "panel" in frame.url] == []


def test_chrome_warns_of_nothing_before_somebody_signs_in(person: Person) -> None:
    shipped = json.loads((EXTENSION / "manifest.json").read_text())

    none = _warnings(person, shipped)
    control = _warnings(person, shipped | {"permissions": [*shipped["permissions"], "tabs"]})

    assert none == []
    assert control == ["Read your browsing history"]


def test_the_pages_policy_refuses_code_pictures_frames_and_words_to_elsewhere(person: Person) -> None:
    popup = person.look_at("http://quiet.test/")

    tried = popup.evaluate(TRY_TO_RUN)

    assert tried["ran"] is None
    assert tried["refused"] == [
        "connect-src",
        "frame-src",
        "img-src",
        "script-src-attr",
        "script-src-elem",
    ]
    assert not [one for one in person.network.sent if "evil.test" in one.text]


def test_html_in_whatever_is_stored_or_read_is_shown_as_text(person: Person, stack: Stack) -> None:
    profile, domain = _stored_code(stack)
    person.sign_in(lists=[f"List {CODE}"])
    ran: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        ran.append(dialog.message)
        dialog.dismiss()

    person.context.on("dialog", dismiss)

    popup = person.look_at(f"http://{domain}/")
    expect(popup.get_by_role("heading", name=f"Company {CODE}")).to_be_visible()
    popup.get_by_role("button", name=f"Name {CODE}").click()
    expect(popup.get_by_role("heading", name=f"Name {CODE}")).to_be_visible()
    expect(popup.get_by_text(f"Title {CODE}")).to_be_visible()
    popup.get_by_role("button", name="Reveal e-mail").click()
    popup.get_by_text("Receipt").click()
    expect(popup.get_by_text(f"Imported from file {CODE}")).to_be_visible()
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("List").fill(f"List {CODE}")
    popup.get_by_label("Tags").fill(CODE)
    popup.get_by_label("Note").fill(f"</textarea>{CODE}")
    popup.get_by_role("button", name="Save", exact=True).click()
    expect(popup.get_by_text(f"Saved in List {CODE}")).to_be_visible()
    _has_no_code(popup)
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name=f"Name {CODE}")).to_be_visible()
    _has_no_code(popup)
    popup.close()

    again = person.look_at(person.plays_profile("coded-page", f"Page {escape(CODE)}", escape(CODE)))
    expect(again.get_by_role("heading", name=f"Page {CODE}")).to_be_visible()
    _has_no_code(again)
    again.close()

    saved = person.look_at(person.plays_profile(profile, "Somebody"))
    expect(saved.get_by_label("Note")).to_have_value(f"</textarea>{CODE}")
    _has_no_code(saved)
    person.context.remove_listener("dialog", dismiss)
    assert ran == []


def _walk(person: Person, addresses: list[str]) -> None:
    """Visit every page, reload some, go back and forth between tabs, until the alarm has rung."""
    second = person.context.new_page()
    for number, address in enumerate(addresses):
        page = person.tabs()[number % 2]
        page.bring_to_front()
        page.goto(address)
        if number % 5 == 0:
            page.reload()
    second.go_back()
    second.go_forward()
    person.ring_alarm()
    until(lambda: person.worker.evaluate("async () => (await chrome.alarms.getAll()).length === 0"))
    second.close()


def _plays(context: BrowserContext, url: str) -> str:
    html = PROFILE.format(n=3, name="Walker", headline="Baker")
    context.route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
    return url


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sent(requests: list[Sent], path: str) -> Sent:
    (found,) = [one for one in requests if one.path == path]
    return found


def _naming(requests: list[Sent], *names: str) -> list[str]:
    """Give the requests that say one of the names: in path, headers or body."""
    return [one.text for one in requests if any(name.lower() in one.text.lower() for name in names)]


def _table(pages: list[Sent], others: list[Sent], clicked: list[Sent]) -> str:
    """Write what was sent, for people to read."""
    loads = Counter(one.host for one in pages)
    rows = [("while browsing", f"{host}, the page itself", str(count)) for host, count in loads.items()]
    own = Counter(one.host for one in others)
    rows += [("while browsing", f"{host}, Chromium itself", str(count)) for host, count in own.items()]
    rows.append(("while browsing", "to the server", "0"))
    rows += [
        ("after one click", f"{one.method} {one.path} {one.body.decode()[:60]}", str(len(one.body)))
        for one in clicked
    ]
    return "\n" + "\n".join(f"{when:16} {what:100} {size:>5}" for when, what, size in rows)


def _warnings(person: Person, manifest: dict[str, Any]) -> list[str]:
    warnings: list[str] = person.worker.evaluate(
        "manifest => chrome.management.getPermissionWarningsByManifest(JSON.stringify(manifest))", manifest
    )
    return warnings


def _stored_code(stack: Stack) -> tuple[str, str]:
    """Store a person of whom everything is HTML; give the profile and the website."""
    now = clock.now()
    source = Source(f"file {CODE}", SourceKind.IMPORT, now)
    domain = f"coded-{now.timestamp():.0f}.test"
    made = FoundCompany(source=source, name=f"Company {CODE}", domain=domain, industry=f"Industry {CODE}")
    address = FoundEmail(email=f"code@{domain}", type="work", status=EmailStatus.VALID, source=source)
    slug = f"coded-{now.timestamp():.0f}"
    found = FoundContact(
        source=source,
        full_name=f"Name {CODE}",
        title=f"Title {CODE}",
        city=f"City {CODE}",
        linkedin_url=f"https://www.linkedin.com/in/{slug}",
        company=made,
        emails=(address,),
    )
    with stack.database.transaction() as session:
        contacts.upsert(session, found, now=now)
    return slug, domain


def _has_no_code(panel: Page) -> None:
    foreign = "img:not([src='icons/48.png']), script:not([src]), iframe"
    assert panel.evaluate("selector => document.querySelectorAll(selector).length", foreign) == 0
