from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from jobs_support import (
    CRASHED,
    DEADLINE,
    EXPIRED,
    LEASE,
    MAX_CRASHES,
    NOW,
    STALE,
    a_job,
    a_workspace,
    at_once,
    claim,
    figures,
    read,
    try_claim,
)
from sqlalchemy import update

from app.domain.errors import JobNotFound
from app.domain.kinds import Kind, Outcome, Queue, Status
from app.engine.jobs import leases, provider_calls, sweeper
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.jobs.provider_calls import CallKey, ProviderCall
from app.engine.jobs.sweeper import StaleJob
from app.infra.database.db import Database
from app.infra.database.session import Session

SECOND = timedelta(seconds=1)


def end_lost(session: Session, now: datetime) -> list[str]:
    return sweeper.finish_orphaned(
        session, max_crashes=MAX_CRASHES, expired=EXPIRED, crashed=CRASHED, now=now
    )


def resent(session: Session, now: datetime) -> list[str]:
    return [stale.job_id for stale in sweeper.republish(session, stale=STALE, now=now)]


def needs_sweeping(session: Session, now: datetime) -> bool:
    return sweeper.needs_sweeping(session, stale=STALE, now=now)


def test_a_queued_job_past_its_deadline_expires_and_releases_its_credits(
    session: Session, workspace_id: str
) -> None:
    job_id = a_job(session, workspace_id)

    ended = end_lost(session, NOW + DEADLINE)

    job = read(session, job_id)
    assert ended == [job_id]
    assert (job.status, job.error, job.finished_at) == (Status.EXPIRED, EXPIRED, NOW + DEADLINE)
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_job_before_its_deadline_does_not_expire(session: Session, workspace_id: str) -> None:
    a_job(session, workspace_id)

    assert end_lost(session, NOW + DEADLINE - SECOND) == []


