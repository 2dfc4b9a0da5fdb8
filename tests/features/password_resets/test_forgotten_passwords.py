from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from inbox_support import running_inbox
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import select
from users_support import SignedInUser, create_user
from worker_harness import WorkerHarness, worker_harness

from app.engine.accounts import accounts
from app.engine.work.items import WorkItem
from app.features.password_resets import pages, resets
from app.features.password_resets.resets import PAUSE, PasswordReset
from app.features.password_resets.work import WORK, mail_reset
from app.infra import clock
from app.infra.crypto import passwords
from app.infra.database.db import Database
from app.settings import Settings

NEW = "a longer sentence that nobody thinks of"
MAIL = {
    "smtp_url": "smtp://127.0.0.1:1",
    "mail_from": "contacts@acme.example",
    "public_url": "http://localhost",
}


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    change_settings(app, **MAIL)
    return create_user(app)


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    harness = worker_harness(settings, database, monkeypatch)
    harness.change_settings(**MAIL)
    return harness


@pytest.fixture
def browser(app: APIFlask) -> Visitor:
    return visitor(app)


def ask(browser: Visitor, email: str) -> str:
    return browser.send("/sign-in/forgotten", email=email).text


def work_ids(user: SignedInUser) -> list[str]:
    with user.database.reading() as session:
        return list(session.scalars(select(WorkItem.id).where(WorkItem.due_at.is_not(None))))


def test_a_link_comes_by_mail_and_changes_the_password(
    user: SignedInUser, browser: Visitor, harness: WorkerHarness
) -> None:
    ask(browser, user.email)

    with running_inbox() as inbox:
        harness.change_settings(smtp_url=inbox.url)
        for work_id in work_ids(user):
            mail_reset(work_id, harness.services)
        [message] = inbox.messages

    url = re.search(r"http://localhost(/sign-in/reset\?token=([\w-]{43}))", message.get_content())
    assert url is not None
    browser.send("/sign-in/reset", token=url[2], new_password=NEW)
    assert inbox.recipients == [user.email]
    assert user.sign_in(password=NEW).status_code == 200


def test_the_page_is_the_same_for_an_address_that_nobody_has(user: SignedInUser, browser: Visitor) -> None:
    assert ask(browser, user.email) == ask(browser, "nobody@acme.example")
    assert len(work_ids(user)) == 2


@pytest.mark.parametrize("case", ["nobody", "disabled", "company"])
def test_no_message_is_sent_to_whoever_may_not_have_a_password(
    user: SignedInUser, browser: Visitor, harness: WorkerHarness, case: str
) -> None:
    with user.database.transaction() as session:
        account = accounts.locked(session, user.account_id)
        if case == "disabled":
            accounts.disable(session, user.account_id, now=clock.now())
        account.password_hash = passwords.unusable() if case == "company" else account.password_hash
    harness.change_settings(oidc_issuer="https://id.acme.example")
    ask(browser, "nobody@acme.example" if case == "nobody" else user.email)

    with running_inbox() as inbox:
        harness.change_settings(smtp_url=inbox.url)
        mail_reset(work_ids(user)[0], harness.services)

    assert (inbox.recipients, work_ids(user)) == ([], [])


def test_a_second_request_sends_nothing_for_20_minutes(user: SignedInUser, browser: Visitor) -> None:
    ask(browser, user.email)
    ask(browser, user.email)
    with user.database.transaction() as session:
        first = session.scalars(select(PasswordReset.id)).one()
        early = resets.request(session, user.email, now=clock.now())
        later = resets.request(session, user.email, now=clock.now() + PAUSE)

    assert (early, later) == (None, first)


def test_a_message_that_the_mail_server_does_not_accept_is_tried_again(
    user: SignedInUser, browser: Visitor, harness: WorkerHarness
) -> None:
    ask(browser, user.email)

    mail_reset(work_ids(user)[0], harness.services)

    with user.database.reading() as session:
        item = session.scalars(select(WorkItem)).one()
    assert (item.error, item.due_at is None) == ("ConnectionRefusedError", False)


def test_without_the_public_address_messages_wait(
    user: SignedInUser, browser: Visitor, harness: WorkerHarness
) -> None:
    ask(browser, user.email)
    harness.change_settings(public_url="")

    mail_reset(work_ids(user)[0], harness.services)

    assert len(work_ids(user)) == 1


def test_where_no_mail_is_sent_the_page_says_whom_to_ask(app: APIFlask, browser: Visitor) -> None:
    shown = browser.open("/sign-in/forgotten").text
    sent = browser.send("/sign-in/forgotten", email="ada@acme.example")

    assert "Ask an admin of your workspace" in shown
    assert sent.status_code == 503
    assert "Forgotten your password?" in browser.open("/sign-in").text


def test_a_text_that_is_no_address_is_refused(user: SignedInUser, browser: Visitor) -> None:
    assert browser.send("/sign-in/forgotten", email="ada").status_code == 422


def test_a_network_sends_few_forms(
    user: SignedInUser, browser: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_NETWORK", "1/hour")

    statuses = [browser.send("/sign-in/forgotten", email=user.email).status_code for _ in range(2)]

    assert statuses == [200, 429]


def test_expired_links_are_purged(user: SignedInUser, browser: Visitor, harness: WorkerHarness) -> None:
    ask(browser, user.email)

    for purge in WORK.purges(harness.services.settings, clock.now() + resets.MAILED_FOR):
        with user.database.transaction() as session:
            purge(session)

    assert work_ids(user) == []
