from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import NOW, a_job, a_workspace, claim, set_clock
from sqlalchemy import select

from app.domain.kinds import INDEX_MENTIONS, Outcome
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.engine.mentions import mentions as mention_index
from app.engine.mentions.mention_sources import JOBS, SETTLING
from app.engine.mentions.mention_tables import JobMention
from app.infra.broker.celery_app import celery, configure
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices
from workers.jobs import mentions

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def services(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    services = WorkerServices(settings, database, JobPublisher(NOWHERE), JobNotifier(NOWHERE))
    monkeypatch.setattr(worker_services, "_current", [services])
    monkeypatch.setattr(mention_index, "BATCH", 2)
    set_clock(monkeypatch, lambda: NOW + SETTLING + timedelta(minutes=1))
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        for email in ("a@acme.com", "b@acme.com", "c@acme.com"):
            job_id = a_job(session, workspace_id, email, request={"subject": {"email": email}})
            leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)
    return services


def indexed(services: WorkerServices) -> int:
    with services.database.reading() as session:
        return len(session.scalars(select(JobMention.job_id)).all())


def test_beat_indexes_all_jobs_in_batches(services: WorkerServices, settings: Settings) -> None:
    entry = configure(settings).conf.beat_schedule[INDEX_MENTIONS]

    celery.tasks[entry["task"]]()

    assert indexed(services) == 3
    assert mentions.index_once(services) == 0


def test_a_turn_after_everything_is_indexed_takes_no_write_lock(services: WorkerServices) -> None:
    mentions.index_once(services)

    with services.database.transaction():
        assert mentions.index_once(services) == 0


def test_a_turn_ends_when_its_time_is_over(services: WorkerServices) -> None:
    assert mentions.index_once(services, seconds=0) == 0


def test_long_contents_are_indexed_one_at_a_time(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mention_index, "BATCH_CHARACTERS", 1)
    now = NOW + SETTLING + timedelta(minutes=1)

    with services.database.transaction() as session:
        count = mention_index.index_next(session, JOBS, now=now)

    assert count == 1
    assert mentions.index_once(services) == 2
    assert indexed(services) == 3
