from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from apiflask import APIFlask
from e2e_stack import Stack, running
from local_servers import empty_database
from page_browser_support import OPERATORS, launch
from page_support import Visitor, visitor
from playwright.sync_api import Browser, Playwright
from users_support import SignedInUser, create_user


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)


@pytest.fixture
def browser(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser that is signed in as the user."""
    return visitor(app, user)


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """A real Chromium; every visit has a context of its own."""
    chromium = launch(playwright)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def service(chromium: Browser, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """A running service that may call loopback, for tests that create an operator of their own."""
    folder = tmp_path_factory.mktemp("pages")
    settings = {"OPERATORS": ",".join(OPERATORS.values()), "WEBHOOK_NETWORKS": "127.0.0.1/32"}
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"pages_{worker_id}"))
        yield stop.enter_context(running(folder, url, WEB_CONCURRENCY="1", **settings))
