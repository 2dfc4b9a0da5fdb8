"""Jobs that need a provider move to another queue, and a long enrichment yields to other jobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from enriching_support import Bench, a_bench, person, said_by, tells
from jobs_support import NOW, a_job, a_workspace, figures, read, set_clock
from local_servers import free_port
from redis import Redis
from sqlalchemy import event

from app.core.contacts import contacts
from app.core.jobs.jobs import Job
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Queue, TraceOutcome
from app.infra import queue, redis_client
from app.infra.db import Database
from app.infra.queue import JobPublisher
from app.settings import Settings
from workers.execution import job_runner
from workers.execution.job_runner import WorkerServices
from workers.jobs import enrichment_request, reveal, upkeep
from workers.providers.base import ProviderRequest, ProviderResponse

ADA = "https://www.linkedin.com/in/ada-lovelace"
NAMED = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}


class SilentBell:
    def notify(self, job_id: str) -> None: ...


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with redis_client.connect(redis_url) as client:
        client.flushall()
        yield client
        client.flushall()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replace the clock; return a list whose only element is the time, which a test may change."""
    time = [NOW]
    set_clock(monkeypatch, lambda: time[0])
    return time


@pytest.fixture
def services(settings: Settings, database: Database, redis_url: str, client: Redis) -> WorkerServices:
    return WorkerServices(settings, database, JobPublisher(redis_url), SilentBell())  # type: ignore[arg-type]


