from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from jobs_support import (
    DEADLINE,
    LEASE,
    MAX_CRASHES,
    NOW,
    a_job,
    a_question,
    a_workspace,
    at_once,
    claim,
    figures,
    read,
    submit,
    try_claim,
)
from sqlalchemy import func, select, update
from sqlalchemy.dialects import postgresql

from app.domain.kinds import Kind, Outcome, Queue, Status
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.jobs import claims, jobs, leases, sweeper
from app.engine.jobs.claims import Claim, Refusal
from app.engine.jobs.jobs import Job, JobItem
from app.engine.jobs.leases import JobResult
from app.engine.work.turns import LeaseLost
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

SECOND = timedelta(seconds=1)
FOUND = JobResult(outcome=Outcome.FOUND, result={"emails": []}, charge=1, trace=[{"provider": "two"}])


def an_enrichment(session: Session, workspace_id: str, *, price: int) -> Claim:
    items = tuple({"n": number} for number in range(3))
    question = a_question(workspace_id, kind=Kind.ENRICHMENT_REQUEST, items=items, price=price)
    return claim(session, submit(session, question).job.id)


def an_item(held: Claim, index: int) -> JobItem:
    return JobItem(
        job_id=held.job_id, index=index, request={"n": index}, outcome=Outcome.FOUND.value, charged=1
    )


def test_a_claim_has_the_request_and_the_budget(session: Session) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id, price=2)

    held = claim(session, job_id)

    job = read(session, job_id)
    assert (held.job_id, held.workspace_id, held.kind) == (job_id, workspace_id, Kind.REVEAL_EMAIL)
    assert (held.request, held.attempts, held.budget) == (job.request, 1, 2)
    assert (job.status, job.lease_token, job.lease_until) == (Status.RUNNING, held.lease_token, NOW + LEASE)


def test_a_running_job_cannot_be_claimed_again(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    claim(session, job_id)

    assert try_claim(session, job_id, now=NOW + LEASE) is None


def test_an_unknown_job_cannot_be_claimed(session: Session) -> None:
    assert try_claim(session, "job_nothing") is None


def test_a_job_cannot_be_claimed_before_it_is_due(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))

    assert try_claim(session, job_id, now=NOW - SECOND) is None
    assert try_claim(session, job_id, now=NOW) is not None


def test_a_job_past_its_deadline_cannot_be_claimed(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))

    assert try_claim(session, job_id, now=NOW + DEADLINE) is None


def test_a_finished_job_cannot_be_claimed(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    leases.settle(session, claim(session, job_id), FOUND, now=NOW)

    assert try_claim(session, job_id) is None


@pytest.mark.parametrize(
    ("state", "refusal"),
    [
        ({"run_after": NOW + SECOND}, Refusal.NOT_DUE),
        ({"queue": Queue.PROVIDERS.value, "run_after": NOW + SECOND}, Refusal.NOT_DUE),
        ({"deadline_at": NOW}, Refusal.PAST_DEADLINE),
        ({"status": "running", "lease_token": "x", "lease_until": NOW}, Refusal.HELD),
        (
            {"status": "running", "lease_token": "x", "lease_until": NOW - SECOND, "crashes": MAX_CRASHES},
            Refusal.CRASHED,
        ),
        ({"status": "succeeded", "finished_at": NOW}, Refusal.OVER),
    ],
)
def test_the_reason_why_a_job_cannot_be_claimed_is_known(
    session: Session, state: dict[str, Any], refusal: Refusal
) -> None:
    job_id = a_job(session, a_workspace(session))
    session.execute(update(Job).where(Job.id == job_id).values(state))

    assert try_claim(session, job_id) is None
    assert claims.refusal_reasons(session, [job_id], queue=Queue.INTERACTIVE, now=NOW)[job_id] is refusal


def test_a_worker_whose_job_another_one_has_claimed_since_cannot_settle_it(session: Session) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id)
    first = claim(session, job_id)
    second = claim(session, job_id, now=NOW + LEASE + SECOND)

    for lost in (first, replace(first, lease_token="")):
        with pytest.raises(LeaseLost):
            leases.settle(session, lost, JobResult(outcome=Outcome.FOUND, charge=1), now=NOW)
    leases.settle(session, second, JobResult(outcome=Outcome.NOT_FOUND), now=NOW)

    assert (read(session, job_id).outcome, figures(session, workspace_id)) == ("not_found", (10, 0, 0))


