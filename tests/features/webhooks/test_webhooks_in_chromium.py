"""The pages of webhooks and events in a real Chromium, with real deliveries to a receiver on loopback."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from e2e_stack import Stack
from findings_support import ADA, DAY, NOW, a_source, company, person
from page_browser_support import (
    FIND_CUT_OFF,
    FIND_SMALL,
    OPERATORS,
    PageBrowser,
    create_operator,
    sign_in,
)
from playwright.sync_api import Browser, Page, expect
from pytest_httpserver import HTTPServer
from sqlalchemy import delete
from standardwebhooks import Webhook as Reference
from stored_support import own

from app.engine.contacts import contacts
from app.engine.events.endpoints import WebhookEndpoint

pytestmark = pytest.mark.slow
OPERATOR = OPERATORS["webhooks"]
PHONE = 390  # CSS pixels


@pytest.fixture(scope="module")
def stack(service: Stack) -> Stack:
    """The service with an admin whose workspace owns a contact."""
    workspace_id = create_operator(service, OPERATOR)
    with service.database.transaction() as session:
        contact = contacts.upsert(session, _at("Acme"), now=NOW)
        own(session, workspace_id, contact, "email")
    return service


@pytest.fixture(scope="module")
def browser(chromium: Browser, stack: Stack) -> PageBrowser:
    return PageBrowser(chromium, stack)


@pytest.fixture(autouse=True)
def _no_endpoints(stack: Stack) -> None:
    with stack.database.transaction() as session:
        session.execute(delete(WebhookEndpoint))


def test_an_admin_adds_an_endpoint_tests_it_and_receives_a_job_change(
    browser: PageBrowser, stack: Stack, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/hook", method="POST").respond_with_data("", status=204)
    with browser.visit() as page:
        sign_in(page, path="/webhooks", email=OPERATOR)
        page.get_by_label("URL").fill(httpserver.url_for("/hook"))
        page.get_by_label("A contact changed company").check()
        page.get_by_role("button", name="Create").click()
        _assert_accessible(page)
        page.locator("summary", has_text="Secret").click()
        secret = page.locator(".secret .copyable > span").inner_text()

        page.get_by_role("button", name="Send a test").click()
        expect(page.locator(".badge", has_text="Delivered")).to_be_visible()
        _assert_accessible(page)
        with stack.database.transaction() as session:
            contacts.upsert(session, _at("Globex", days=1), now=NOW + DAY)
        page.goto("/events")
        expect(page.get_by_text("Ada Lovelace moved from Acme to Globex.")).to_be_visible()
        _assert_accessible(page)
        _wait_for_deliveries(page, 2)

    received = [_verified(request, secret) for request, _response in httpserver.log]
    assert [event["type"] for event in received] == ["webhook_endpoint.test", "contact.job_changed"]


def test_an_endpoint_that_refuses_is_shown_with_its_attempt_without_javascript(
    browser: PageBrowser, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/hook", method="POST").respond_with_data("", status=500)
    with browser.visit(java_script_enabled=False, width=PHONE) as page:
        sign_in(page, path="/webhooks", email=OPERATOR)
        page.get_by_label("URL").fill(httpserver.url_for("/hook"))
        page.get_by_label("A push to the CRM failed").check()
        page.get_by_role("button", name="Create").click()

        page.get_by_role("button", name="Send a test").click()

        expect(page.get_by_text("not accepted")).to_be_visible()
        expect(page.get_by_role("cell", name="500")).to_be_visible()


def _at(employer: str, *, days: int = 0) -> Any:
    """Return what an import says about Ada, so many days after NOW."""
    at = NOW + days * DAY
    return person(linkedin_url=ADA, company=company(employer, at=at), source=a_source(at))


def _wait_for_deliveries(page: Page, count: int) -> None:
    """Reload the log until so many deliveries have succeeded."""
    page.goto("/webhooks")
    for _ in range(60):
        if page.get_by_role("cell", name="Delivered").count() == count:
            return
        page.reload()
    pytest.fail("the deliveries did not succeed")


def _verified(request: Any, secret: str) -> dict[str, Any]:
    event: dict[str, Any] = Reference(secret).verify(request.data, dict(request.headers))
    return event


def _assert_accessible(page: Page) -> None:
    """Check the page as it is, and on a phone."""
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in violations] == []
    assert page.evaluate(FIND_SMALL) == []
    size = page.viewport_size
    page.set_viewport_size({"width": PHONE, "height": 700})
    assert page.evaluate(FIND_CUT_OFF) == []
    page.set_viewport_size(size or {"width": 1280, "height": 860})
