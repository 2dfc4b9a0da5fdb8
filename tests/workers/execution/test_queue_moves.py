"""Jobs that need a provider move to another queue, and a long enrichment yields to other jobs."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from fake_providers import MISS, UNKNOWN, email, hit, person
from jobs_support import a_job, a_workspace, figures, read
from local_servers import free_port
from redis import Redis
from worker_harness import ADA, NAMED, WorkerHarness, worker_harness

from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Queue, TraceOutcome
from app.engine.jobs.jobs import Job
from app.infra.broker import celery_app
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import claimer, job_runner, worker_services
from workers.execution.job_runner import Message
from workers.jobs import enrichment_request, upkeep
from workers.providers.base import ProviderRequest, ProviderResponse


@pytest.fixture
def harness(
    settings: Settings, database: Database, redis_url: str, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> WorkerHarness:
    return worker_harness(dataclasses.replace(settings, redis_url=redis_url), database, monkeypatch)


def ask_about_ada(harness: WorkerHarness, **subject: str) -> str:
    request = {"subject": subject or {"linkedin_url": ADA}, "types": ["work"], "min_status": "valid"}
    with harness.database.transaction() as session:
        return a_job(session, harness.workspace_id, new_id("job"), request=request)


def deliver(harness: WorkerHarness, job_id: str, source: Queue, kind: Kind = Kind.REVEAL_EMAIL) -> None:
    """Run the task like a worker that received its message from this queue."""
    harness.monkeypatch.setattr(worker_services, "_current", [harness.services])
    celery_app.celery.tasks[kind.value].apply((job_id,), routing_key=source.value)


def after(harness: WorkerHarness, job_id: str) -> Job:
    with harness.database.reading() as session:
        return read(session, job_id)


def messages(client: Redis) -> dict[Queue, int]:
    lengths = {name: client.llen(name.value) for name in Queue}
    return {name: length for name, length in lengths.items() if length}


def money(harness: WorkerHarness) -> tuple[int, int, int]:
    with harness.database.reading() as session:
        return figures(session, harness.workspace_id)


def test_a_stored_value_is_returned_in_the_interactive_queue(harness: WorkerHarness, client: Redis) -> None:
    providers = harness.set_providers(one=hit(email()))
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    job_id = ask_about_ada(harness)

    deliver(harness, job_id, Queue.INTERACTIVE)

    assert after(harness, job_id).outcome == Outcome.FOUND
    assert (messages(client), providers["one"].requests) == ({}, [])


def test_a_job_that_needs_a_provider_moves_to_the_providers_queue_and_uses_no_attempt(
    harness: WorkerHarness, client: Redis
) -> None:
    providers = harness.set_providers(one=hit(email()))
    job_id = ask_about_ada(harness, **NAMED)

    deliver(harness, job_id, Queue.INTERACTIVE)

    job = after(harness, job_id)
    assert (job.status, job.queue, job.attempts, job.lease_token) == ("queued", "providers", 0, None)
    assert (messages(client), providers["one"].requests) == ({Queue.PROVIDERS: 1}, [])


def test_a_moved_job_ends_in_the_providers_queue_and_is_charged_once(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(email()))
    job_id = ask_about_ada(harness, **NAMED)
    deliver(harness, job_id, Queue.INTERACTIVE)

    for _ in range(2):  # the sweeper may send it twice
        deliver(harness, job_id, Queue.PROVIDERS)

    job = after(harness, job_id)
    assert (job.outcome, job.attempts, job.charged) == (Outcome.FOUND, 1, 1)
    assert [line["provider"] for line in job.trace] == ["one"]
    assert money(harness) == (9, 0, 1)


def test_the_interactive_queue_does_not_run_a_moved_job(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=hit(email()))
    job_id = ask_about_ada(harness, **NAMED)

    for _ in range(2):
        deliver(harness, job_id, Queue.INTERACTIVE)

    assert (after(harness, job_id).status, providers["one"].requests) == ("queued", [])


def test_a_job_that_must_verify_a_stored_address_is_moved(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(status=UNKNOWN),)))
    harness.set_providers(verifiers=("one",), one=MISS)
    job_id = ask_about_ada(harness)

    deliver(harness, job_id, Queue.INTERACTIVE)

    assert after(harness, job_id).queue == "providers"


def test_a_job_is_not_moved_if_no_provider_supports_its_request(
    harness: WorkerHarness, client: Redis
) -> None:
    providers = harness.set_providers(one=MISS)
    providers["one"].unavailable = TraceOutcome.INELIGIBLE
    job_id = ask_about_ada(harness, **NAMED)

    deliver(harness, job_id, Queue.INTERACTIVE)

    job = after(harness, job_id)
    assert (job.outcome, [line["outcome"] for line in job.trace]) == (Outcome.NOT_FOUND, ["ineligible"])
    assert messages(client) == {}


def test_a_job_moved_while_redis_is_down_is_published_when_redis_is_back(
    harness: WorkerHarness, client: Redis
) -> None:
    harness.set_providers(one=hit(email()))
    away = JobPublisher(f"redis://127.0.0.1:{free_port()}/0")
    with_redis, harness.services = harness.services, dataclasses.replace(harness.services, publisher=away)
    job_id = ask_about_ada(harness, **NAMED)
    deliver(harness, job_id, Queue.INTERACTIVE)

    upkeep.sweep_once(with_redis)

    assert messages(client) == {Queue.PROVIDERS: 1}


def test_the_sweeper_publishes_a_job_whose_worker_died_before_it_did(
    harness: WorkerHarness, client: Redis
) -> None:
    harness.set_providers(one=hit(email()))
    job_id = ask_about_ada(harness, **NAMED)
    deliver(harness, job_id, Queue.INTERACTIVE)
    client.flushall()

    upkeep.sweep_once(harness.services)
    early = messages(client)
    harness.clock.now += timedelta(seconds=harness.services.settings.republish_seconds)
    upkeep.sweep_once(harness.services)

    assert (early, messages(client)) == ({}, {Queue.PROVIDERS: 1})


def test_a_job_whose_worker_was_killed_returns_to_the_queue_it_was_moved_to(
    harness: WorkerHarness, client: Redis
) -> None:
    def die(_request: ProviderRequest) -> ProviderResponse:
        raise SystemExit

    harness.set_providers(one=die)
    job_id = ask_about_ada(harness, **NAMED)
    deliver(harness, job_id, Queue.INTERACTIVE)
    with pytest.raises(SystemExit):
        job_runner.run_next(Message(Kind.REVEAL_EMAIL, Queue.PROVIDERS, [job_id], "task"), harness.services)
    client.flushall()

    harness.clock.now += timedelta(seconds=harness.services.settings.lease_seconds + 1)
    upkeep.sweep_once(harness.services)

    assert messages(client) == {Queue.PROVIDERS: 1}
    assert money(harness) == (9, 1, 0)


def an_enrichment(harness: WorkerHarness, workspace_id: str, names: int) -> str:
    request = {"entity": "person", "fields": ["profile"], "max_credits": None}
    items = tuple({"subject": {**NAMED, "full_name": f"Ada {number}"}} for number in range(names))
    with harness.database.transaction() as session:
        return a_job(
            session,
            workspace_id,
            new_id("job"),
            kind=Kind.ENRICHMENT_REQUEST,
            request=request,
            items=items,
        )


def test_a_long_enrichment_yields_to_another_workspace_and_then_continues(
    harness: WorkerHarness, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment_request, "SLICE_SECONDS", 0.0)
    providers = harness.set_providers(one=MISS)
    long = an_enrichment(harness, harness.workspace_id, 3)
    with harness.database.transaction() as session:
        other = a_workspace(session)
    short = an_enrichment(harness, other, 1)

    job_runner.run(long, enrichment_request.enrichment_request, harness.services)
    yielded = (after(harness, long).status, after(harness, long).progress_done, messages(client))
    served = claimer.of(harness.services, Queue.ENRICHMENT)
    monkeypatch.setattr(served, "_last_served", harness.workspace_id)
    deliver(harness, long, Queue.ENRICHMENT, Kind.ENRICHMENT_REQUEST)
    others = (after(harness, short).status, after(harness, long).progress_done)
    deliver(harness, short, Queue.ENRICHMENT, Kind.ENRICHMENT_REQUEST)

    assert yielded == ("queued", 1, {Queue.ENRICHMENT: 1})
    assert others == ("succeeded", 1)
    assert (after(harness, long).status, after(harness, long).attempts) == ("succeeded", 1)
    assert len(providers["one"].requests) == 3  # both include Ada 0, and misses are cached


def test_a_long_enrichment_without_competition_does_not_yield(
    harness: WorkerHarness, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment_request, "SLICE_SECONDS", 0.0)
    harness.set_providers(one=MISS)
    job_id = an_enrichment(harness, harness.workspace_id, 3)
    an_enrichment(harness, harness.workspace_id, 1)

    deliver(harness, job_id, Queue.ENRICHMENT, Kind.ENRICHMENT_REQUEST)

    assert (after(harness, job_id).status, messages(client)) == ("succeeded", {})