def test_a_job_requeued_beyond_its_deadline_expires(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    leases.requeue(session, claim(session, job_id), run_after=NOW + DEADLINE * 2)

    assert end_lost(session, NOW + DEADLINE) == [job_id]


def test_a_job_never_expires_while_a_lease_runs(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    start = NOW + DEADLINE - SECOND
    held = claim(session, job_id, now=start)

    ended = end_lost(session, start + LEASE)
    leases.settle(session, held, JobResult(outcome=Outcome.FOUND, charge=1), now=start + LEASE)

    assert ended == []
    assert read(session, job_id).status == Status.SUCCEEDED


def test_an_abandoned_job_past_its_deadline_expires(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    claim(session, job_id)

    ended = end_lost(session, NOW + DEADLINE)

    job = read(session, job_id)
    assert ended == [job_id]
    assert (job.status, job.lease_token, job.lease_until) == (Status.EXPIRED, None, None)
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_poison_job_fails_as_worker_lost_and_releases_its_credits(
    session: Session, workspace_id: str
) -> None:
    job_id = a_job(session, workspace_id)
    innocent = a_job(session, workspace_id, "bob")
    ends = []
    for number in range(MAX_CRASHES):
        start = NOW + (LEASE + SECOND) * number
        claim(session, job_id, now=start)
        ends.append(end_lost(session, start + LEASE + SECOND))

    job = read(session, job_id)
    assert ends == [[], [], [job_id]]
    assert (job.status, job.error, job.attempts, job.crashes) == (Status.FAILED, CRASHED, 1, MAX_CRASHES - 1)
    assert read(session, innocent).status == Status.QUEUED
    assert figures(session, workspace_id) == (9, 1, 0)


def test_a_poison_job_is_not_ended_while_its_last_lease_runs(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    claim(session, job_id)
    session.execute(update(Job).values(crashes=MAX_CRASHES - 1))

    assert end_lost(session, NOW + LEASE) == []
    assert end_lost(session, NOW + LEASE + SECOND) == [job_id]


def test_finished_jobs_do_not_change(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.FOUND), now=NOW)

    assert end_lost(session, NOW + DEADLINE) == []
    assert read(session, job_id).status == Status.SUCCEEDED


def test_a_new_job_is_republished_after_the_stale_interval(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)

    assert resent(session, NOW + STALE - SECOND) == []
    assert sweeper.republish(session, stale=STALE, now=NOW + STALE) == [
        StaleJob(job_id, Kind.REVEAL_EMAIL, Queue.INTERACTIVE)
    ]


def test_a_republished_job_is_marked_as_published(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)

    resent(session, NOW + STALE)

    job = read(session, job_id)
    assert (job.published_at, job.publishes) == (NOW + STALE, 1)
    assert resent(session, NOW + STALE) == []


def test_the_republish_interval_doubles_up_to_a_limit(session: Session, workspace_id: str) -> None:
    a_job(session, workspace_id)
    seconds = range(int(STALE.total_seconds()) * 40)

    sent = [second for second in seconds if resent(session, NOW + SECOND * second)]

    assert sent == [5, 5 + 11, 16 + 21, 37 + 41, 78 + 41, 119 + 41]


def test_the_republish_interval_does_not_double_while_the_queue_is_empty(
    session: Session, workspace_id: str
) -> None:
    a_job(session, workspace_id)
    seconds = range(int(STALE.total_seconds()) * 6)

    def is_sent(second: int, empty: Queue) -> bool:
        at = NOW + SECOND * second
        needed = sweeper.needs_sweeping(session, stale=STALE, now=at, empty=[empty])
        sent = sweeper.republish(session, stale=STALE, now=at, empty=[empty])
        assert needed is bool(sent)
        return needed

    assert [second for second in seconds if is_sent(second, Queue.INTERACTIVE)] == [5, 11, 17, 23, 29]
    assert [second for second in seconds if is_sent(second + 30, Queue.ENRICHMENT)] == []


def test_a_requeued_job_is_published_as_soon_as_it_is_due(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    later = NOW + timedelta(seconds=30)
    leases.requeue(session, claim(session, job_id), run_after=later)

    assert resent(session, later - SECOND) == []
    assert not needs_sweeping(session, later - SECOND)
    assert needs_sweeping(session, later)
    assert resent(session, later) == [job_id]


def test_a_job_that_could_not_be_published_is_published_at_the_next_sweep(
    session: Session, workspace_id: str
) -> None:
    job_id = a_job(session, workspace_id)
    resent(session, NOW + STALE)

    sweeper.mark_unpublished(session, [job_id])

    assert read(session, job_id).published_at is None
    assert resent(session, NOW + STALE + SECOND) == [job_id]


def test_an_abandoned_job_is_republished(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    claim(session, job_id)
    over = NOW + LEASE + SECOND

    assert resent(session, NOW + LEASE) == []
    assert resent(session, over) == [job_id]
    assert resent(session, over + STALE) == []
    assert resent(session, over + STALE + SECOND) == [job_id]


def test_a_running_job_is_not_republished(session: Session, workspace_id: str) -> None:
    claim(session, a_job(session, workspace_id))

    assert resent(session, NOW + LEASE) == []


def test_one_sweep_publishes_at_most_a_batch(
    session: Session, workspace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "BATCH", 2)
    job_ids = {a_job(session, workspace_id, f"person {number}") for number in range(3)}

    first = resent(session, NOW + STALE)
    second = resent(session, NOW + STALE)

    assert (len(first), len(second)) == (2, 1)
    assert {*first, *second} == job_ids


@pytest.mark.parametrize(
    ("seconds", "needed"),
    [(0, False), (STALE.seconds - 1, False), (STALE.seconds, True), (DEADLINE.seconds, True)],
)
def test_a_queued_job_needs_sweeping_after_the_stale_interval(
    session: Session, workspace_id: str, seconds: int, *, needed: bool
) -> None:
    a_job(session, workspace_id)

    assert needs_sweeping(session, NOW + SECOND * seconds) is needed


def test_nothing_needs_sweeping_in_an_empty_database(session: Session) -> None:
    assert not needs_sweeping(session, NOW)


def test_a_queued_job_can_be_canceled_and_releases_its_credits(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)

    canceled = sweeper.cancel(session, job_id, now=NOW)

    job = read(session, job_id)
    assert canceled
    assert (job.status, job.finished_at, job.error) == (Status.CANCELED, NOW, None)
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_running_job_cannot_be_canceled(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    claim(session, job_id)

    assert not sweeper.cancel(session, job_id, now=NOW)
    assert read(session, job_id).status == Status.RUNNING


def test_a_finished_job_cannot_be_canceled(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id)
    sweeper.cancel(session, job_id, now=NOW)

    assert not sweeper.cancel(session, job_id, now=NOW)


def test_an_unknown_job_cannot_be_canceled(session: Session) -> None:
    with pytest.raises(JobNotFound):
        sweeper.cancel(session, "job_nothing", now=NOW)


def test_a_stale_read_does_not_allow_canceling_a_running_job(database: Database) -> None:
    with database.transaction() as session:
        job_id = a_job(session, a_workspace(session))
    with database.transaction() as session:
        seen = session.get_one(Job, job_id)
        session.execute(
            update(Job)
            .values(status=Status.RUNNING.value, lease_token="somebody", lease_until=NOW + LEASE)
            .execution_options(synchronize_session=False)
        )

        canceled = sweeper.cancel(session, job_id, now=NOW)

    assert not canceled
    assert seen.status == Status.RUNNING


@pytest.mark.parametrize("round_", range(5))
def test_of_a_concurrent_cancel_and_claim_exactly_one_wins(database: Database, round_: int) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=10)
        job_id = a_job(session, workspace_id, f"round {round_}")

    def race(number: int) -> str | None:
        with database.transaction() as session:
            if number % 2:
                return "canceled" if sweeper.cancel(session, job_id, now=NOW) else None
            return "running" if try_claim(session, job_id) else None

    winners = [winner for winner in at_once(8, race) if winner]

    assert len(winners) == 1
    with database.reading() as session:
        assert read(session, job_id).status == winners[0]
        assert figures(session, workspace_id) == ((10, 0, 0) if winners == ["canceled"] else (9, 1, 0))


def test_concurrent_sweepers_end_and_publish_each_job_once(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=20)
        late = [a_job(session, workspace_id, f"late {number}") for number in range(10)]
        session.execute(update(Job).values(deadline_at=NOW))
        lost = [a_job(session, workspace_id, f"lost {number}") for number in range(10)]

    def sweep(_number: int) -> tuple[list[str], list[str]]:
        with database.transaction() as session:
            if not sweeper.try_lock(session):
                return [], []
            return end_lost(session, NOW + STALE), resent(session, NOW + STALE)

    sweeps = at_once(8, sweep)

    assert sorted(job_id for ended, _sent in sweeps for job_id in ended) == sorted(late)
    assert sorted(job_id for _ended, sent in sweeps for job_id in sent) == sorted(lost)
    with database.reading() as session:
        assert figures(session, workspace_id) == (10, 10, 0)


def test_only_one_transaction_at_a_time_sweeps_on_postgresql(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer anyway")
    with database.transaction() as first, database.transaction() as second:
        answers = (sweeper.try_lock(first), sweeper.try_lock(second))

    assert answers == (True, False)


def test_the_trace_of_an_expired_job_has_its_open_calls_and_no_values(
    session: Session, workspace_id: str
) -> None:
    job_id = a_job(session, workspace_id)
    question = CallKey(
        job_id=job_id, item=None, field="email", provider="apollo", subject=b"x" * 32, country=None
    )
    call_id = provider_calls.start(session, question, cost=1.0, now=NOW)
    provider_calls.mark_pending(session, call_id, ticket="t-1")

    end_lost(session, now=NOW + DEADLINE)

    call = session.get_one(ProviderCall, call_id, populate_existing=True)
    assert [(line["provider"], line["outcome"]) for line in read(session, job_id).trace] == [
        ("apollo", "timeout")
    ]
    assert (call.outcome, call.ticket, call.reply) == ("timeout", None, None)
