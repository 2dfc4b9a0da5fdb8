"""A service with a worker and vendors, and for each test a browser of its own and a person in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from chromium_support import Browser, Person, browser, chromium
from e2e_stack import Stack, running
from local_servers import empty_database
from playwright.sync_api import Playwright, sync_playwright
from proxy_support import Network, network
from vendors_support import Vendors, vendors_on_loopback


@pytest.fixture(scope="session")
def vendors() -> Iterator[Vendors]:
    with vendors_on_loopback() as vendors:
        yield vendors


@pytest.fixture(scope="session")
def stack(vendors: Vendors, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """One service for all tests here, with Hunter and Prospeo behind the sandbox."""
    chromium()
    folder = tmp_path_factory.mktemp("extension")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"extension_{worker_id}"))
        settings = vendors.settings() | {
            "PROVIDERS_EMAIL": "sandbox,hunter,prospeo",
            "PROVIDERS_PHONE": "sandbox",
            "PROVIDERS_PERSON": "sandbox",
            "PROVIDERS_COMPANY": "sandbox",
        }
        yield stop.enter_context(running(folder, url, **settings))


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    chromium()
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def _network(stack: Stack) -> Iterator[Network]:
    with network(stack.base_url.removeprefix("http://")) as world:
        yield world


@pytest.fixture
def net(_network: Network) -> Network:
    """The network of all browsers, with nothing sent yet and nothing going wrong."""
    _network.reset()
    return _network


@pytest.fixture(scope="session")
def _shared_browser(
    playwright: Playwright, _network: Network, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[bool], Browser]]:
    """Start one light and one dark browser when first asked for: starting one takes seconds."""
    with ExitStack() as stop:

        @cache
        def start(dark: bool) -> Browser:  # noqa: FBT001 -- the cache's key
            folder = tmp_path_factory.mktemp("browser")
            return stop.enter_context(browser(playwright, folder, _network, dark=dark))

        yield start


@pytest.fixture
def dark() -> bool:
    """Whether the browser is dark; tests override it."""
    return False


@pytest.fixture
def _clean_browser(
    _shared_browser: Callable[[bool], Browser], net: Network, *, dark: bool
) -> Iterator[Browser]:
    """The shared browser without pages, cookies and stored data."""
    shared = _shared_browser(dark)
    yield shared
    errors = list(shared.errors)
    shared.errors.clear()
    shared.reset()
    assert errors == [], "a page threw"


@pytest.fixture
def _own_browser(playwright: Playwright, net: Network, tmp_path: Path) -> Iterator[Browser]:
    """A browser with a new profile in the test's folder, which the test may end or read."""
    with browser(playwright, tmp_path, net) as started:
        yield started


@pytest.fixture
def person(request: pytest.FixtureRequest, net: Network, stack: Stack, *, dark: bool) -> Person:
    """Somebody with an account and an extension of their own, not signed in yet."""
    workspace, token = stack.workspace()
    is_marked = request.node.get_closest_marker("own_browser")
    started: Browser = request.getfixturevalue("_own_browser" if is_marked else "_clean_browser")
    return Person(started, net, stack, workspace, token)


@pytest.fixture(autouse=True)
def _vendors_as_new(vendors: Vendors) -> None:
    vendors.start_anew()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "own_browser: start a browser for a test that reads its profile, restarts it or stops its worker",
    )
