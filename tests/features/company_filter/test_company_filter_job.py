from __future__ import annotations

from dataclasses import replace

import pytest
from stored_support import a_company
from structlog.testing import capture_logs

from app.domain.kinds import Queue
from app.features.company_filter import filters
from app.features.company_filter.schedule import BUILD
from app.features.company_filter.work import build_if_due
from app.infra.broker import celery_app
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices


@pytest.fixture
def services(settings: Settings, database: Database) -> WorkerServices:
    return WorkerServices(
        settings, database, JobPublisher(settings.redis_url), JobNotifier(settings.redis_url)
    )


def entries(database: Database) -> list[int]:
    with database.reading() as session:
        return [stored.entries for stored in filters.stored(session)]


def test_beat_starts_a_build(
    services: WorkerServices, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_services, "_current", [services])
    with database.transaction() as session:
        a_company(session)

    with capture_logs() as events:
        celery_app.celery.tasks[BUILD]()

    entry = celery_app.configure(services.settings).conf.beat_schedule[BUILD]
    assert (entry["task"], entry["options"]["queue"]) == (BUILD, Queue.UPKEEP)
    assert entries(database) == [1, 1]
    assert [(event["event"], event["is_new"]) for event in events] == [("company filter checked", True)]


def test_it_is_not_built_again_before_the_time_of_the_setting(services: WorkerServices) -> None:
    builds = [build_if_due(services), build_if_due(services)]

    assert builds == [True, False]


def test_it_is_not_built_if_it_is_turned_off(services: WorkerServices, database: Database) -> None:
    off = replace(services, settings=replace(services.settings, company_filter_seconds=0))

    assert build_if_due(off) is False
    assert entries(database) == []
