"""Jobs that are settled together: each message leads to what it would alone, and a failure costs nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from fake_providers import MISS, email, person, phone
from jobs_support import a_job, a_workspace, at_once, figures, read
from local_servers import POSTGRES
from sqlalchemy import event, func, select, text, update
from worker_harness import WorkerHarness, deliver, worker_harness

from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Queue, Status
from app.engine.accounts.workspaces import Workspace
from app.engine.jobs import claims, leases, scheduling
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import Job
from app.engine.ledger import acquisition, credits
from app.engine.ledger.credits import LedgerEntry
from app.engine.ledger.reveals import RevealedValue
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import claimer
from workers.execution.claimer import Claimer, Taken
from workers.jobs import company_by_hash, leads_by_website_hash, reveal

REGISTERED = (company_by_hash, leads_by_website_hash, reveal)
PEOPLE = 20
PROFILE = "https://www.linkedin.com/in/person-{}"
UNKNOWN = "https://www.linkedin.com/in/nobody-{}"


class Notifications:
    """A notifier that records what it is called with."""

    def __init__(self) -> None:
        self.sent: list[Sequence[str]] = []

    def notify(self, job_ids: Sequence[str]) -> None:
        if job_ids:
            self.sent.append(job_ids)


class Messages:
    """A publisher that records the jobs in its messages."""

    def __init__(self) -> None:
        self.sent: list[tuple[Queue, str]] = []

    def push(self, _kind: str, queue: Queue, job_ids: Sequence[str]) -> bool:
        self.sent += [(queue, job_id) for job_id in job_ids]
        return True


@pytest.fixture
def notifications() -> Notifications:
    return Notifications()


@pytest.fixture
def messages() -> Messages:
    return Messages()


@pytest.fixture
def harness(
    settings: Settings,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    notifications: Notifications,
    messages: Messages,
) -> WorkerHarness:
    harness = worker_harness(settings, database, monkeypatch)
    object.__setattr__(harness.services, "notifier", notifications)
    object.__setattr__(harness.services, "publisher", messages)
    harness.set_providers(one=MISS)
    for number in range(PEOPLE):
        address, profile = email(f"person{number}@acme.com"), PROFILE.format(number)
        harness.store_contact(person(linkedin_url=profile, emails=(address,), phones=(phone(),)))
    with database.transaction() as session:
        session.execute(update(Workspace).values(available=Workspace.available + 90))
    return harness


def submit(harness: WorkerHarness, *profiles: str, workspace_id: str = "", **options: Any) -> list[str]:
    """Insert a reveal of each profile as the API does; return the ids of the jobs."""
    workspace_id = workspace_id or harness.workspace_id
    requests = [
        {"subject": {"linkedin_url": profile}, "types": ["work"], "min_status": "valid"}
        for profile in profiles
    ]
    with harness.database.transaction() as session:
        return [
            a_job(session, workspace_id, new_id("job"), request=request, **options) for request in requests
        ]


def people(count: int) -> list[str]:
    return [PROFILE.format(number) for number in range(count)]


def stored(harness: WorkerHarness, job_ids: Sequence[str]) -> list[Job]:
    with harness.database.reading() as session:
        return [read(session, job_id) for job_id in job_ids]


def money(harness: WorkerHarness, workspace_id: str = "") -> tuple[int, int, int]:
    with harness.database.reading() as session:
        return figures(session, workspace_id or harness.workspace_id)


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Record the statements of the block."""
    sql: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        sql.append(statement)

    for engine in database.engines:
        event.listen(engine, "before_cursor_execute", record)
    yield sql
    for engine in database.engines:
        event.remove(engine, "before_cursor_execute", record)


def test_all_jobs_of_a_message_are_settled_in_one_transaction_and_notified_once(
    harness: WorkerHarness, notifications: Notifications, messages: Messages
) -> None:
    ids, commits = submit(harness, *people(10)), list[Any]()
    event.listen(harness.database.engine, "commit", commits.append)

    deliver(harness.services, *ids)

    jobs = stored(harness, ids)
    addresses = [job.result and job.result["emails"][0]["email"] for job in jobs]
    assert addresses == [f"person{number}@acme.com" for number in range(10)]
    assert {(job.status, job.outcome, job.attempts, job.charged) for job in jobs} == {
        (Status.SUCCEEDED, Outcome.FOUND, 1, 1)
    }
    assert {(job.lease_token, job.lease_until) for job in jobs} == {(None, None)}
    assert money(harness) == (90, 0, 10)
    assert (len(commits), len(notifications.sent), messages.sent) == (1, 1, [])
    assert sorted(notifications.sent[0]) == sorted(ids)


