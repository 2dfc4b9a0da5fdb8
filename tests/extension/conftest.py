"""Fixtures: a running service with stub vendors, and for each test a user with a clean browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chromium_support import Browser, BrowserUser, chromium_path, launch_browser
from company_filter_support import SIGNING_SEED
from e2e_stack import Stack, running
from local_servers import empty_database
from playwright.sync_api import Playwright
from proxy_support import RecordingProxy, recording_proxy
from vendors_support import FakeVendors, run_fake_vendors


@pytest.fixture(scope="session")
def vendors() -> Iterator[FakeVendors]:
    with run_fake_vendors() as vendors:
        yield vendors


@pytest.fixture(scope="session")
def stack(vendors: FakeVendors, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """Run one service for this folder, which searches the sandbox first, then Hunter and Prospeo."""
    chromium_path()
    folder, here = tmp_path_factory.mktemp("extension"), Path(__file__).parent
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"extension_{worker_id}"))
        settings = vendors.settings() | {
            "PROVIDERS_EMAIL": "sandbox,hunter,prospeo",
            "PROVIDERS_PHONE": "sandbox",
            "PROVIDERS_PERSON": "sandbox",
            "PROVIDERS_COMPANY": "sandbox",
            "WEB_CONCURRENCY": "1",
            "COMPANY_FILTER_KEY": SIGNING_SEED,
            "WEBHOOK_NETWORKS": "127.0.0.1/32",  # of the CRMs on loopback
            "PYTHONPATH": f"{here.parents[1]}:{here}",
        }
        yield stop.enter_context(running(folder, url, application="patient_workers_entry", **settings))


@pytest.fixture(scope="session")
def _session_proxy(stack: Stack) -> Iterator[RecordingProxy]:
    with recording_proxy(stack.base_url.removeprefix("http://")) as proxy:
        yield proxy


@pytest.fixture
def proxy(_session_proxy: RecordingProxy) -> RecordingProxy:
    """Return the proxy of all browsers, without recorded requests and faults."""
    _session_proxy.reset()
    return _session_proxy


@pytest.fixture(scope="session")
def _shared_browser(
    playwright: Playwright, _session_proxy: RecordingProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Start a browser once: starting one takes seconds."""
    with launch_browser(playwright, tmp_path_factory.mktemp("browser"), _session_proxy) as started:
        yield started


@pytest.fixture
def _clean_browser(_shared_browser: Browser, proxy: RecordingProxy) -> Iterator[Browser]:
    """Lend the shared browser, and reset it after the test."""
    yield _shared_browser
    errors = list(_shared_browser.errors)
    _shared_browser.errors.clear()
    _shared_browser.reset()
    assert errors == [], "a page threw an error"


@pytest.fixture
def _own_browser(playwright: Playwright, proxy: RecordingProxy, tmp_path: Path) -> Iterator[Browser]:
    """Start a browser with a new profile in the folder of the test."""
    with launch_browser(playwright, tmp_path, proxy) as started:
        yield started


@pytest.fixture
def user(request: pytest.FixtureRequest, proxy: RecordingProxy, stack: Stack) -> BrowserUser:
    """Return a user with a new account who is not signed in, and whose extension has no stored data."""
    workspace, token = stack.create_workspace()
    is_marked = request.node.get_closest_marker("own_browser")
    started: Browser = request.getfixturevalue("_own_browser" if is_marked else "_clean_browser")
    return BrowserUser(started, proxy, stack, workspace, token)


@pytest.fixture(autouse=True)
def _reset_vendors(vendors: FakeVendors) -> None:
    vendors.reset()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "own_browser: start a browser for a test that restarts it or stops its worker",
    )
