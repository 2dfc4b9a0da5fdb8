"""With COMPANY_FILTER_OPRF_KEY, the file is read with blinded requests, and does not list the companies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256

import pytest
from chromium_support import Browser, BrowserUser, launch_browser
from company_filter_support import SIGNING_KEY, SIGNING_SEED, build_filter, read_filter
from company_support import create_company
from e2e_stack import Stack, running
from local_servers import empty_database
from playwright.sync_api import Playwright, expect
from polling import wait_until
from proxy_support import CannedReply, RecordingProxy, recording_proxy

from app.core.lookups import company_filters
from app.domain import company_filter_file
from app.infra import signing_keys
from app.infra.oprf import OprfKey

EVALUATE = "/api/ext/company-filter/evaluate"
COMPANY = "/api/ext/company-by-hash"
KEY = OprfKey.derive(bytes(range(32)))
OTHER_KEY = OprfKey.derive(bytes(32))


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
def domain(stack: Stack) -> str:
    """Return the domain of a company that the file has."""
    company = create_company(stack)
    build_filter(stack.database, SIGNING_KEY, KEY)
    return company.domain


def sent(user: BrowserUser, path: str) -> list[dict[str, object]]:
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
    assert (first["key"], len(first["blinded"])) == (KEY.public.hex(), 1)  # type: ignore[arg-type]
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
        expect(popup.get_by_role("button", name="Show company and people")).to_be_visible()
        popup.close()

    assert len(sent(user, EVALUATE)) == 1


def test_two_blinded_requests_for_the_same_website_have_nothing_in_common(
    user: BrowserUser, domain: str
) -> None:
    user.sign_in(look_up_by="filter")
    user.open_popup_on(f"http://{domain}/").get_by_role("button", name="Show company and people").wait_for()
    user.worker.evaluate("() => chrome.storage.session.remove('filter_outputs')")

    user.open_popup_on(f"http://{domain}/").get_by_role("button", name="Show company and people").wait_for()

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


def test_prefixes_are_not_sent_to_a_service_with_a_keyed_file(user: BrowserUser, domain: str) -> None:
    user.sign_in(look_up_by="prefix")

    popup = user.open_popup_on(f"http://{domain}/")

    expect(popup.get_by_role("button", name="Show company and people")).to_be_visible()
    assert sent(user, COMPANY) == []
