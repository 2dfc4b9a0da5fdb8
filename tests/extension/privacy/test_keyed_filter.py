"""With COMPANY_FILTER_OPRF_KEY, the server receives blinded elements and prefixes of outputs, and no hash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from typing import Any

import pytest
from chromium_support import Browser, BrowserUser, launch_browser
from company_filter_support import SIGNING_KEY, SIGNING_SEED, build_filter, read_filter
from company_support import Company, create_company
from e2e_stack import Stack, running
from local_servers import empty_database
from playwright.sync_api import Playwright, expect
from polling import wait_until
from proxy_support import CannedReply, RecordingProxy, recording_proxy

from app.features.company_filter import file_format as company_filter_file
from app.features.company_filter import filters as company_filters
from app.features.company_filter import signing_keys
from app.infra.crypto.oprf import OprfKey

pytestmark = pytest.mark.release

EVALUATE = "/api/ext/company-filter/evaluate"
COMPANY = "/api/ext/company-by-hash"
LEADS = "/api/ext/leads-by-website-hash"
FILE = "/api/ext/company-filter"
KEY = OprfKey.derive(bytes(range(32)))
OTHER_KEY = OprfKey.derive(bytes(32))
VISIT_AND_CLICK = """async (hosts) => {
  const { siteView } = await import("/views/site.js");
  const { Client } = await import("/client/api.js");
  const { loadSession } = await import("/storage.js");
  const session = await loadSession();
  const client = new Client(session.origin, session.token);
  const app = { session, client, signal: new AbortController().signal };
  const shown = [];
  for (const host of hosts) {
    const node = await siteView({ kind: "site", host, url: "", tabId: 1, windowId: 1 })(app);
    const button = [...node.querySelectorAll("button")].find((one) => one.textContent === "Show company");
    button?.click();
    const isOver = () => node.querySelector("h1, h2, [role=alert]") !== null;
    while (button && !isOver()) await new Promise((done) => setTimeout(done, 10));
    shown.push(button ? (node.querySelector("h1")?.textContent ?? node.textContent) : "");
  }
  return shown;
}"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """Run a service whose company filter is keyed with KEY."""
    folder = tmp_path_factory.mktemp("keyed")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"keyed_{worker_id}"))
        keys = {"COMPANY_FILTER_KEY": SIGNING_SEED, "COMPANY_FILTER_OPRF_KEY": SIGNING_SEED}
        yield stop.enter_context(running(folder, url, WEB_CONCURRENCY="1", **keys))


@pytest.fixture(scope="module")
def _session_proxy(stack: Stack) -> Iterator[RecordingProxy]:
    with recording_proxy(stack.base_url.removeprefix("http://")) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def _shared_browser(
    playwright: Playwright, _session_proxy: RecordingProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with launch_browser(playwright, tmp_path_factory.mktemp("browser"), _session_proxy) as started:
        yield started


@pytest.fixture
def company(stack: Stack) -> Company:
    """Return a company that the file has."""
    company = create_company(stack)
    build_filter(stack.database, SIGNING_KEY, KEY)
    return company


@pytest.fixture
def domain(company: Company) -> str:
    """Return the domain of a company that the file has."""
    return company.domain


def digest_of(text: str) -> bytes:
    return sha256(text.encode()).digest()


def sent(user: BrowserUser, path: str) -> list[dict[str, Any]]:
    return [request.json for request in user.proxy.api_requests(path)]


def test_a_website_is_looked_up_with_one_request_that_does_not_name_it(
    user: BrowserUser, domain: str
) -> None:
    user.sign_in(look_up_by="filter")

    popup = user.open_popup_on(f"http://{domain}/")
    expect(popup.get_by_text("does not tell it which website you have open")).to_be_visible()
    popup.close()
    popup = user.open_popup_on("http://nobody-knows-this.test/")
    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")

    first, second = sent(user, EVALUATE)
    assert (first["key"], len(first["blinded"])) == (KEY.public.hex(), 1)
    assert sent(user, COMPANY) == []
    digests = [sha256(name.encode()).hexdigest() for name in (domain, "nobody-knows-this.test")]
    everything = json.dumps([first, second])
    assert not any(digest[:16] in everything for digest in digests)
    assert first["blinded"] != second["blinded"]


def test_the_same_website_is_not_asked_about_again_in_this_browser_session(
    user: BrowserUser, domain: str
) -> None:
    user.sign_in(look_up_by="filter")
    for _ in range(2):
        popup = user.open_popup_on(f"http://{domain}/")
        expect(popup.get_by_role("button", name="Show company")).to_be_visible()
        popup.close()

    assert len(sent(user, EVALUATE)) == 1


def test_two_blinded_requests_for_the_same_website_have_nothing_in_common(
    user: BrowserUser, domain: str
) -> None:
    user.sign_in(look_up_by="filter")
    user.open_popup_on(f"http://{domain}/").get_by_role("button", name="Show company").wait_for()
    user.worker.evaluate("() => chrome.storage.session.remove('filter_outputs')")

    user.open_popup_on(f"http://{domain}/").get_by_role("button", name="Show company").wait_for()

    first, second = sent(user, EVALUATE)
    assert first["key"] == second["key"]
    assert first["blinded"] != second["blinded"]


def test_the_file_alone_does_not_tell_whether_a_website_is_known(stack: Stack, domain: str) -> None:
    with stack.database.reading() as session:
        found = company_filters.content(session, 16)
    assert found is not None
    read = read_filter(found[1], signing_keys.public_text(SIGNING_KEY), keyed=True)

    digest = sha256(domain.encode()).digest()

    assert company_filter_file.key_of(digest) not in read
    assert company_filter_file.key_of(OTHER_KEY.output(digest)) not in read
    assert company_filter_file.key_of(KEY.output(digest)) in read


def test_a_reply_of_another_key_is_not_used(user: BrowserUser, domain: str) -> None:
    user.sign_in(look_up_by="filter")
    element = OTHER_KEY.evaluate(
        [bytes.fromhex("863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945")]
    )
    body = {"evaluated": [element.elements[0].hex()], "proof": element.proof.hex()}
    reply = CannedReply(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    with user.proxy.replying(EVALUATE, reply):
        popup = user.open_popup_on(f"http://{domain}/")

        expect(popup.get_by_text("does not fit its list of known companies")).to_be_visible()
    assert sent(user, COMPANY) == []


def test_after_a_change_of_the_key_the_new_file_is_downloaded_at_once(
    user: BrowserUser, stack: Stack, domain: str
) -> None:
    build_filter(
        stack.database, SIGNING_KEY, OTHER_KEY
    )  # as before the change: the service evaluates with KEY
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(f"http://{domain}/")
    expect(popup.get_by_text("is not on your computer yet")).to_be_visible()
    popup.close()
    wait_until(lambda: "company_filter" in user.get_storage("local"))
    build_filter(stack.database, SIGNING_KEY, KEY)

    popup = user.open_popup_on(f"http://{domain}/")

    expect(popup.get_by_text("does not tell it which website you have open")).to_be_visible()


def test_a_click_shows_the_company_and_sends_only_a_prefix(user: BrowserUser, company: Company) -> None:
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(f"http://www.shop.{company.domain}/")
    expect(popup.get_by_text("This sends the first characters of a keyed hash")).to_be_visible()
    assert sent(user, COMPANY) == []

    popup.get_by_role("button", name="Show company").click()

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(popup.get_by_role("heading", level=1)).to_be_focused()
    expect(popup.locator(".company")).to_contain_text("3 people known")
    prefix = KEY.output(digest_of(company.domain)).hex()[:2]
    assert sent(user, COMPANY) == [{"kind": "website", "prefix": prefix, "key": KEY.public.hex()}]
    assert sent(user, LEADS) == []


def test_the_people_are_shown_with_another_click_which_sends_the_hash(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(company.website)
    popup.get_by_role("button", name="Show company").click()
    expect(popup.get_by_text(f"This sends the full hash of {company.domain}")).to_be_visible()

    popup.get_by_role("button", name="Show people").click()

    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    assert [body["hash"] for body in sent(user, LEADS)] == [digest_of(company.domain).hex()]


def test_more_private_sends_the_prefix_of_a_known_website_at_once(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in(look_up_by="prefix")

    popup = user.open_popup_on("http://nobody-knows-this.test/")
    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
    popup.close()
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)

    prefix = KEY.output(digest_of(company.domain)).hex()[:2]
    assert sent(user, COMPANY) == [{"kind": "website", "prefix": prefix, "key": KEY.public.hex()}]


def test_the_company_of_a_linkedin_page_is_looked_up_by_a_prefix_too(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in(look_up_by="filter")
    url = f"https://www.linkedin.com/company/{company.domain.removesuffix('.test')}"
    user.tabs()[0].route(f"{url}/", lambda route: route.fulfill(body="<p>About", content_type="text/html"))

    popup = user.open_popup_on(f"{url}/")
    popup.get_by_role("button", name="Show company").click()

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    prefix = KEY.output(digest_of(url)).hex()[:2]
    assert sent(user, COMPANY) == [{"kind": "linkedin", "prefix": prefix, "key": KEY.public.hex()}]


def test_of_205_websites_the_server_receives_only_blinded_elements_and_prefixes(
    user: BrowserUser, stack: Stack
) -> None:
    known = [create_company(stack) for _ in range(5)]
    build_filter(stack.database, SIGNING_KEY, KEY)
    hosts = [company.domain for company in known] + [f"unknown-{number}.test" for number in range(200)]
    user.sign_in(look_up_by="filter")
    panel = user.open_panel()

    shown = panel.evaluate(VISIT_AND_CLICK, hosts)

    digests = [digest_of(host) for host in hosts]
    outputs = [KEY.output(digest) for digest in digests]
    bodies, lookups = sent(user, EVALUATE), sent(user, COMPANY)
    print(f"{len(hosts)} websites: {len(bodies)} blinded requests, {len(lookups)} prefixes")  # noqa: T201 -- for the docs
    assert shown[:5] == [company.name for company in known]
    assert set(shown[5:]) == {""}
    assert {frozenset(body) for body in bodies} == {frozenset({"key", "blinded"})}
    assert [len(body["blinded"]) for body in bodies] == [1] * len(hosts)
    assert {body["key"] for body in bodies + lookups} == {KEY.public.hex()}
    prefixes = [output.hex()[:2] for output in outputs[:5]]
    assert lookups == [{"kind": "website", "prefix": prefix, "key": KEY.public.hex()} for prefix in prefixes]
    paths = {request.path for request in user.proxy.api_requests()}
    assert paths == {EVALUATE, COMPANY, "/api/ext/session", f"{FILE}?bits=16"}
    everything = " ".join(request.text for request in user.proxy.api_requests())
    assert not [secret for secret in digests + outputs if secret.hex()[:12] in everything]
    assert not [host for host in hosts if host in everything]


def test_a_changed_card_is_not_shown(user: BrowserUser, company: Company) -> None:
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(company.website)
    output = KEY.output(digest_of(company.domain)).hex()
    match = {"suffix": output[2:32], "company": {"name": "Another company"}, "sealed": "A" * 296}
    job = {"id": "job_x", "kind": "company_by_hash", "status": "succeeded", "finished_at": "now"}
    result = {"key": KEY.public.hex(), "prefix": output[:2], "matches": [match], "padding": ""}
    body = json.dumps({"job": job, "result": result}).encode()

    with user.proxy.replying(COMPANY, CannedReply(200, body, {"Content-Type": "application/json"})):
        popup.get_by_role("button", name="Show company").click()

        expect(popup.get_by_role("heading")).to_contain_text("No company is known for")


def test_while_a_new_list_is_being_built_the_user_can_ask_with_the_hash(
    user: BrowserUser, stack: Stack, company: Company
) -> None:
    user.sign_in(look_up_by="filter")
    popup = user.open_popup_on(company.website)
    expect(popup.get_by_role("button", name="Show company")).to_be_visible()
    build_filter(stack.database, SIGNING_KEY, OTHER_KEY)  # the service still has the former key

    popup.get_by_role("button", name="Show company").click()

    expect(popup.get_by_text("your server is probably building a new list")).to_be_visible()
    assert [body for body in sent(user, COMPANY) if "prefix" not in body] == []
    popup.get_by_role("button", name="Show company and people").click()
    expect(popup.get_by_role("button", name="Ada Lovelace")).to_be_visible()
    build_filter(stack.database, SIGNING_KEY, KEY)
