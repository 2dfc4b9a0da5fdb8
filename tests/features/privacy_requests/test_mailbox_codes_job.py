"""Messages with codes that the mail server does not accept: they end, and the metrics say so."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from inbox_support import PASSWORD, USER, running_inbox
from jobs_support import NOW
from sqlalchemy import select
from worker_harness import WorkerHarness, worker_harness

from app.engine.work import items
from app.engine.work.items import WorkItem
from app.features.privacy_requests import mailbox_codes
from app.features.privacy_requests.mailbox_codes import SENDING
from app.features.privacy_requests.work import mail_code
from app.infra.database.db import Database
from app.settings import Settings

NOWHERE = "smtp://127.0.0.1:1"


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    harness = worker_harness(settings, database, monkeypatch)
    harness.change_settings(smtp_url=NOWHERE, mail_from="privacy@lookup.example")
    return harness


def requested(harness: WorkerHarness) -> str:
    with harness.database.transaction() as session:
        return mailbox_codes.request(session, "ada@acme.com", now=harness.clock.now)


def failed(harness: WorkerHarness) -> int:
    with harness.database.reading() as session:
        return items.failed_counts(session, now=harness.clock.now)["mailbox_code"]


def exhaust(harness: WorkerHarness, code_id: str) -> None:
    for _ in range(SENDING.max_attempts + 1):
        mail_code(code_id, harness.services)
        harness.clock.now += SENDING.retry_after


def test_a_message_that_no_mail_server_accepts_is_given_up_and_says_why(harness: WorkerHarness) -> None:
    code_id = requested(harness)

    exhaust(harness, code_id)

    with harness.database.reading() as session:
        item = session.scalars(select(WorkItem)).one()
    assert (item.id, item.due_at, item.error) == (code_id, None, "ConnectionRefusedError")
    assert failed(harness) == 1


def test_after_that_the_next_request_is_sent(harness: WorkerHarness) -> None:
    exhaust(harness, requested(harness))
    with running_inbox() as inbox:
        harness.change_settings(smtp_url=inbox.url)

        mail_code(requested(harness), harness.services)

        assert inbox.code()
    assert failed(harness) == 0


@pytest.mark.parametrize("local", ["ada", "o'neil", "ada+test", "{ada}", "a.b!c%d"])
def test_the_message_goes_to_the_stored_address(harness: WorkerHarness, local: str) -> None:
    address = f"{local}@acme.com"
    with running_inbox() as inbox:
        harness.change_settings(smtp_url=inbox.url)
        with harness.database.transaction() as session:
            code_id = mailbox_codes.request(session, address, now=harness.clock.now)

        mail_code(code_id, harness.services)

    assert inbox.recipients == [address]


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # as on this machine
def test_a_server_that_requires_a_login_gets_the_one_of_the_settings(harness: WorkerHarness) -> None:
    with running_inbox(requires_login=True) as inbox:
        login = f"{quote(USER)}:{quote(PASSWORD)}@"
        harness.change_settings(smtp_url=inbox.url.replace("//", f"//{login}"))

        mail_code(requested(harness), harness.services)

    assert inbox.recipients == ["ada@acme.com"]


def test_without_a_mail_server_the_message_waits(harness: WorkerHarness) -> None:
    harness.change_settings(smtp_url="")

    exhaust(harness, requested(harness))

    with harness.database.reading() as session:
        item = session.scalars(select(WorkItem)).one()
    assert (item.due_at, item.attempts) == (NOW, 0)