def test_the_number_of_statements_does_not_depend_on_the_number_of_jobs(harness: WorkerHarness) -> None:
    harness.services = replace(harness.services, own_records={})  # it looks for them at times, not by job
    counts = []
    for profiles in (people(2), people(PEOPLE)[2:18]):
        ids = submit(harness, *profiles)
        with statements(harness.database) as sql:
            deliver(harness.services, *ids)
        counts.append(len(sql))

    assert counts[0] == counts[1]


def test_each_workspace_pays_for_its_own_jobs(harness: WorkerHarness, database: Database) -> None:
    with database.transaction() as session:
        other, poor = a_workspace(session, grant=10), a_workspace(session, grant=10)
    ids = submit(harness, *people(3))
    ids += submit(harness, *people(5), workspace_id=other)
    ids += submit(harness, UNKNOWN.format(1), workspace_id=poor)

    deliver(harness.services, *ids)

    assert money(harness) == (97, 0, 3)
    assert money(harness, other) == (5, 0, 5)
    assert money(harness, poor) == (9, 1, 0)
    with database.reading() as session:
        closes = select(LedgerEntry.workspace_id, func.sum(LedgerEntry.spent)).where(
            LedgerEntry.kind == "settle"
        )
        spent = dict(session.execute(closes.group_by(LedgerEntry.workspace_id)).all())
    assert spent == {harness.workspace_id: 3, other: 5}


def test_of_a_message_one_job_that_needs_a_provider_is_run_and_the_others_get_messages_of_their_own(
    harness: WorkerHarness, messages: Messages
) -> None:
    profiles = [UNKNOWN.format(1), PROFILE.format(1), UNKNOWN.format(2), UNKNOWN.format(3), PROFILE.format(2)]
    ids = submit(harness, *profiles)

    deliver(harness.services, *ids)

    statuses = [job.status for job in stored(harness, ids)]
    assert [statuses[1], statuses[4]] == [Status.SUCCEEDED] * 2
    moved = [job_id for queue, job_id in messages.sent if queue is Queue.PROVIDERS]
    left = [job_id for queue, job_id in messages.sent if queue is Queue.INTERACTIVE]
    assert len(moved) == 1
    assert sorted(moved + left) == sorted([ids[0], ids[2], ids[3]])
    assert {job.queue for job in stored(harness, left)} == {Queue.INTERACTIVE}
    assert {job.attempts for job in stored(harness, left)} == {0}


def test_jobs_of_messages_that_are_on_their_way_are_settled_too_and_those_need_no_statement(
    harness: WorkerHarness,
) -> None:
    ids = submit(harness, *people(4))

    deliver(harness.services, ids[2])
    with statements(harness.database) as sql:
        for job_id in (ids[0], ids[1], ids[3]):
            deliver(harness.services, job_id)

    assert {job.status for job in stored(harness, ids)} == {Status.SUCCEEDED}
    assert sql == []


def test_a_message_whose_job_another_process_has_settled_is_counted(harness: WorkerHarness) -> None:
    ids = submit(harness, *people(2))
    Claimer(Queue.INTERACTIVE, harness.services).take(ids)

    deliver(harness.services, *ids)

    assert harness.services.refused == {"over": 2}


def test_more_jobs_than_fit_into_a_group_are_settled_by_their_message(harness: WorkerHarness) -> None:
    ids = submit(harness, *people(PEOPLE))

    deliver(harness.services, *ids)

    assert {job.status for job in stored(harness, ids)} == {Status.SUCCEEDED}
    assert money(harness) == (80, 0, 20)


