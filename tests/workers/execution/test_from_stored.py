"""A job that stored data resolves is claimed and settled in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_providers import MISS, email, person
from jobs_support import NOW, a_job, at_once, figures, read
from sqlalchemy import event
from worker_harness import ADA, BOB, WorkerHarness, deliver, worker_harness

from app.domain.errors import ContactNotFound, InsufficientCredits, Unavailable
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Queue, Status
from app.engine.jobs import leases
from app.engine.jobs.jobs import Job
from app.engine.ledger import acquisition
from app.engine.ledger.acquisition import Acquisition
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import claimer
from workers.jobs import company_by_hash, enrichment_request, leads_by_website_hash, reveal

REGISTERED = (company_by_hash, enrichment_request, leads_by_website_hash, reveal)


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    harness = worker_harness(settings, database, monkeypatch)
    harness.set_providers(one=MISS)
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    return harness


def submit(harness: WorkerHarness, profile: str = ADA, *, price: int = 1, **options: Any) -> str:
    """Insert a reveal as the API does; return the job's id."""
    request = {"subject": {"linkedin_url": profile}, "types": ["work"], "min_status": "valid", **options}
    with harness.database.transaction() as session:
        return a_job(session, harness.workspace_id, new_id("job"), request=request, price=price)


def run(harness: WorkerHarness, job_id: str) -> Job:
    """Run the job as a worker that received its message; return it."""
    deliver(harness.services, job_id)
    with harness.database.reading() as session:
        return read(session, job_id)


def money(harness: WorkerHarness) -> tuple[int, int, int]:
    with harness.database.reading() as session:
        return figures(session, harness.workspace_id)