def test_an_unknown_job_has_a_reason_of_its_own(session: Session) -> None:
    refused = claims.refusal_reasons(session, ["job_nothing"], queue=Queue.INTERACTIVE, now=NOW)

    assert refused == {"job_nothing": Refusal.UNKNOWN}


def test_an_expired_lease_counts_as_a_crash_and_not_as_an_attempt(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    first = claim(session, job_id)

    second = claim(session, job_id, now=NOW + LEASE + SECOND)

    job = read(session, job_id)
    assert (job.attempts, job.crashes) == (1, 1)
    assert second.attempts == 1
    assert second.lease_token != first.lease_token


def test_a_job_with_too_many_crashes_cannot_be_claimed(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    starts = [NOW + (LEASE + SECOND) * number for number in range(MAX_CRASHES + 1)]

    claims = [try_claim(session, job_id, now=start) for start in starts]

    assert [claimed is not None for claimed in claims] == [True] * MAX_CRASHES + [False]
    assert read(session, job_id).crashes == MAX_CRASHES - 1


def test_settling_finishes_the_job_and_spends_its_charge(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    job_id = a_job(session, workspace_id, price=3)

    leases.settle(session, claim(session, job_id), FOUND, now=NOW + SECOND)

    job = read(session, job_id)
    assert (job.status, job.outcome, job.result) == (Status.SUCCEEDED, Outcome.FOUND, {"emails": []})
    assert (job.charged, job.already_owned, job.trace) == (1, False, [{"provider": "two"}])
    assert (job.finished_at, job.lease_token, job.lease_until) == (NOW + SECOND, None, None)
    assert job.progress_done == job.progress_total == 1
    assert figures(session, workspace_id) == (9, 0, 1)


def test_settling_without_a_charge_releases_the_hold(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    job_id = a_job(session, workspace_id, price=3)

    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)

    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_failure_finishes_the_job_and_releases_the_hold(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    job_id = a_job(session, workspace_id)

    leases.fail(
        session, claim(session, job_id), {"code": "provider_failed"}, trace=[{"provider": "one"}], now=NOW
    )

    job = read(session, job_id)
    assert (job.status, job.outcome, job.error) == (Status.FAILED, None, {"code": "provider_failed"})
    assert (job.finished_at, job.lease_token, job.trace) == (NOW, None, [{"provider": "one"}])
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_snoozed_job_has_used_no_attempt(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))

    leases.requeue(session, claim(session, job_id), run_after=NOW, counts_as_attempt=False)

    assert read(session, job_id).attempts == 0


def test_a_call_that_is_reused_is_in_the_trace_once(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    first, second = {"provider": "one", "at": "09:30"}, {"provider": "two", "at": "09:31"}
    leases.requeue(session, claim(session, job_id), trace=[first], run_after=NOW)

    leases.requeue(session, claim(session, job_id), trace=[first, second], run_after=NOW)

    assert read(session, job_id).trace == [first, second]


def test_a_requeued_job_runs_again_at_its_time(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    later = NOW + timedelta(seconds=30)

    leases.requeue(session, claim(session, job_id), trace=[{"provider": "one"}], run_after=later)

    assert read(session, job_id).status == Status.QUEUED
    assert try_claim(session, job_id, now=later - SECOND) is None
    assert claim(session, job_id, now=later).attempts == 2


def test_the_trace_of_earlier_attempts_is_kept(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    leases.requeue(session, claim(session, job_id), trace=[{"provider": "one"}], run_after=NOW)

    leases.settle(session, claim(session, job_id), FOUND, now=NOW)

    assert read(session, job_id).trace == [{"provider": "one"}, {"provider": "two"}]


def test_a_renewed_lease_lasts_longer(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    held = claim(session, job_id)

    leases.renew(session, held, lease_until=NOW + LEASE * 2)

    assert try_claim(session, job_id, now=NOW + LEASE + SECOND) is None
    assert try_claim(session, job_id, now=NOW + LEASE * 2 + SECOND) is not None


def test_an_item_is_charged_and_visible_as_soon_as_it_is_complete(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    held = an_enrichment(session, workspace_id, price=6)

    leases.complete_item(session, held, an_item(held, 1), charge=1, lease_until=NOW + LEASE * 2)

    job = read(session, held.job_id)
    assert (job.charged, job.progress_done, job.lease_until) == (1, 1, NOW + LEASE * 2)
    assert [item.outcome for item in jobs.items(session, held.job_id)] == [None, Outcome.FOUND, None]
    assert figures(session, workspace_id) == (4, 6, 0)


def test_the_next_claim_has_the_credits_charged_so_far(session: Session) -> None:
    held = an_enrichment(session, a_workspace(session), price=6)
    leases.complete_item(session, held, an_item(held, 0), charge=2, lease_until=NOW + LEASE)

    again = claim(session, held.job_id, now=NOW + LEASE + SECOND)

    assert (again.held, again.charged, again.budget) == (6, 2, 4)


def test_closing_spends_the_charge_of_complete_items_and_releases_the_rest(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    held = an_enrichment(session, workspace_id, price=6)
    for index in range(3):
        leases.complete_item(session, held, an_item(held, index), charge=1, lease_until=NOW + LEASE)

    leases.settle(session, held, JobResult(outcome=Outcome.FOUND), now=NOW)

    assert read(session, held.job_id).charged == 3
    assert figures(session, workspace_id) == (7, 0, 3)


def test_an_enrichment_that_fails_midway_is_charged_for_complete_items(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    held = an_enrichment(session, workspace_id, price=6)
    leases.complete_item(session, held, an_item(held, 0), charge=2, lease_until=NOW + LEASE)

    leases.fail(session, held, {"code": "provider_failed"}, now=NOW)

    assert figures(session, workspace_id) == (8, 0, 2)


def test_an_enrichment_that_expires_midway_is_charged_for_complete_items(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    held = an_enrichment(session, workspace_id, price=6)
    leases.complete_item(session, held, an_item(held, 0), charge=2, lease_until=NOW + LEASE)

    sweeper.finish_orphaned(session, max_crashes=MAX_CRASHES, expired={}, crashed={}, now=NOW + DEADLINE)

    assert read(session, held.job_id).status == Status.EXPIRED
    assert figures(session, workspace_id) == (8, 0, 2)


Verb = Callable[[Session, Claim], None]
VERBS: dict[str, Verb] = {
    "settle": lambda session, held: leases.settle(session, held, FOUND, now=NOW),
    "fail": lambda session, held: leases.fail(session, held, {}, now=NOW),
    "put back": lambda session, held: leases.requeue(session, held, run_after=NOW),
    "renew": lambda session, held: leases.renew(session, held, lease_until=NOW),
    "keep an item of": lambda session, held: leases.complete_item(
        session, held, an_item(held, 0), charge=1, lease_until=NOW
    ),
}


def write_and(verb: Verb, database: Database, held: Claim) -> None:
    """Write an unrelated row and the job in one transaction, as every worker does."""
    with database.transaction() as session:
        suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="zombie", now=NOW)
        verb(session, held)


@pytest.mark.parametrize("verb", VERBS)
def test_a_worker_that_lost_its_lease_cannot_change_the_job_and_its_writes_are_rolled_back(
    database: Database, verb: str
) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        zombie = an_enrichment(session, workspace_id, price=3)
    with database.transaction() as session:
        heir = claim(session, zombie.job_id, now=NOW + LEASE + SECOND)

    with pytest.raises(LeaseLost):
        write_and(VERBS[verb], database, zombie)

    with database.reading() as session:
        job = read(session, zombie.job_id)
        assert (job.status, job.lease_token, job.charged) == (Status.RUNNING, heir.lease_token, 0)
        assert [item.outcome for item in jobs.items(session, zombie.job_id)] == [None, None, None]
        assert session.scalar(select(func.count()).select_from(Suppression)) == 0
        assert figures(session, workspace_id) == (7, 3, 0)


@pytest.mark.parametrize("verb", VERBS)
def test_a_finished_job_cannot_be_changed(session: Session, verb: str) -> None:
    held = an_enrichment(session, a_workspace(session), price=3)
    leases.settle(session, held, JobResult(outcome=Outcome.NOT_FOUND), now=NOW)

    with pytest.raises(LeaseLost):
        VERBS[verb](session, held)

    assert read(session, held.job_id).outcome == Outcome.NOT_FOUND


def test_of_twelve_workers_exactly_one_claims_each_job(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=20)
        job_ids = [a_job(session, workspace_id, f"person {number}") for number in range(20)]

    def work(_number: int) -> list[str]:
        won = []
        for job_id in job_ids:
            with database.transaction() as session:
                held = try_claim(session, job_id)
            won += [held.job_id] if held else []
        return won

    winners = at_once(12, work)

    assert sorted(job_id for won in winners for job_id in won) == sorted(job_ids)


def test_of_two_workers_with_the_same_job_exactly_one_is_paid(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=10)
        job_id = a_job(session, workspace_id)
        zombie = claim(session, job_id)
    with database.transaction() as session:
        heir = claim(session, job_id, now=NOW + LEASE + SECOND)

    def hand_in(number: int) -> str:
        try:
            with database.transaction() as session:
                leases.settle(session, (zombie, heir)[number % 2], FOUND, now=NOW)
        except LeaseLost:
            return "lost"
        return "won"

    outcomes = at_once(8, hand_in)

    assert (outcomes.count("won"), outcomes[0::2]) == (1, ["lost"] * 4)
    with database.reading() as session:
        assert figures(session, workspace_id) == (9, 0, 1)


def test_a_job_moved_to_another_queue_is_due_at_once_and_has_used_no_attempt(
    session: Session,
) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id)
    line = {"provider": "one", "outcome": "hit", "at": "now"}

    leases.move_to_queue(session, claim(session, job_id), Queue.PROVIDERS, trace=(line,), now=NOW)

    job = read(session, job_id)
    assert (job.status, job.queue, job.attempts, job.trace) == ("queued", "providers", 0, [line])
    assert figures(session, workspace_id) == (9, 1, 0)
    assert claim(session, job_id).queue is Queue.PROVIDERS


def test_a_worker_that_lost_its_lease_cannot_move_the_job(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    lost = claim(session, job_id)
    claim(session, job_id, now=NOW + LEASE + timedelta(seconds=1))

    with pytest.raises(LeaseLost):
        leases.move_to_queue(session, lost, Queue.PROVIDERS, now=NOW)

    assert read(session, job_id).queue == "interactive"


def test_postgresql_closes_the_hold_in_the_statement_that_finishes_the_job() -> None:
    statement = leases._finish_on("postgresql", now=database_clock.now())  # noqa: SLF001 -- SQLite needs three

    sql = " ".join(str(statement.compile(dialect=postgresql.dialect())).split())

    assert sql.startswith("WITH finished AS (UPDATE jobs SET")
    assert "FROM finished WHERE finished.held >" in sql
    assert "balances AS (UPDATE workspaces SET" in sql
    assert "closed AS (INSERT INTO ledger" in sql
    assert "FROM finished JOIN balances ON balances.id = finished.workspace_id" in sql
