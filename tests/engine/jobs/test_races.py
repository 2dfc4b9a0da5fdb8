"""Race tests of the core on a real database: threads released by one barrier, then an audit.

RACE_ROUNDS is the number of times that each race is repeated; the default is one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from audit_support import FIELD_REQUEST, faults
from jobs_support import (
    CRASHED,
    DEADLINE,
    EXPIRED,
    LEASE,
    MAX_CRASHES,
    NOW,
    a_job,
    a_question,
    a_workspace,
    at_once,
    claim,
    figures,
    submit,
    try_claim,
)
from polling import wait_until
from sqlalchemy import func, select, text
from stored_support import a_company, a_contact, an_email, disclose

from app.domain.errors import IdempotencyKeyReused, InsufficientCredits
from app.domain.findings import FoundPhone, Source, SourceKind
from app.domain.kinds import Kind, Outcome
from app.engine.accounts.workspaces import Workspace
from app.engine.audit import rule_checks
from app.engine.contacts import phones
from app.engine.contacts.contacts import Contact
from app.engine.jobs import idempotency, leases, sweeper
from app.engine.jobs.claims import Claim
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job, JobItem
from app.engine.jobs.leases import JobResult
from app.engine.ledger import credits
from app.engine.ledger.reveals import Reveal
from app.engine.work.turns import LeaseLost
from app.infra.database.db import Database
from app.infra.database.session import Session

ROUNDS = int(os.environ.get("RACE_ROUNDS", "1"))
HASH = b"h" * 32
TURNS = 12


@pytest.fixture(autouse=True)
def _no_fault_is_left(database: Database) -> Iterator[None]:
    """Check after each race that an audit finds no violation."""
    yield
    with database.reading() as session:
        assert faults(session) == []


def add_workspace(database: Database, grant: int = 100) -> str:
    with database.transaction() as session:
        return a_workspace(session, grant=grant)


def ask(database: Database, workspace_id: str, about: str, key: str | None = None, body: bytes = HASH) -> str:
    """Submit as the API does, with or without a key; return the job's id, or the error code."""
    try:
        with database.transaction() as session:
            known = idempotency.begin(session, workspace_id, key, body, now=NOW) if key else None
            if known:
                return known
            job_id = submit(session, a_question(workspace_id, about)).job.id
            if key:
                idempotency.finish(session, workspace_id, key, job_id)
            return job_id
    except (InsufficientCredits, IdempotencyKeyReused) as refusal:
        return refusal.code


def balance(database: Database, workspace_id: str) -> tuple[int, int, int]:
    with database.reading() as session:
        return figures(session, workspace_id)


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("key", [None, "the same key"])
def test_forty_concurrent_equal_requests_get_one_job(
    database: Database, number: int, key: str | None
) -> None:
    workspace_id = add_workspace(database)

    jobs = at_once(40, lambda _: ask(database, workspace_id, "ada", key))

    assert len(set(jobs)) == 1
    assert balance(database, workspace_id) == (99, 1, 0)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_of_two_different_requests_with_one_key_one_is_refused(database: Database, number: int) -> None:
    workspace_id = add_workspace(database)

    jobs = at_once(
        40, lambda number: ask(database, workspace_id, f"{number % 2}", "key", HASH + bytes([number % 2]))
    )

    results = Counter(jobs)
    assert results.pop(IdempotencyKeyReused.code) == 20
    assert list(results.values()) == [20]
    assert balance(database, workspace_id) == (99, 1, 0)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_five_credits_pay_for_five_of_forty_requests_and_refused_ones_store_nothing(
    database: Database, number: int
) -> None:
    workspace_id = add_workspace(database, 5)

    jobs = at_once(40, lambda number: ask(database, workspace_id, f"p{number}", f"k{number}"))

    refused = [number for number, job in enumerate(jobs) if job == InsufficientCredits.code]
    with database.transaction() as session:
        stored = session.scalar(select(func.count()).select_from(IdempotencyKey))
        credits.grant(session, workspace_id, 1, reason="more", now=NOW)
    assert (len(refused), stored) == (35, 5)
    assert ask(database, workspace_id, f"p{refused[0]}", f"k{refused[0]}").startswith("job_")
    assert balance(database, workspace_id) == (0, 6, 0)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_of_twelve_workers_one_claims_each_job(database: Database, number: int) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=100)
        jobs = [a_job(session, workspace_id, f"p{number}") for number in range(40)]

    def work(_worker: int) -> list[str]:
        return [job for job in jobs if take(database, job)]

    claimed = at_once(12, work)

    assert sorted(job for jobs_of_one in claimed for job in jobs_of_one) == sorted(jobs)


