"""The choice of the next job for a free thread: fair shares between workspaces, and no wasted messages."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from jobs_support import LEASE, MAX_CRASHES, NOW, a_job, a_workspace, at_once, claim
from local_servers import POSTGRES
from polling import wait_until
from sqlalchemy import ColumnElement, String, cast, func, text
from sqlalchemy.dialects import postgresql

from app.domain.kinds import Kind, Outcome, Queue
from app.engine.jobs import claims, leases, scheduling
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

THREADS = 10


def claim_next(
    session: Session, job_id: str = "", *, served: str = "", now: datetime = NOW, lease: timedelta = LEASE
) -> Claim | None:
    taken = scheduling.take(
        session,
        Queue.INTERACTIVE,
        job_ids=[job_id],
        last_served=served,
        limit=1,
        max_crashes=MAX_CRASHES,
        now=now,
    )
    ids = [claim.job_id for claim in taken]
    claimed = claims.claim_all(session, ids, lease=lease, max_crashes=MAX_CRASHES, now=now)
    return claimed[0] if claimed else None


def must_claim(session: Session, job_id: str = "", *, served: str = "") -> Claim:
    claimed = claim_next(session, job_id, served=served)
    assert claimed is not None
    return claimed


def some_jobs(session: Session, workspace_id: str, count: int, kind: Kind = Kind.REVEAL_EMAIL) -> list[str]:
    return [a_job(session, workspace_id, f"{kind} {number}", kind=kind) for number in range(count)]


def settle(session: Session, claimed: Claim) -> None:
    leases.settle(session, claimed, JobResult(outcome=Outcome.FOUND), now=NOW)


@pytest.fixture
def heavy(session: Session) -> str:
    return a_workspace(session, grant=500)


@pytest.fixture
def light(session: Session) -> str:
    return a_workspace(session, grant=500)


def test_with_one_workspace_a_message_claims_the_job_that_it_names(session: Session) -> None:
    jobs = some_jobs(session, a_workspace(session), 3)

    assert [must_claim(session, job_id).job_id for job_id in reversed(jobs)] == list(reversed(jobs))


def test_a_message_about_a_claimed_job_claims_another(session: Session, heavy: str) -> None:
    first, second = some_jobs(session, heavy, 2)
    claim(session, first)

    assert must_claim(session, first).job_id == second
    assert claim_next(session, second) is None


def test_a_workspace_without_a_thread_comes_first(session: Session, heavy: str, light: str) -> None:
    jobs = some_jobs(session, heavy, 120)
    held = [must_claim(session, job_id) for job_id in jobs[:THREADS]]
    click = a_job(session, light)

    claimed = must_claim(session, jobs[THREADS])

    assert {claimed_job.workspace_id for claimed_job in held} == {heavy}
    assert claimed.job_id == click


def test_a_single_workspace_may_occupy_every_thread(session: Session, heavy: str) -> None:
    jobs = some_jobs(session, heavy, THREADS)

    assert {must_claim(session, job_id).job_id for job_id in jobs} == set(jobs)


def test_while_others_wait_no_workspace_occupies_more_than_its_share(
    session: Session, heavy: str, light: str
) -> None:
    third = a_workspace(session, grant=500)
    some_jobs(session, heavy, 60)
    held = [must_claim(session) for _ in range(THREADS)]
    some_jobs(session, light, 30)
    some_jobs(session, third, 30)

    for _ in range(2 * THREADS):
        settle(session, held.pop(0))
        held.append(must_claim(session, served=held[-1].workspace_id))

    counts = Counter(claimed_job.workspace_id for claimed_job in held)
    assert sorted(counts.values()) == [3, 3, 4]


def test_a_workspace_with_long_jobs_occupies_no_more_threads_than_one_with_short_jobs(
    session: Session, heavy: str, light: str
) -> None:
    some_jobs(session, heavy, 30)
    some_jobs(session, light, 30)
    held = [must_claim(session) for _ in range(THREADS)]

    for _ in range(2 * THREADS):  # jobs of the heavy workspace do not end
        ended = next(claimed_job for claimed_job in held if claimed_job.workspace_id == light)
        held.remove(ended)
        settle(session, ended)
        held.append(must_claim(session, served=ended.workspace_id))

    assert Counter(claimed_job.workspace_id for claimed_job in held) == {heavy: 5, light: 5}


def test_with_a_single_thread_workspaces_take_turns(session: Session, heavy: str, light: str) -> None:
    some_jobs(session, heavy, 50)
    some_jobs(session, light, 2)
    served: list[str] = []

    for _ in range(4):
        claimed = must_claim(session, served=served[-1] if served else "")
        settle(session, claimed)
        served.append(claimed.workspace_id)

    assert Counter(served) == {heavy: 2, light: 2}
    assert served[0] != served[1]


def test_threads_of_other_queues_do_not_count(session: Session, heavy: str, light: str) -> None:
    for job_id in some_jobs(session, heavy, 3, Kind.ENRICHMENT_REQUEST):
        claim(session, job_id)
    some_jobs(session, light, 2)
    must_claim(session)
    click = a_job(session, heavy)

    assert must_claim(session).job_id == click


def test_jobs_with_an_expired_lease_do_not_count(session: Session, heavy: str, light: str) -> None:
    later = NOW + LEASE + timedelta(seconds=1)
    for job_id in some_jobs(session, heavy, 3):
        claim(session, job_id)
    claim(session, some_jobs(session, light, 2)[0], now=NOW + LEASE)

    claimed = claim_next(session, now=later)

    assert claimed is not None
    assert claimed.workspace_id == heavy


def test_jobs_that_are_not_due_finished_or_of_another_queue_are_not_claimed(
    session: Session, heavy: str
) -> None:
    later, over, *_rest = some_jobs(session, heavy, 2)
    leases.requeue(session, claim(session, later), run_after=NOW + timedelta(seconds=1))
    settle(session, claim(session, over))
    some_jobs(session, heavy, 1, Kind.ENRICHMENT_REQUEST)

    assert [claim_next(session, job_id) for job_id in (later, over, "job_nothing")] == [None] * 3


def test_as_many_concurrent_claims_as_jobs_claim_every_job(database: Database) -> None:
    with database.transaction() as session:
        jobs = [job for _ in range(4) for job in some_jobs(session, a_workspace(session, grant=50), 10)]

    def take(number: int) -> str | None:
        with database.transaction() as session:
            claimed = claim_next(session, jobs[0 if number % 2 else number])
            return claimed and claimed.job_id

    claimed = at_once(len(jobs), take)

    assert sorted(map(str, claimed)) == sorted(jobs)


@pytest.mark.skipif(not POSTGRES, reason="SQLite has one writer")
def test_a_claim_whose_job_is_taken_by_a_later_one_claims_the_job_that_it_left(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(job_id: str, lease: timedelta) -> str | None:
        with database.transaction() as session:
            claimed = claim_next(session, job_id, lease=lease)
            return claimed and claimed.job_id

    def slow(**arguments: Any) -> ColumnElement[bool]:
        return claimable(**arguments) & (cast(func.pg_sleep(1), String) == "")

    claimable = claims.claimable
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        seen = a_job(session, workspace_id, "seen by both")
    with ThreadPoolExecutor(1) as pool:
        with monkeypatch.context() as patched:
            patched.setattr(claims, "claimable", slow)
            early = pool.submit(take, seen, LEASE + timedelta(seconds=1))
            wait_until(lambda: _is_asleep(database))
        with database.transaction() as session:
            unseen = a_job(session, workspace_id, "committed meanwhile")
        late = take(seen, LEASE)

    assert {late, early.result()} == {seen, unseen}


def _is_asleep(database: Database) -> bool:
    """Return whether a statement has its snapshot and sleeps."""
    with database.reading() as session:
        query = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        return session.scalar(text(query)) is not None


@pytest.mark.parametrize(
    ("own", "others", "yields"),
    [(1, 0, True), (10, 0, True), (1, 1, False), (2, 1, False), (3, 1, True), (5, 5, False)],
)
def test_a_long_job_yields_to_a_workspace_with_fewer_threads(
    session: Session, heavy: str, light: str, *, own: int, others: int, yields: bool
) -> None:
    held = [claim(session, job_id) for job_id in some_jobs(session, heavy, own)]
    for job_id in some_jobs(session, light, others + 1)[:others]:
        claim(session, job_id)

    assert scheduling.must_yield(session, held[0], now=NOW) is yields


def test_a_long_job_does_not_yield_if_no_other_workspace_waits(
    session: Session, heavy: str, light: str
) -> None:
    held = [claim(session, job_id) for job_id in some_jobs(session, heavy, 5)[:3]]
    some_jobs(session, light, 1, Kind.ENRICHMENT_REQUEST)

    assert not scheduling.must_yield(session, held[0], now=NOW)


def test_postgresql_counts_the_occupied_threads_once_for_each_claim() -> None:
    """Otherwise each job that waits would count them anew, and a claim take longer with every one."""
    query = scheduling._next_jobs("postgresql", database_clock.now())  # noqa: SLF001 -- the plan is PostgreSQL's

    sql = str(query.compile(dialect=postgresql.dialect()))

    assert "WITH running AS MATERIALIZED" in sql
