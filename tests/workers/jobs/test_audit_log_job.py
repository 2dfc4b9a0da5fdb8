from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from audit_log_support import fault, log, record, recorded
from structlog.testing import capture_logs

from app.engine.audit_log import heads, sealing
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution.worker_services import WorkerServices
from workers.jobs import audit_log

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def heads_file(tmp_path: Path) -> Path:
    return tmp_path / "heads"


@pytest.fixture
def services(settings: Settings, database: Database, heads_file: Path) -> WorkerServices:
    settings = dataclasses.replace(settings, audit_heads_file=str(heads_file))
    return WorkerServices(settings, database, JobPublisher(NOWHERE), JobNotifier(NOWHERE))


def test_all_pending_entries_are_sealed_in_batches(
    services: WorkerServices, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "BATCH", 2)
    monkeypatch.setattr(sealing.seal, "__kwdefaults__", {"limit": 2})
    record(database, "1", "2", "3", "4", "5")

    number = audit_log.seal_pending(services)

    assert (number, len(log(database)), recorded(database)) == (5, 5, [])


def test_the_head_is_kept_in_the_log_and_in_the_file(
    services: WorkerServices, database: Database, heads_file: Path
) -> None:
    record(database, "1")
    audit_log.seal_pending(services)
    record(database, "2")
    with capture_logs() as lines:
        audit_log.seal_pending(services)

    kept = list(heads.parse(heads_file.read_text().splitlines(keepends=True)))
    assert [head.position for head in kept] == [1, 2]
    assert (lines[0]["position"], lines[0]["hash"]) == (2, kept[1].hash.hex())
    assert fault(database, *kept) is None
    assert heads_file.stat().st_mode & 0o077 == 0


def test_without_entries_nothing_is_written(services: WorkerServices, heads_file: Path) -> None:
    assert audit_log.seal_pending(services) == 0
    assert not heads_file.exists()


def test_a_file_that_cannot_be_written_is_reported(
    services: WorkerServices, database: Database, heads_file: Path
) -> None:
    heads_file.mkdir()
    record(database, "1")

    with capture_logs() as lines:
        sealed = audit_log.seal_pending(services)

    assert sealed == 1
    assert lines[-1]["event"] == "file of audit log heads cannot be written"


def test_without_a_setting_there_is_no_file(
    services: WorkerServices, database: Database, heads_file: Path
) -> None:
    record(database, "1")
    services = dataclasses.replace(
        services, settings=dataclasses.replace(services.settings, audit_heads_file="")
    )

    assert audit_log.seal_pending(services) == 1
    assert not heads_file.exists()