def take(database: Database, job_id: str) -> Claim | None:
    with database.transaction() as session:
        return try_claim(session, job_id)


def attempt(database: Database, verb: Callable[[Session], object]) -> bool:
    """Run an operation in a transaction; return whether it was allowed."""
    try:
        with database.transaction() as session:
            return verb(session) is not False
    except LeaseLost:
        return False


def found(claimed: Claim, charge: int = 1) -> Callable[[Session], object]:
    answer = (
        JobResult(outcome=Outcome.NOT_FOUND, charge=0) if not charge else JobResult(outcome=Outcome.FOUND)
    )
    return lambda session: leases.settle(session, claimed, answer, now=NOW)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_worker_that_lost_its_lease_and_its_successor_do_not_both_settle(
    database: Database, number: int
) -> None:
    late = NOW + LEASE * 2
    with database.transaction() as session:
        job_id = a_job(session, a_workspace(session))
        zombie = claim(session, job_id)
        successor = claim(session, job_id, now=late)

    allowed = at_once(8, lambda number: attempt(database, found(zombie if number % 2 else successor)))

    assert [number % 2 for number, done in enumerate(allowed) if done] == [0]


@pytest.mark.parametrize("number", range(ROUNDS * 3))
def test_of_cancel_settle_and_expiry_exactly_one_ends_the_job(database: Database, number: int) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        job_id = a_job(session, workspace_id)

    def end(number: int) -> list[str]:
        if number % 3 == 0:
            return [job_id] * attempt(database, lambda session: sweeper.cancel(session, job_id, now=NOW))
        if number % 3 == 1:
            with database.transaction() as session:
                return end_lost(session)
        claimed = take(database, job_id)
        return [job_id] * (claimed is not None and attempt(database, found(claimed)))

    ended = at_once(9, end)

    assert sum(len(item) for item in ended) == 1
    assert balance(database, workspace_id) == (10, 0, 0)


def end_lost(session: Session, late: timedelta = DEADLINE) -> list[str]:
    return sweeper.finish_orphaned(
        session, max_crashes=MAX_CRASHES, expired=EXPIRED, crashed=CRASHED, now=NOW + late
    )


@pytest.mark.parametrize("number", range(ROUNDS))
def test_requests_that_lead_to_the_same_address_are_charged_once(database: Database, number: int) -> None:
    """Requests by id, by profile and in two enrichments are different jobs, but one reveal."""
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=100)
        contact = a_contact(session, a_company(session))
        an_email(session, contact, "ada@acme.com")
        claims = [
            claim(session, a_job(session, workspace_id, "by id")),
            claim(session, a_job(session, workspace_id, "by profile")),
            *(claim(session, an_enrichment(session, workspace_id, about)) for about in ("list", "other")),
        ]

    at_once(4, lambda number: attempt(database, hand_in(claims[number], contact)))

    assert balance(database, workspace_id) == (99, 0, 1)
    with database.reading() as session:
        charged = session.scalars(select(Job.charged)).all()
        assert sorted(charged) == [0, 0, 0, 1]
        assert session.scalars(select(Reveal.credits)).all() == [1]


def an_enrichment(session: Session, workspace_id: str, about: str, people: int = 1) -> str:
    return a_job(
        session,
        workspace_id,
        about,
        kind=Kind.ENRICHMENT_REQUEST,
        items=({},) * people,
        price=people,
        allow_partial_hold=True,
    )


def hand_in(claimed: Claim, contact: Contact) -> Callable[[Session], object]:
    def settle(session: Session) -> None:
        disclosed = disclose(
            session,
            workspace_id=claimed.workspace_id,
            job_id=claimed.job_id,
            contact=contact,
            field_request=FIELD_REQUEST,
            price=1,
            now=NOW,
        )
        assert disclosed is not None
        charge = disclosed.charge
        if claimed.kind == Kind.ENRICHMENT_REQUEST:
            item = JobItem(job_id=claimed.job_id, index=0, request={}, outcome="found", charged=charge)
            leases.complete_item(session, claimed, item, charge=charge, lease_until=NOW + LEASE)
            charge = 0
        result = {"contact_id": contact.id}
        answer = JobResult(outcome=Outcome.FOUND, charge=charge, result=result)
        leases.settle(session, claimed, answer, now=NOW)

    return settle


