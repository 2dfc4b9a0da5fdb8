from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text
from stored_support import a_contact, an_email
from structlog.testing import capture_logs

from app.domain.kinds import ENCRYPT
from app.infra.broker.celery_app import celery, configure
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices
from workers.jobs import reencryption

NOWHERE = "redis://127.0.0.1:1/0"
ADDRESS = "ada@acme.example"


@pytest.fixture
def services(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    """Services with an address that an earlier release stored."""
    services = WorkerServices(settings, database, JobPublisher(NOWHERE), JobNotifier(NOWHERE))
    monkeypatch.setattr(worker_services, "_current", [services])
    with database.transaction() as session:
        an_email(session, a_contact(session), ADDRESS)
        session.execute(text(f"UPDATE emails SET email = '{ADDRESS}', email_encrypted = NULL"))  # noqa: S608 -- a constant
    return services


def stored(services: WorkerServices) -> str:
    with services.database.reading() as session:
        return str(session.execute(text("SELECT email, email_encrypted FROM emails")).one())


def test_beat_encrypts_what_an_earlier_release_stored(services: WorkerServices, settings: Settings) -> None:
    entry = configure(settings).conf.beat_schedule[ENCRYPT]

    celery.tasks[entry["task"]]()

    assert ADDRESS not in stored(services)
    assert reencryption.encrypt_once(services)


def test_a_turn_after_everything_is_encrypted_takes_no_write_lock(services: WorkerServices) -> None:
    reencryption.encrypt_once(services)

    with services.database.transaction():
        assert reencryption.encrypt_once(services)


def test_a_turn_ends_when_its_time_is_over(services: WorkerServices) -> None:
    assert not reencryption.encrypt_once(services, seconds=0)
    assert ADDRESS in stored(services)


def test_a_table_with_an_unreadable_value_does_not_keep_the_others(
    services: WorkerServices, settings: Settings
) -> None:
    keys = replace(DigestKeys.from_settings(settings), encryption=((9, b"9" * 32),))
    other = Database(settings.database_url, keys=keys)
    with other.transaction() as session:
        an_email(session, a_contact(session), "b@acme.example")
    other.close()

    with capture_logs() as logs:
        is_done = reencryption.encrypt_once(services)

    assert not is_done
    assert [(log["event"], log["table"]) for log in logs] == [
        ("a stored value cannot be decrypted", "emails")
    ]