def fail_once(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> list[str]:
    """Make the first settlement fail after it was written; return the ids of the jobs that were settled."""
    settle, settled = leases.settle_all, list[str]()

    def settle_and_fail(session: Session, results: Any, **options: Any) -> None:
        settled.extend(claim.job_id for claim, _result in results)
        settle(session, results, **options)
        if results and len(settled) == 1:
            raise error

    monkeypatch.setattr(leases, "settle_all", settle_and_fail)
    return settled


def test_a_fresh_stored_value_is_disclosed_and_charged_in_one_transaction(harness: WorkerHarness) -> None:
    job_id, commits = submit(harness), []
    event.listen(harness.database.engine, "commit", commits.append)

    job = run(harness, job_id)

    assert (job.status, job.outcome, job.charged, job.attempts) == (Status.SUCCEEDED, Outcome.FOUND, 1, 1)
    assert (job.lease_token, job.result and job.result["emails"][0]["email"]) == (None, "ada@acme.com")
    assert len(commits) == 1
    assert money(harness) == (9, 0, 1)


def test_an_owned_value_is_disclosed_and_its_hold_released(harness: WorkerHarness) -> None:
    run(harness, submit(harness))

    job = run(harness, submit(harness))

    assert (job.outcome, job.charged, job.already_owned) == (Outcome.FOUND, 0, True)
    assert money(harness) == (9, 0, 1)


def test_a_suppressed_person_is_not_disclosed_and_not_kept_in_the_job(harness: WorkerHarness) -> None:
    harness.suppress("email", "ada@acme.com")

    job = run(harness, submit(harness))

    assert (job.outcome, job.result, "subject" in job.request) == (Outcome.SUPPRESSED, None, False)
    assert money(harness) == (10, 0, 0)


@pytest.mark.parametrize(("profile", "options"), [(BOB, {}), (ADA, {"types": ["personal"]})])
def test_a_job_that_needs_a_provider_moves_to_the_queue_of_the_providers(
    harness: WorkerHarness, profile: str, options: dict[str, Any]
) -> None:
    job = run(harness, submit(harness, profile, **options))

    assert (job.status, job.queue, job.charged) == (Status.QUEUED, Queue.PROVIDERS, 0)
    assert money(harness) == (9, 1, 0)


@pytest.mark.parametrize("error", [Unavailable(), RuntimeError("a bug")])
def test_after_an_error_the_job_is_claimed_and_settled_in_two_transactions(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    job_id = submit(harness)
    settled = fail_once(monkeypatch, error)

    job = run(harness, job_id)

    assert settled == [job_id, job_id]
    assert (job.outcome, job.charged, job.attempts) == (Outcome.FOUND, 1, 1)
    assert money(harness) == (9, 0, 1)


def test_a_worker_killed_while_it_settles_leaves_the_job_as_it_was(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = submit(harness)
    fail_once(monkeypatch, SystemExit())

    with pytest.raises(SystemExit):
        run(harness, job_id)
    with harness.database.reading() as session:
        before = read(session, job_id)
        assert (before.status, before.attempts, before.charged) == (Status.QUEUED, 0, 0)
    after = run(harness, job_id)

    assert (after.outcome, after.charged) == (Outcome.FOUND, 1)
    assert money(harness) == (9, 0, 1)


def test_a_job_about_a_deleted_contact_fails_and_its_hold_is_released(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        request = {"subject": {"contact_id": new_id("con")}, "types": ["work"], "min_status": "valid"}
        job_id = a_job(session, harness.workspace_id, request=request)

    job = run(harness, job_id)

    assert (job.status, job.error and job.error["code"]) == (Status.FAILED, ContactNotFound.code)
    assert money(harness) == (10, 0, 0)


def test_a_job_whose_hold_does_not_cover_the_price_fails(harness: WorkerHarness) -> None:
    """As if the workspace had owned both values at the submission, and one was refunded since."""
    contact_id = harness.store_contact(person(linkedin_url=ADA, emails=(email("ada.lovelace@acme.com"),)))
    with harness.database.transaction() as session:
        acquisition.acquire_values(
            session,
            [
                Acquisition(
                    workspace_id=harness.workspace_id,
                    contact_id=contact_id,
                    field="email",
                    values=[session.keys.ring.index("email", "ada.lovelace@acme.com")],
                    job_id="job_1",
                )
            ],
            now=NOW,
        )

    job = run(harness, submit(harness, price=0))

    assert (job.status, job.error and job.error["code"]) == (Status.FAILED, InsufficientCredits.code)
    assert money(harness) == (10, 0, 0)


@pytest.mark.parametrize("column", ["attempts", "crashes", "publishes"])
def test_a_job_that_a_worker_may_have_run_before_is_settled_in_its_own_transaction(
    harness: WorkerHarness, column: str
) -> None:
    job_id = submit(harness)
    with harness.database.transaction() as session:
        setattr(session.get_one(Job, job_id), column, 1)
    commits: list[Any] = []
    event.listen(harness.database.engine, "commit", commits.append)

    job = run(harness, job_id)

    assert job.outcome == Outcome.FOUND
    assert len(commits) > 1


def test_jobs_that_disclose_the_same_value_at_once_are_charged_once(harness: WorkerHarness) -> None:
    ids = [submit(harness) for _ in range(4)]
    runs: Callable[[int], Job] = lambda number: run(harness, ids[number])  # noqa: E731 -- one line

    at_once(len(ids), runs)

    with harness.database.reading() as session:
        done = [read(session, job_id) for job_id in ids]
    assert [job.outcome for job in done] == [Outcome.FOUND] * 4
    assert sorted(job.charged for job in done) == [0, 0, 0, 1]
    assert money(harness) == (9, 0, 1)


@pytest.mark.parametrize("kind", [Kind.COMPANY_BY_HASH, Kind.LEADS_BY_WEBSITE_HASH])
def test_a_hash_lookup_is_claimed_and_settled_in_one_transaction(harness: WorkerHarness, kind: Kind) -> None:
    request = {"kind": "website", "hashes": ["ab" * 32], "titles": [], "seniorities": [], "limit": 1}
    with harness.database.transaction() as session:
        job_id = a_job(session, harness.workspace_id, kind=kind, request=request, price=0)
    commits: list[Any] = []
    event.listen(harness.database.engine, "commit", commits.append)

    job = run(harness, job_id)

    assert (job.status, job.outcome) == (Status.SUCCEEDED, Outcome.NOT_FOUND)
    assert len(commits) == 1


def test_only_the_kinds_that_stored_data_may_resolve_have_such_a_function() -> None:
    assert set(claimer.FROM_STORED) == set(Kind) - {
        Kind.ENRICHMENT_REQUEST,
        Kind.PEOPLE_SEARCH,
        Kind.VERIFICATION,
    }