@pytest.fixture
def bench(services: WorkerServices, time: list[Any], monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(job_runner, "_last_served", {})
    return use(a_bench(services, monkeypatch).ordered("one"))


def use(bench: Bench) -> Bench:
    """Run the tasks of this process with the harness's service objects."""
    bench.monkeypatch.setattr(job_runner, "_current", [bench.services])
    return bench


def email(status: EmailStatus = EmailStatus.VALID) -> FoundEmail:
    verified_at = NOW if status is EmailStatus.VALID else None
    source = said_by("one", NOW)
    return FoundEmail(
        email="ada@acme.com", type="work", status=status, source=source, verified_at=verified_at
    )


def keep_ada(bench: Bench, status: EmailStatus = EmailStatus.VALID) -> None:
    with bench.services.database.transaction() as session:
        found = dataclasses.replace(person(said_by("one", NOW)), linkedin_url=ADA, emails=(email(status),))
        contacts.upsert(session, found, now=NOW)


def ask_about_ada(bench: Bench, **subject: str) -> str:
    request = {"subject": subject or {"linkedin_url": ADA}, "types": ["work"], "min_status": "valid"}
    with bench.services.database.transaction() as session:
        return a_job(session, bench.workspace_id, new_id("job"), request=request)


def deliver(job_id: str, source: Queue, kind: Kind = Kind.REVEAL_EMAIL) -> None:
    """Run the task like a worker that received its message from this queue."""
    queue.celery.tasks[kind.value].apply((job_id,), routing_key=source.value)


def after(bench: Bench, job_id: str) -> Job:
    with bench.services.database.reading() as session:
        return read(session, job_id)


def messages(client: Redis) -> dict[Queue, int]:
    lengths = {name: client.llen(name.value) for name in Queue}
    return {name: length for name, length in lengths.items() if length}


@contextmanager
def counted(bench: Bench) -> Iterator[list[str]]:
    """Collect the SQL statements executed within the block."""
    statements: list[str] = []

    def note(*words: Any) -> None:
        statements.append(words[2])

    event.listen(bench.services.database.engine, "before_cursor_execute", note)
    yield statements
    event.remove(bench.services.database.engine, "before_cursor_execute", note)


def money(bench: Bench) -> tuple[int, int, int]:
    with bench.services.database.reading() as session:
        return figures(session, bench.workspace_id)


def test_what_is_stored_is_answered_in_the_interactive_queue(bench: Bench, client: Redis) -> None:
    providers = bench.providers(one=tells(email()))
    keep_ada(bench)
    job_id = ask_about_ada(bench)

    deliver(job_id, Queue.INTERACTIVE)

    assert after(bench, job_id).outcome == Outcome.FOUND
    assert (messages(client), providers["one"].asked) == ({}, [])


def test_what_a_provider_must_be_asked_for_is_handed_over_and_spends_no_try(
    bench: Bench, client: Redis
) -> None:
    providers = bench.providers(one=tells(email()))
    job_id = ask_about_ada(bench, **NAMED)

    deliver(job_id, Queue.INTERACTIVE)

    job = after(bench, job_id)
    assert (job.status, job.queue, job.attempts, job.lease_token) == ("queued", "providers", 0, None)
    assert (messages(client), providers["one"].asked) == ({Queue.PROVIDERS: 1}, [])


def test_the_providers_queue_ends_what_was_handed_over_and_charges_it_once(bench: Bench) -> None:
    bench.providers(one=tells(email()))
    job_id = ask_about_ada(bench, **NAMED)
    deliver(job_id, Queue.INTERACTIVE)

    for _ in range(2):  # the sweeper may send it twice
        deliver(job_id, Queue.PROVIDERS)

    job = after(bench, job_id)
    assert (job.outcome, job.attempts, job.charged) == (Outcome.FOUND, 1, 1)
    assert [line["provider"] for line in job.trace] == ["one"]
    assert money(bench) == (9, 0, 1)


def test_the_interactive_queue_does_not_run_what_was_handed_over(bench: Bench) -> None:
    providers = bench.providers(one=tells(email()))
    job_id = ask_about_ada(bench, **NAMED)

    for _ in range(2):
        deliver(job_id, Queue.INTERACTIVE)

    assert (after(bench, job_id).status, providers["one"].asked) == ("queued", [])


def test_a_stored_address_that_must_be_verified_is_handed_over(bench: Bench) -> None:
    keep_ada(bench, EmailStatus.UNKNOWN)
    bench = use(bench.ordered())
    settings = dataclasses.replace(bench.services.settings, providers_verification=("one",))
    use(dataclasses.replace(bench, services=dataclasses.replace(bench.services, settings=settings)))
    bench.providers()
    job_id = ask_about_ada(bench)

    deliver(job_id, Queue.INTERACTIVE)

    assert after(bench, job_id).queue == "providers"


def test_where_no_provider_takes_the_question_nothing_is_handed_over(bench: Bench, client: Redis) -> None:
    providers = bench.providers()
    bench.monkeypatch.setattr(
        type(providers["one"]), "unavailability", lambda _provider, _ask: TraceOutcome.INELIGIBLE
    )
    job_id = ask_about_ada(bench, **NAMED)

    deliver(job_id, Queue.INTERACTIVE)

    job = after(bench, job_id)
    assert (job.outcome, [line["outcome"] for line in job.trace]) == (Outcome.NOT_FOUND, ["ineligible"])
    assert messages(client) == {}


def test_without_redis_a_handed_over_job_is_sent_to_its_queue_when_redis_is_back(
    bench: Bench, client: Redis, time: list[Any]
) -> None:
    bench.providers(one=tells(email()))
    away = JobPublisher(f"redis://127.0.0.1:{free_port()}/0")
    use(dataclasses.replace(bench, services=dataclasses.replace(bench.services, publisher=away)))
    job_id = ask_about_ada(bench, **NAMED)
    deliver(job_id, Queue.INTERACTIVE)

    upkeep.sweep_once(bench.services)

    assert messages(client) == {Queue.PROVIDERS: 1}


def test_a_worker_that_dies_before_it_sends_the_message_leaves_it_to_the_sweeper(
    bench: Bench, client: Redis, time: list[Any]
) -> None:
    bench.providers(one=tells(email()))
    job_id = ask_about_ada(bench, **NAMED)
    deliver(job_id, Queue.INTERACTIVE)
    client.flushall()

    upkeep.sweep_once(bench.services)
    early = messages(client)
    time[0] += timedelta(seconds=bench.services.settings.republish_seconds)
    upkeep.sweep_once(bench.services)

    assert (early, messages(client)) == ({}, {Queue.PROVIDERS: 1})


def test_a_job_whose_worker_was_killed_comes_back_to_the_queue_it_was_handed_to(
    bench: Bench, client: Redis, time: list[Any]
) -> None:
    def die(_ask: ProviderRequest) -> ProviderResponse:
        raise SystemExit

    bench.providers(one=die)
    job_id = ask_about_ada(bench, **NAMED)
    deliver(job_id, Queue.INTERACTIVE)
    with pytest.raises(SystemExit):
        job_runner.run_next(Queue.PROVIDERS, job_id, "task", bench.services)
    client.flushall()

    time[0] += timedelta(seconds=bench.services.settings.lease_seconds + 1)
    upkeep.sweep_once(bench.services)

    assert messages(client) == {Queue.PROVIDERS: 1}
    assert money(bench) == (9, 1, 0)


def test_taking_turns_costs_a_stored_reveal_no_statement(bench: Bench) -> None:
    bench.providers()
    keep_ada(bench)
    deliver(ask_about_ada(bench), Queue.INTERACTIVE)  # the workspace owns the address from now on

    named, next_one = ask_about_ada(bench), ask_about_ada(bench)
    with counted(bench) as by_name:
        job_runner.run(named, reveal.email, bench.services)
    with counted(bench) as by_turn:
        job_runner.run_next(Queue.INTERACTIVE, next_one, "task", bench.services)

    assert len(by_turn) == len(by_name) > 0
    assert after(bench, next_one).status == "succeeded"


def an_enrichment(bench: Bench, workspace_id: str, names: int) -> str:
    request = {"entity": "person", "fields": ["profile"], "max_credits": None}
    items = tuple({"subject": {**NAMED, "full_name": f"Ada {number}"}} for number in range(names))
    with bench.services.database.transaction() as session:
        return a_job(
            session,
            workspace_id,
            new_id("job"),
            kind=Kind.ENRICHMENT_REQUEST,
            request=request,
            items=items,
        )


def test_a_long_enrichment_makes_room_for_another_workspace_and_goes_on_after_it(
    bench: Bench, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment_request, "SLICE_SECONDS", 0.0)
    providers = bench.providers()
    long = an_enrichment(bench, bench.workspace_id, 3)
    with bench.services.database.transaction() as session:
        other = a_workspace(session)
    short = an_enrichment(bench, other, 1)

    job_runner.run(long, enrichment_request.enrichment_request, bench.services)
    yielded = (after(bench, long).status, after(bench, long).progress_done, messages(client))
    monkeypatch.setattr(job_runner, "_last_served", {Queue.ENRICHMENT: bench.workspace_id})
    deliver(long, Queue.ENRICHMENT, Kind.ENRICHMENT_REQUEST)
    others = (after(bench, short).status, after(bench, long).progress_done)
    deliver(short, Queue.ENRICHMENT, Kind.ENRICHMENT_REQUEST)

    assert yielded == ("queued", 1, {Queue.ENRICHMENT: 1})
    assert others == ("succeeded", 1)
    assert (after(bench, long).status, after(bench, long).attempts) == ("succeeded", 1)
    assert len(providers["one"].asked) == 3  # both include Ada 0, and misses are cached


def test_alone_it_does_not(bench: Bench, client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enrichment_request, "SLICE_SECONDS", 0.0)
    bench.providers()
    job_id = an_enrichment(bench, bench.workspace_id, 3)
    an_enrichment(bench, bench.workspace_id, 1)

    deliver(job_id, Queue.ENRICHMENT, Kind.ENRICHMENT_REQUEST)

    assert (after(bench, job_id).status, messages(client)) == ("succeeded", {})
