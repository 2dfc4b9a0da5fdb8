from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from audit_support import Days, busy_days, plant
from jobs_support import NOW, set_clock
from polling import wait_until
from structlog.testing import capture_logs

from app.domain.errors import Unavailable
from app.domain.kinds import AUDIT, Queue
from app.engine.audit import audits, incremental, rule_checks
from app.engine.audit.audits import Audit
from app.infra import clock
from app.infra.broker.celery_app import SECONDS_BETWEEN_AUDITS, celery, configure
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices
from workers.jobs import audit

EVERY = timedelta(minutes=1)
NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def services(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WorkerServices]:
    services = WorkerServices(settings, database, JobPublisher(NOWHERE), JobNotifier(NOWHERE))
    monkeypatch.setattr(worker_services, "_current", [services])
    at(monkeypatch)
    yield services
    for thread in threading.enumerate():
        if thread.name == "audit":
            thread.join(10)


@pytest.fixture
def spoiled(services: WorkerServices) -> Days:
    with services.database.transaction() as session:
        days = busy_days(session)
        plant(session, days, ["UPDATE workspaces SET spent = 1 WHERE id = '{other}'"])
        return days


def at(monkeypatch: pytest.MonkeyPatch, periods: float = 0) -> None:
    """Set the clock to this many audit periods later."""
    later = NOW + timedelta(seconds=periods * SECONDS_BETWEEN_AUDITS)
    set_clock(monkeypatch, lambda: later)


def last(services: WorkerServices) -> Audit | None:
    with services.database.reading() as session:
        return audits.last(session, now=database_clock.now())


def test_beat_runs_the_ledger_audit(services: WorkerServices, settings: Settings) -> None:
    entry = configure(settings).conf.beat_schedule[AUDIT]

    celery.tasks[entry["task"]]()

    audit_of_now = last(services)
    assert audit_of_now is not None
    assert (audit_of_now.at, audit_of_now.faults) == (NOW, [])
    assert entry["schedule"] == SECONDS_BETWEEN_AUDITS
    assert entry["options"]["queue"] == Queue.UPKEEP.value


def test_violations_are_logged_by_rule_and_id(services: WorkerServices, spoiled: Days) -> None:
    with capture_logs() as logged:
        audit.audit()

    faults = [line for line in logged if line["log_level"] == "error"]
    assert faults == [
        {
            "event": "ledger fault",
            "rule": "balance_is_the_sum",
            "id": spoiled.other,
            "log_level": "error",
        }
    ]
    assert logged[-1]["event"] == "ledger audited"
    assert logged[-1]["faults"] == 1


def test_a_violation_is_found_by_every_audit_until_it_is_repaired(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "SLICE", 1)
    monkeypatch.setattr(incremental, "SETTLING", -timedelta(days=36_500))
    with services.database.transaction() as session:
        days = busy_days(session)
        plant(session, days, ["UPDATE jobs SET deadline_at = '2027-01-01 00:00:00.000000'"])
    before = number_of_faults(services, monkeypatch, 0)
    with services.database.transaction() as session:
        plant(session, days, ["UPDATE jobs SET finished_at = NULL WHERE id = '{canceled}'"])

    broken = [number_of_faults(services, monkeypatch, period) for period in range(1, 20)]
    with services.database.transaction() as session:
        plant(session, days, ["UPDATE jobs SET finished_at = created_at WHERE id = '{canceled}'"])
    repaired = [number_of_faults(services, monkeypatch, period) for period in range(20, 22)]

    assert (before, broken[0]) == (0, 0)
    assert broken == sorted(broken)
    assert broken[-1] == 1
    assert repaired == [0, 0]


def number_of_faults(services: WorkerServices, monkeypatch: pytest.MonkeyPatch, period: int) -> int:
    """Audit this many periods after the start; return the number of violations found."""
    at(monkeypatch, period)
    audit.audit()
    found = last(services)
    assert found is not None
    assert found.at == clock.now()
    return len(found.faults or ())


def test_a_second_beat_within_the_period_starts_no_audit(services: WorkerServices) -> None:
    audit.audit()

    with capture_logs() as logged:
        audit.audit()

    assert logged == []


def test_without_beat_an_audit_starts_two_periods_after_the_last(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit.audit()

    at(monkeypatch, 1.9)
    too_soon = audit.audit_if_due(services)
    at(monkeypatch, 2)
    due = audit.audit_if_due(services)

    assert (too_soon, due) == (False, True)
    assert wait_until(lambda: (found := last(services)) is not None and found.at == clock.now())


def test_only_one_of_two_workers_starts_a_due_audit(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.database.transaction() as session:  # another process, just before this one begins
        audits.begin(session, every=EVERY, now=NOW)
    answers = iter([True])
    is_due = audits.is_due
    monkeypatch.setattr(audits, "is_due", lambda *_, **when: next(answers, None) or is_due(*_, **when))

    assert not audit.audit_if_due(services)


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (Unavailable(), "database unavailable, maintenance step postponed"),
        (ValueError("ada@acme.com"), "maintenance step failed"),
    ],
)
def test_a_failed_audit_is_logged_and_ends(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch, error: Exception, event: str
) -> None:
    def fail(*_args: Any) -> None:
        raise error

    monkeypatch.setattr(rule_checks, "use_repeatable_read", fail)

    with capture_logs() as logged:
        audit.audit_if_due(services)
        wait_until(lambda: logged)

    assert [line["event"] for line in logged] == [event]
