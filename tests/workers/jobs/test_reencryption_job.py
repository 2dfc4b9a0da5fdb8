from __future__ import annotations

from collections.abc import Iterator
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
from app.infra.database.encrypted_columns import key_id_of
from app.settings import Settings
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices
from workers.jobs import reencryption

NOWHERE = "redis://127.0.0.1:1/0"
ADDRESS = "ada@acme.example"


@pytest.fixture
def services(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WorkerServices]:
    """Services with a new key, and an address under the one before."""
    with database.transaction() as session:
        an_email(session, a_contact(session), ADDRESS)
    rotated = Database(settings.database_url, keys=keys_of(settings, 7))
    services = WorkerServices(settings, rotated, JobPublisher(NOWHERE), JobNotifier(NOWHERE))
    monkeypatch.setattr(worker_services, "_current", [services])
    yield services
    rotated.close()


def keys_of(settings: Settings, key_id: int) -> DigestKeys:
    keys = DigestKeys.from_settings(settings)
    return replace(keys, encryption=((key_id, bytes((key_id,)) * 32),))


def key_id(services: WorkerServices) -> int | None:
    """Return the id of the key of the stored address."""
    with services.database.reading() as session:
        return key_id_of(session.scalars(text("SELECT email FROM emails")).one())


def test_beat_encrypts_under_the_new_key(services: WorkerServices, settings: Settings) -> None:
    entry = configure(settings).conf.beat_schedule[ENCRYPT]
    before = key_id(services)

    celery.tasks[entry["task"]]()

    assert (before, key_id(services)) == (0, 7)
    assert reencryption.encrypt_once(services)


def test_a_turn_after_everything_is_encrypted_takes_no_write_lock(services: WorkerServices) -> None:
    reencryption.encrypt_once(services)

    with services.database.transaction():
        assert reencryption.encrypt_once(services)


def test_a_turn_ends_when_its_time_is_over(services: WorkerServices) -> None:
    assert not reencryption.encrypt_once(services, seconds=0)
    assert key_id(services) == 0


def test_a_table_with_an_unreadable_value_does_not_keep_the_others(
    services: WorkerServices, settings: Settings
) -> None:
    other = Database(settings.database_url, keys=keys_of(settings, 9))
    with other.transaction() as session:
        an_email(session, a_contact(session), "b@acme.example")
    other.close()

    with capture_logs() as logs:
        is_done = reencryption.encrypt_once(services)

    assert not is_done
    assert [(log["event"], log["table"]) for log in logs] == [
        ("a stored value cannot be decrypted", "emails")
    ]