def test_a_workspace_with_many_jobs_leaves_room_for_the_others_in_a_group(
    harness: WorkerHarness, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        others = [a_workspace(session, grant=10) for _ in range(3)]
    heavy = submit(harness, *people(PEOPLE))
    light = [job_id for other in others for job_id in submit(harness, PROFILE.format(1), workspace_id=other)]
    groups: list[list[str]] = []
    settle_all = leases.settle_all

    def settled(session: Session, results: Any, **options: Any) -> None:
        groups.append([claim.job_id for claim, _result in results])
        settle_all(session, results, **options)

    monkeypatch.setattr(leases, "settle_all", settled)

    deliver(harness.services, *heavy)

    assert set(light) < set(groups[0])
    assert len(groups[0]) == claimer.MAX_GROUP


def test_the_same_field_is_charged_once_in_a_group(harness: WorkerHarness) -> None:
    ids = submit(harness, PROFILE.format(1), PROFILE.format(1), PROFILE.format(2))

    deliver(harness.services, *ids)
    for job_id in ids:
        deliver(harness.services, job_id)

    assert {job.outcome for job in stored(harness, ids)} == {Outcome.FOUND}
    assert sorted(job.charged for job in stored(harness, ids)) == [0, 1, 1]
    assert money(harness) == (98, 0, 2)


def test_a_value_that_two_contacts_share_is_charged_once_in_a_group(harness: WorkerHarness) -> None:
    profiles = [PROFILE.format("a"), PROFILE.format("b")]
    for profile in profiles:
        harness.store_contact(person(linkedin_url=profile, emails=(email("shared@acme.com"),)))
    ids = submit(harness, *profiles)

    deliver(harness.services, *ids)

    jobs = stored(harness, ids)
    assert [(job.outcome, job.attempts) for job in jobs] == [(Outcome.FOUND, 1)] * 2
    assert sorted((job.charged, job.already_owned) for job in jobs) == [(0, True), (1, False)]
    assert money(harness) == (99, 0, 1)


def test_processes_that_settle_the_same_jobs_at_once_charge_each_once(
    harness: WorkerHarness, database: Database
) -> None:
    ids = submit(harness, *people(PEOPLE))
    processes = [Claimer(Queue.INTERACTIVE, harness.services) for _ in range(4)]

    at_once(4, lambda number: processes[number].take(ids))

    assert {job.status for job in stored(harness, ids)} == {Status.SUCCEEDED}
    assert money(harness) == (80, 0, 20)
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(RevealedValue)) == PEOPLE


