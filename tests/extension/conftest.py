"""A service with a worker and vendors, and for each test a browser of its own and a person in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chromium_support import Person, browser, chromium
from playwright.sync_api import Playwright, sync_playwright
from proxy_support import Network, network
from support import empty_database
from vendors_support import Vendors, vendors_on_loopback
from walks_support import Stack, running


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


@pytest.fixture
def net(stack: Stack) -> Iterator[Network]:
    with network(stack.base_url.removeprefix("http://")) as world:
        yield world


@pytest.fixture
def person(playwright: Playwright, net: Network, stack: Stack, tmp_path: Path) -> Iterator[Person]:
    """Somebody with a browser of their own, not signed in yet."""
    workspace, token = stack.workspace()
    with browser(playwright, tmp_path, net) as (context, extension):
        yield Person(context, net, stack, extension, workspace, token)


@pytest.fixture(autouse=True)
def _vendors_as_new(vendors: Vendors) -> None:
    vendors.start_anew()
