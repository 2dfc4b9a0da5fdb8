"""The sign-in with a company account at a real OpenID provider: in the extension's window and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chromium_support import BrowserUser, chromium_path, launch_browser
from e2e_stack import Stack, running
from extension_ids import unpacked_id
from local_servers import empty_database
from openid_process import OpenIdProcess, running_provider
from playwright.sync_api import Page, Playwright, expect
from proxy_support import RecordingProxy, recording_proxy

pytestmark = pytest.mark.release

SITE = "http://www.acme.test/"
SUBJECT = "ada"


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProcess]:
    chromium_path()
    with running_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the browser, from which the id of the extension follows."""
    return tmp_path_factory.mktemp("company")


@pytest.fixture(scope="module")
def company_stack(provider: OpenIdProcess, folder: Path, worker_id: str) -> Iterator[Stack]:
    """A service that accepts no passwords."""
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"company_{worker_id}"))
        settings = provider.settings | {
            "OIDC_EXTENSION_IDS": unpacked_id(folder / "extension"),
            "PASSWORD_SIGN_IN": "off",
            "WEB_CONCURRENCY": "1",
        }
        yield stop.enter_context(running(folder, url, **settings))


@pytest.fixture
def company_proxy(company_stack: Stack, provider: OpenIdProcess) -> Iterator[RecordingProxy]:
    with recording_proxy(company_stack.base_url.removeprefix("http://")) as proxy:
        proxy.provider = provider.issuer.removeprefix("http://")
        yield proxy


@pytest.fixture
def company_user(
    playwright: Playwright,
    company_stack: Stack,
    company_proxy: RecordingProxy,
    provider: OpenIdProcess,
    folder: Path,
) -> Iterator[BrowserUser]:
    """A user whose company account has the address of an account of the service."""
    workspace, token = company_stack.create_workspace()
    with launch_browser(playwright, folder, company_proxy) as started:
        user = BrowserUser(started, company_proxy, company_stack, workspace, token)
        provider.add_user(SUBJECT + workspace, email=user.email, email_verified=True, name="Ada")
        yield user


def sign_in_at_provider(window: Page, user: BrowserUser) -> None:
    window.get_by_placeholder("sub").fill(SUBJECT + user.workspace)
    window.get_by_role("button", name="Authorize").click()


def test_the_extension_signs_in_through_a_window_and_no_token_is_in_an_address(
    company_user: BrowserUser,
) -> None:
    popup = company_user.open_popup_on(SITE)
    popup.get_by_label("Server").fill(company_user.server)

    with company_user.context.expect_page() as opened:
        popup.get_by_role("button", name="Continue with").click()
    sign_in_at_provider(opened.value, company_user)

    popup = company_user.open_panel()
    expect(popup.get_by_text("100 credits")).to_be_visible()
    stored = company_user.get_storage("session")["session"]
    sent = [request.method + request.path for request in company_user.proxy.sent]
    assert stored["account"]["email"] == company_user.email
    assert not any(stored["token"] in address for address in sent)
    assert not any("code_verifier" in address for address in sent)


def test_a_server_without_passwords_is_offered_without_them(company_user: BrowserUser) -> None:
    company_user.set_storage("local", settings={"server": company_user.server})

    popup = company_user.open_popup_on(SITE)

    expect(popup.get_by_role("button", name="Continue with Acme")).to_be_visible()
    expect(popup.get_by_label("Password")).to_be_hidden()
    expect(popup.get_by_label("E-mail")).to_be_hidden()


def test_a_window_that_the_user_closes_is_a_sentence(company_user: BrowserUser) -> None:
    company_user.set_storage("local", settings={"server": company_user.server})
    panel = company_user.open_panel()

    with company_user.context.expect_page() as opened:
        panel.get_by_role("button", name="Continue with Acme").click()
    opened.value.get_by_placeholder("sub").wait_for()
    opened.value.close()

    expect(panel.get_by_role("alert")).to_have_text(
        "The window was closed before you were signed in. Try again."
    )


def test_the_page_signs_in_at_the_provider(
    playwright: Playwright, company_stack: Stack, company_user: BrowserUser
) -> None:
    with playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"]) as browser:
        page = browser.new_page()
        page.goto(f"{company_stack.base_url}/history")

        page.get_by_role("link", name="Sign in with Acme").click()
        sign_in_at_provider(page, company_user)

        expect(page.get_by_role("heading", name="History")).to_be_visible()
        assert page.url == f"{company_stack.base_url}/history"