def test_threads_of_a_process_share_a_transaction(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, transactions = submit(harness, *people(8)), list[Any]()
    event.listen(harness.database.engine, "commit", transactions.append)
    takers = claimer.of(harness.services, Queue.INTERACTIVE)

    taken: list[Taken] = at_once(8, lambda number: takers.take([ids[number]]))

    assert taken == [Taken()] * 8
    assert {job.status for job in stored(harness, ids)} == {Status.SUCCEEDED}
    assert len(transactions) < 8


STEPS: list[tuple[object, str]] = [
    (scheduling, "take"),
    (acquisition, "acquire_all"),
    (leases, "settle_all"),
    (claims, "claim_all"),
]


@pytest.mark.parametrize(("module", "name"), STEPS, ids=[name for _module, name in STEPS])
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
def test_a_process_killed_at_any_step_leaves_the_jobs_as_they_were(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch, module: object, name: str, *, is_late: bool
) -> None:
    ids = submit(harness, *people(3), UNKNOWN.format(1))
    step: Callable[..., Any] = getattr(module, name)

    def killed(*arguments: Any, **options: Any) -> None:
        if is_late:
            step(*arguments, **options)
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(module, name, killed)
        with pytest.raises(SystemExit):
            deliver(harness.services, *ids)
    before = {(job.status, job.attempts, job.charged) for job in stored(harness, ids)}
    deliver(harness.services, *ids)

    assert before == {(Status.QUEUED, 0, 0)}
    assert [job.status for job in stored(harness, ids)] == [Status.SUCCEEDED] * 3 + [Status.QUEUED]
    assert money(harness) == (96, 1, 3)


def test_a_job_that_makes_a_group_fail_is_run_alone_and_the_others_are_settled(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, groups = submit(harness, *people(5)), list[list[str]]()
    from_stored = claimer.FROM_STORED[Kind.REVEAL_EMAIL]

    def fails(session: Session, taken: Sequence[Claim], settings: Settings) -> Any:
        groups.append([claim.job_id for claim in taken])
        if ids[2] in groups[-1]:
            raise LookupError("a bug")
        return from_stored(session, taken, settings)

    monkeypatch.setitem(claimer.FROM_STORED, Kind.REVEAL_EMAIL, fails)

    deliver(harness.services, *ids)
    for job_id in ids:
        deliver(harness.services, job_id)

    assert Counter(job_id for group in groups for job_id in group) == Counter(ids)
    assert {(job.outcome, job.charged) for job in stored(harness, ids)} == {(Outcome.FOUND, 1)}
    assert money(harness) == (95, 0, 5)


def test_only_jobs_that_no_worker_can_have_run_are_settled_together(harness: WorkerHarness) -> None:
    ids = submit(harness, *people(3))
    with harness.database.transaction() as session:
        session.get_one(Job, ids[0]).crashes = 1

    taken = Claimer(Queue.INTERACTIVE, harness.services).take(ids)

    assert taken.claim is not None
    assert (taken.claim.job_id, taken.left) == (ids[0], [])
    assert [job.status for job in stored(harness, ids)] == [
        Status.RUNNING,
        Status.SUCCEEDED,
        Status.SUCCEEDED,
    ]


def test_jobs_of_a_workspace_with_a_spending_limit_are_counted_against_it(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, counted = submit(harness, *people(3)), list[tuple[str, int, int]]()
    with harness.database.transaction() as session:
        session.execute(update(Workspace).values(is_limited=True))

    def count(_session: Session, job_id: str, *, held: int, charged: int, **_now: Any) -> None:
        counted.append((job_id, held, charged))

    monkeypatch.setattr(credits, "count_close", count)

    deliver(harness.services, *ids)

    assert sorted(counted) == sorted((job_id, 1, 1) for job_id in ids)


def clock_with(sleep: Callable[[float], None]) -> SimpleNamespace:
    """Return the module `time` with another `sleep`, for one module: other threads sleep, too."""
    return SimpleNamespace(monotonic=time.monotonic, time_ns=time.time_ns, sleep=sleep)


@pytest.mark.skipif(not POSTGRES, reason="SQLite has one writer")
def test_a_message_tries_again_while_another_process_has_its_job(
    harness: WorkerHarness, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    [job_id] = submit(harness, UNKNOWN.format(1))
    other, session = database.transaction(), None
    session = other.__enter__()
    session.execute(select(Job.id).where(Job.id == job_id).with_for_update(key_share=True)).all()
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            other.__exit__(None, None, None)

    monkeypatch.setattr(claimer, "time", clock_with(pause))

    taken = Claimer(Queue.INTERACTIVE, harness.services).take([job_id])

    assert taken.claim is not None
    assert (taken.claim.job_id, pauses) == (job_id, [0.02, 0.04])
    assert not harness.services.refused


@pytest.mark.skipif(not POSTGRES, reason="SQLite has one writer")
def test_a_job_that_stays_locked_is_left_to_the_sweeper(
    harness: WorkerHarness, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    [job_id] = submit(harness, UNKNOWN.format(1))
    pauses: list[float] = []
    monkeypatch.setattr(claimer, "time", clock_with(pauses.append))

    with database.transaction() as session:
        session.execute(select(Job.id).where(Job.id == job_id).with_for_update(key_share=True)).all()
        taken = Claimer(Queue.INTERACTIVE, harness.services).take([job_id])

    assert taken == Taken()
    assert pauses == [0.02, 0.04, 0.08, 0.16, 0.32]


def test_a_message_of_a_job_in_another_queue_is_not_repeated(harness: WorkerHarness) -> None:
    [job_id] = submit(harness, UNKNOWN.format(1))
    deliver(harness.services, job_id)

    deliver(harness.services, job_id)

    assert harness.services.refused == {"not_due": 1}


def test_a_message_whose_job_another_thread_settles_meanwhile_gets_another_job(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both threads are in the claimer; the second takes its group after the first has settled both jobs."""
    known, unknown = submit(harness, PROFILE.format(1), UNKNOWN.format(1))
    takers, claim_all = Claimer(Queue.INTERACTIVE, harness.services), claims.claim_all

    def settled_meanwhile(session: Session, job_ids: Sequence[str], **options: Any) -> Any:
        takers._settled.add(["job_settled"])  # noqa: SLF001 -- as the other thread does after its commit
        return claim_all(session, job_ids, **options)

    monkeypatch.setattr(claims, "claim_all", settled_meanwhile)

    taken = takers.take(["job_settled"])

    assert taken.claim is not None
    assert taken.claim.job_id == unknown
    assert stored(harness, [known])[0].status == Status.SUCCEEDED


@pytest.mark.skipif(not POSTGRES, reason="SQLite has one writer")
def test_a_locked_row_delays_a_group_only_for_a_moment(
    harness: WorkerHarness, database: Database, messages: Messages
) -> None:
    ids = submit(harness, *people(3))

    with database.transaction() as session:
        lock = text("SELECT id FROM workspaces WHERE id = :id FOR UPDATE").bindparams(id=harness.workspace_id)
        session.execute(lock)
        taken = Claimer(Queue.INTERACTIVE, harness.services).take(ids)

    assert taken.claim is not None
    assert sorted([taken.claim.job_id, *taken.left]) == sorted(ids)


def test_hash_lookups_are_settled_together(harness: WorkerHarness) -> None:
    request = {"kind": "website", "hashes": ["ab" * 32], "titles": [], "seniorities": [], "limit": 1}
    with harness.database.transaction() as session:
        ids = [
            a_job(session, harness.workspace_id, new_id("job"), kind=kind, request=request, price=0)
            for kind in (Kind.COMPANY_BY_HASH, Kind.LEADS_BY_WEBSITE_HASH, Kind.COMPANY_BY_HASH)
        ]
    ids += submit(harness, PROFILE.format(1))

    deliver(harness.services, *ids)

    jobs = stored(harness, ids)
    assert [job.outcome for job in jobs] == [Outcome.NOT_FOUND] * 3 + [Outcome.FOUND]
    assert [job.result for job in jobs[:3]] == [None] * 3
    assert money(harness) == (99, 0, 1)