@pytest.mark.parametrize("number", range(ROUNDS))
def test_concurrent_enrichments_hold_no_more_than_the_balance(database: Database, number: int) -> None:
    """Each reads the balance before it holds; on PostgreSQL they once deadlocked."""
    workspace_id = add_workspace(database, 10)

    def start(number: int) -> str:
        with database.transaction() as session:
            idempotency.begin(session, workspace_id, f"k{number}", HASH, now=NOW)
            job_id = an_enrichment(session, workspace_id, f"list {number}", people=3)
            idempotency.finish(session, workspace_id, f"k{number}", job_id)
            return job_id

    jobs = at_once(12, start)

    assert len(set(jobs)) == 12
    assert balance(database, workspace_id) == (0, 10, 0)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_workspaces_that_reveal_the_same_person_do_not_deadlock(database: Database, number: int) -> None:
    """A disclosed address takes a key-share lock on the contact; then a found phone is stored."""
    with database.transaction() as session:
        contact = a_contact(session, a_company(session))
        an_email(session, contact, "ada@acme.com")
        claims = [claim(session, an_enrichment(session, a_workspace(session), "list")) for _ in range(12)]
    source = Source("test", SourceKind.PROVIDER, NOW)

    def give(number: int) -> bool:
        def both(session: Session) -> None:
            hand_in(claims[number], contact)(session)
            phones.upsert(session, contact.id, FoundPhone(e164="+12025550143", source=source), now=NOW)

        return attempt(database, both)

    assert all(at_once(12, give))


@pytest.mark.parametrize("number", range(ROUNDS))
def test_settlements_that_wait_for_one_another_do_not_deadlock(database: Database, number: int) -> None:
    """A statement that locked the row before it updated it came back to the replaced version."""
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        jobs = [a_job(session, workspace_id, f"p{number}") for number in range(4)]
        claims = [claim(session, job_id) for job_id in jobs]

    with ThreadPoolExecutor(len(jobs)) as pool, database.transaction() as other:
        referring = select(Workspace.id).where(Workspace.id == workspace_id)
        other.execute(referring.with_for_update(read=True, key_share=True)).all()
        with database.transaction() as session:
            credits.grant(session, workspace_id, 1, reason="replaces the version of the row", now=NOW)
            waiting = [pool.submit(attempt, database, found(one)) for one in claims]
            wait_until(lambda: _waiting_for_locks(database) == len(claims))
        assert all(one.result() for one in waiting)


def _waiting_for_locks(database: Database) -> int:
    with database.reading() as session:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return session.scalars(text(f"{waiting} AND datname = current_database()")).one()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_the_audit_finds_no_violation_under_load(database: Database, number: int) -> None:
    """Submits, runs, sweeps, cancels, grants and reports run concurrently with the audit."""
    with database.transaction() as session:
        workspaces = [a_workspace(session, grant=20) for _ in range(2)]
        contact = a_contact(session, a_company(session))
        an_email(session, contact, "ada@acme.com")

    def work(number: int) -> list[tuple[str, str]]:
        if number % 4 == 0:
            return [fault for _ in range(TURNS) for fault in look(database)]
        for turn in range(TURNS):
            use(database, workspaces[number % 2], f"p{(number + turn) % 5}", contact, turn + number)
        return []

    assert [fault for seen in at_once(12, work) for fault in seen] == []


def look(database: Database) -> list[tuple[str, str]]:
    with database.reading() as session:
        rule_checks.use_repeatable_read(session)
        return faults(session)


def use(database: Database, workspace_id: str, about: str, contact: Contact, turn: int) -> None:
    """Submit a job, then run one of the operations on it."""
    with database.transaction() as session:
        credits.grant(session, workspace_id, 1, reason="busy", now=NOW)
    with database.transaction() as session:  # another one: a submission locks its job before the workspace
        if turn % 2:
            job_id = an_enrichment(session, workspace_id, about)
        else:
            job_id = submit(session, a_question(workspace_id, about)).job.id
    if turn % 5 == 0:
        attempt(database, lambda session: sweeper.cancel(session, job_id, now=NOW))
    elif turn % 5 == 1:
        attempt(database, lambda session: end_lost(session, LEASE if turn % 2 else DEADLINE))
    else:
        claimed = take(database, job_id)
        if claimed is not None and claimed.budget:
            attempt(database, hand_in(claimed, contact))
