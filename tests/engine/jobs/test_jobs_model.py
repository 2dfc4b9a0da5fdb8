"""Stateful property tests: random sequences of operations must change jobs and credits as a model predicts.

The model is plain Python: balances, job states and reveals. After every step the database must equal the
model; the audit runs regularly and must find no violation. Any earlier claim may be used again at any time
with any operation: a crashed worker, and its zombie, are claims that are not used for a while.

A few short examples run with all tests and thirty with those of a release; HYPOTHESIS_PROFILE=full runs 200
examples of 50 steps instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from audit_support import FIELD_REQUEST, faults
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from jobs_support import (
    CRASHED,
    DEADLINE,
    DIGEST_KEYS,
    EXPIRED,
    FRESH,
    LEASE,
    MAX_CRASHES,
    NOW,
    STALE,
    a_workspace,
    submit,
)
from sqlalchemy import select
from stored_support import a_company, a_contact, an_email, disclose

from app.domain.errors import ContactNotFound, IdempotencyKeyReused, InsufficientCredits
from app.domain.kinds import Kind, Outcome
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.contacts.contacts import Contact
from app.engine.jobs import claims, idempotency, leases, sweeper
from app.engine.jobs.claims import Claim
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job, JobItem
from app.engine.jobs.leases import JobResult
from app.engine.jobs.submission import JobRequest
from app.engine.ledger import credits
from app.engine.ledger.reveals import REFUND_WITHIN, Reveal
from app.engine.work.turns import LeaseLost
from app.features.quality import feedback
from app.features.quality.feedback import FeedbackReport
from app.features.quality.refunds import Allowance
from app.infra.database.db import Database
from app.infra.database.session import Session

pytestmark = pytest.mark.slow

PEOPLE = ("ada", "bob")
WAYS = ("by id", "by profile")
DOMAINS = ("acme.com", "acme.org")
ITEM_PRICE = 2
ALLOWANCE = Allowance(0.05)
TICK = timedelta(milliseconds=1)
NEARLY = timedelta(seconds=10)
PAUSES = (LEASE - NEARLY, LEASE, LEASE + TICK, DEADLINE - NEARLY, DEADLINE, timedelta(days=2), REFUND_WITHIN)
PROFILES = {"small": (30, 30, 10), "full": (200, 50, 1)}
"""Examples, steps per example, and steps between audits."""
EXAMPLES, STEPS, AUDITED = PROFILES[os.environ.get("HYPOTHESIS_PROFILE", "small")]
FEW_EXAMPLES = 5


@dataclass
class Item:
    """One person of an enrichment; `charged` is None unless the person was found."""

    person: str
    done: bool = False
    charged: int | None = None


@dataclass
class Known:
    """The expected state of a job."""

    question: tuple[str, ...]
    person: str
    created_at: datetime
    held: int
    run_after: datetime
    items: list[Item] = field(default_factory=list)
    status: str = "queued"
    outcome: str | None = None
    charged: int = 0
    attempts: int = 0
    crashes: int = 0
    token: str | None = None
    lease_until: datetime = NOW
    finished_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.finished_at is None

    @property
    def deadline_at(self) -> datetime:
        return self.created_at + DEADLINE

    def row(self) -> tuple[Any, ...]:
        """Return the expected columns of the job, in the order of `_row`."""
        ended = (self.outcome, self.charged, self.finished_at)
        return (self.status, *ended, self.held, self.attempts, self.crashes, self.token)


@dataclass
class Owned:
    """The expected state of a reveal."""

    job_id: str
    price: int
    at: datetime
    refunded: bool = False


class JobsModel(RuleBasedStateMachine):
    """A model of one workspace and two people, with every operation on their jobs as a rule."""

    jobs = Bundle("jobs")
    held_claims = Bundle("held_claims")

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.connection = database.engine.connect()
        self.begun = self.connection.begin()
        self.now = NOW
        self.steps = 0
        self.available, self.held, self.spent = 5, 0, 0
        self.known: dict[str, Known] = {}
        self.owned: dict[str, Owned] = {}
        self.bounced: dict[tuple[str, str], datetime] = {}
        self.keys: dict[str, tuple[bytes, str]] = {}
        with self.transaction() as session:
            self.workspace_id = a_workspace(session, grant=self.available)
            company = a_company(session)
            self.contacts: dict[str, Contact] = {
                person: a_contact(session, company, person) for person in PEOPLE
            }
            for person, contact in self.contacts.items():
                for domain in DOMAINS:
                    an_email(session, contact, f"{person}@{domain}")

    def teardown(self) -> None:
        """Expire all open jobs, and check that none stays open and no credits stay held."""
        try:
            self.pause(DEADLINE + LEASE + TICK)
            self.sweep()
            self.steps = -1
            self.everything_is_as_the_model_says()
            assert not [job for job in self.known.values() if job.is_open]
            assert self.held == 0
        finally:
            self.begun.rollback()
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Yield a new session, as every transaction of the product has, that commits to a savepoint."""
        with Session(self.connection, keys=DIGEST_KEYS) as session:
            session.join_transaction_mode = "create_savepoint"
            with session.begin():
                yield session

    # Operations of callers

    @rule(
        target=jobs,
        person=st.sampled_from(PEOPLE),
        way=st.sampled_from(WAYS),
        price=st.sampled_from([0, 1, 1, 3]),
        key=st.sampled_from([None, None, "k1", "k2"]),
    )
    def ask(self, person: str, way: str, price: int, key: str | None) -> Any:
        """Request an e-mail in one of two ways that resolve to the same person."""
        question = self._question(Kind.REVEAL_EMAIL, (way, person), price)
        return self._ask(
            question, (way, person), person, key, hold=price if self.available >= price else None
        )

    @rule(
        target=jobs, person=st.sampled_from(PEOPLE), way=st.sampled_from(WAYS), price=st.sampled_from([1, 3])
    )
    def buy(self, person: str, way: str, price: int) -> Any:
        """Request an e-mail and run the job at once, the usual case."""
        made = self.ask(person, way, price, None)
        if isinstance(made, str):
            self.work(made)
        return made

    @rule(
        target=jobs,
        whom=st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=3),
        key=st.sampled_from([None, None, "k1", "k3"]),
    )
    def enrich(self, whom: list[str], key: str | None) -> Any:
        """Submit an enrichment of several people; hold at most the available credits."""
        about, price = ("list", *whom), ITEM_PRICE * len(whom)
        items = tuple({"person": person} for person in whom)
        question = self._question(Kind.ENRICHMENT_REQUEST, about, price, items=items, allow_partial_hold=True)
        made = self._ask(question, about, "", key, hold=min(price, self.available))
        job = self.known.get(made) if isinstance(made, str) else None
        if job is not None and not job.items:
            job.items = [Item(person) for person in whom]
        return made

    @rule(job_id=jobs)
    def cancel(self, job_id: str) -> None:
        """Cancel a job; only a queued job can be canceled."""
        self._tick()
        with self.transaction() as session:
            done = sweeper.cancel(session, job_id, now=self.now)
        assert done == (self.known[job_id].status == "queued")
        if done:
            self._close(job_id, "canceled")

    @rule(amount=st.integers(1, 5))
    def grant(self, amount: int) -> None:
        """Grant credits to the workspace."""
        self._tick()
        with self.transaction() as session:
            credits.grant(session, self.workspace_id, amount, reason="model", now=self.now)
        self.available += amount

    @rule(
        person=st.sampled_from(PEOPLE),
        domain=st.sampled_from(DOMAINS),
        later=st.sampled_from([TICK, TICK, REFUND_WITHIN]),
    )
    def bounce(self, person: str, domain: str, later: timedelta) -> None:
        """Report a bounce of an owned address; the reveal is refunded once all its addresses bounced."""
        self.pause(later)
        report = FeedbackReport(
            workspace_id=self.workspace_id,
            account_id=None,
            contact_id=self.contacts[person].id,
            email=f"{person}@{domain}",
            kind=FeedbackKind.BOUNCE,
        )
        try:
            with self.transaction() as session:
                refunded = feedback.record(session, report, allowance=ALLOWANCE, now=self.now).refunded
        except ContactNotFound:
            assert self._is_new(person)
            assert (person, domain) not in self.bounced
            return
        reveal = self.owned[person]
        is_news = (person, domain) not in self.bounced
        self.bounced.setdefault((person, domain), self.now)
        is_last = is_news and all((person, item) in self.bounced for item in DOMAINS)
        assert refunded == (reveal.price if is_last and self.now - reveal.at <= REFUND_WITHIN else 0)
        reveal.refunded = reveal.refunded or refunded > 0
        self.available += refunded
        self.spent -= refunded

    # Operations of workers

    @rule(target=held_claims, job_id=jobs)
    def claim(self, job_id: str) -> Any:
        """Claim a job that is due or whose lease has expired."""
        self._tick()
        with self.transaction() as session:
            claimed = claims.claim(session, job_id, lease=LEASE, max_crashes=MAX_CRASHES, now=self.now)
        job = self.known[job_id]
        due = job.status == "queued" and job.run_after <= self.now
        abandoned = self._is_abandoned(job) and job.crashes < MAX_CRASHES - 1
        assert (claimed is not None) == ((due or abandoned) and job.deadline_at > self.now)
        if claimed is None:
            return multiple()
        job.attempts += due
        job.crashes += abandoned
        job.status, job.token, job.lease_until = "running", claimed.lease_token, self.now + LEASE
        assert (claimed.held, claimed.charged, claimed.attempts) == (job.held, job.charged, job.attempts)
        return claimed

    @rule(target=held_claims, job_id=jobs)
    def crash(self, job_id: str) -> Any:
        """Claim a job and stall until the lease expires; another worker claims it; then resume."""
        lost = self.claim(job_id)
        if not isinstance(lost, Claim):
            return lost
        self.pause(LEASE)
        successor = self.claim(job_id)
        self.find(lost)
        return multiple(lost, successor) if isinstance(successor, Claim) else lost

    @rule(claimed=held_claims)
    def find(self, claimed: Claim) -> None:
        """Complete a reveal, or the next item of an enrichment; settle an enrichment without open items."""
        job = self.known[claimed.job_id]
        todo = next((number for number, item in enumerate(job.items) if not item.done), None)
        if todo is not None:
            self._keep_item(claimed, job, todo)
        elif job.items:
            got = any(item.charged is not None for item in job.items)
            self._settle(claimed, Outcome.PARTIAL if got else Outcome.NOT_FOUND, None)
        else:
            self._settle(claimed, Outcome.FOUND, job.person)

    @rule(target=held_claims, job_id=jobs)
    def work(self, job_id: str) -> Any:
        """Claim a job and find its person, the usual case."""
        claimed = self.claim(job_id)
        if isinstance(claimed, Claim):
            self.find(claimed)
        return claimed

    @rule(claimed=held_claims)
    def miss(self, claimed: Claim) -> None:
        """Settle the job as not found; completed items of an enrichment stay charged."""
        self._settle(claimed, Outcome.NOT_FOUND, None)

    @rule(claimed=held_claims)
    def fail(self, claimed: Claim) -> None:
        """Fail the job."""
        if self._try(claimed, lambda session: leases.fail(session, claimed, CRASHED, now=self.now)):
            self._close(claimed.job_id, "failed")

    @rule(claimed=held_claims, seconds=st.sampled_from([0, 5, 600]), counts_as_attempt=st.booleans())
    def put_back(self, claimed: Claim, seconds: int, *, counts_as_attempt: bool) -> None:
        """Requeue the job, after a failure (which counts as an attempt) or to wait for a provider."""
        self._tick()
        later = self.now + timedelta(seconds=seconds)
        if self._try(
            claimed,
            lambda session: leases.requeue(
                session, claimed, run_after=later, counts_as_attempt=counts_as_attempt
            ),
        ):
            job = self.known[claimed.job_id]
            job.status, job.token, job.run_after = "queued", None, later
            job.attempts -= not counts_as_attempt

    @rule(claimed=held_claims)
    def renew(self, claimed: Claim) -> None:
        """Renew the lease of the job."""
        until = self.now + TICK + LEASE
        if self._try(claimed, lambda session: leases.renew(session, claimed, lease_until=until)):
            self.known[claimed.job_id].lease_until = until

    @rule(target=held_claims, job_id=jobs)
    def outlive(self, job_id: str) -> Any:
        """Renew the lease beyond the deadline: the worker may still finish the job within its lease."""
        claimed = self.claim(job_id)
        if isinstance(claimed, Claim):
            self.now = max(self.now, self.known[job_id].deadline_at - NEARLY)
            self.renew(claimed)
            self.pause(LEASE - NEARLY)
            self.sweep()
        return claimed

    # Time and the sweeper

    @rule(pause=st.sampled_from(PAUSES))
    def pause(self, pause: timedelta) -> None:
        """Advance the time."""
        self.now += pause

    @rule()
    def sweep(self) -> None:
        """End orphaned jobs and publish stale jobs again."""
        self._tick()
        with self.transaction() as session:
            ended = sweeper.finish_orphaned(
                session, max_crashes=MAX_CRASHES, expired=EXPIRED, crashed=CRASHED, now=self.now
            )
            sent = [item.job_id for item in sweeper.republish(session, stale=STALE, now=self.now)]
        lost = {job_id: how for job_id, job in self.known.items() if (how := self._how_lost(job))}
        assert sorted(ended) == sorted(lost)
        for job_id, how in lost.items():
            self._close(job_id, how)
        assert all(self._may_be_sent(self.known[job_id]) for job_id in sent)

    # Invariants

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        """Compare the database with the model, and audit it every AUDITED steps."""
        with self.transaction() as session:
            self.steps += 1
            if self.steps % AUDITED == 0:
                assert faults(session, now=NOW) == []
            paid = session.get_one(Workspace, self.workspace_id)
            assert (paid.available, paid.held, paid.spent) == (self.available, self.held, self.spent)
            assert {job.id: _row(job) for job in session.scalars(select(Job))} == {
                job_id: job.row() for job_id, job in self.known.items()
            }
            assert {_reveal(item) for item in session.scalars(select(Reveal))} == {
                (self.contacts[person].id, item.job_id, item.price, item.refunded)
                for person, item in self.owned.items()
            }
            assert {item.key: item.reference for item in session.scalars(select(IdempotencyKey))} == {
                key: job_id for key, (_body, job_id) in self.keys.items()
            }

    @invariant()
    def no_question_is_open_twice(self) -> None:
        """Check that no two open jobs of the model have the same question."""
        asked = [job.question for job in self.known.values() if job.is_open]
        assert len(asked) == len(set(asked))

    def _question(self, kind: Kind, about: tuple[str, ...], price: int, **more: Any) -> JobRequest:
        return JobRequest(
            kind=kind,
            workspace_id=self.workspace_id,
            account_id=None,
            request={},
            dedup_key={"about": list(about)},
            price=price,
            **more,
        )

    def _ask(
        self, question: JobRequest, about: tuple[str, ...], person: str, key: str | None, *, hold: int | None
    ) -> Any:
        """Submit as the API does; `hold` is the expected hold of a new job, None for too few credits."""
        self._tick()
        body = repr((about, question.price)).encode()
        is_replay = key in self.keys
        joined = None if is_replay else self._answer_to(about)
        try:
            with self.transaction() as session:
                job_id = self._submit(session, question, key, body)
        except IdempotencyKeyReused:
            assert self.keys[str(key)][0] != body
            return multiple()
        except InsufficientCredits:
            assert not is_replay
            assert joined is None
            assert hold is None
            return multiple()
        if is_replay:
            assert (body, job_id) == self.keys[str(key)]
            return multiple()
        if key is not None:
            self.keys[key] = (body, job_id)
        if joined is not None:
            assert job_id == joined
            return multiple()
        assert job_id not in self.known
        assert hold is not None
        self.known[job_id] = Known(about, person, self.now, hold, self.now)
        self.available -= hold
        self.held += hold
        return job_id

    def _submit(self, session: Session, question: JobRequest, key: str | None, body: bytes) -> str:
        if key is not None:
            known = idempotency.begin(session, self.workspace_id, key, body, now=self.now)
            if known is not None:
                return known
        job_id = submit(session, question, now=self.now).job.id
        if key is not None:
            idempotency.finish(session, self.workspace_id, key, job_id)
        return job_id

    def _answer_to(self, about: tuple[str, ...]) -> str | None:
        """Return the job that a request must join: the open one, or the last succeeded one while fresh."""
        same = {job_id: job for job_id, job in self.known.items() if job.question == about}
        for job_id, job in same.items():
            if job.is_open:
                return job_id
        answered = [(job.created_at, job_id) for job_id, job in same.items() if job.status == "succeeded"]
        if not answered:
            return None
        job_id = max(answered)[1]
        job = same[job_id]
        stands = FRESH.found if job.outcome in {"found", "partial"} else FRESH.not_found
        disclosed = {job.person} if job.outcome == "found" else set()
        disclosed |= {item.person for item in job.items if item.charged is not None}
        is_stale = (
            job.finished_at is None
            or job.finished_at + stands <= self.now
            or any(item.done and item.charged is None for item in job.items)
            or any(self._bounced_since(person, job.created_at) for person in disclosed)
        )
        return None if is_stale else job_id

    def _is_new(self, person: str) -> bool:
        return person not in self.owned or self.owned[person].refunded

    def _bounced_since(self, person: str, since: datetime) -> bool:
        return any(
            (person, domain) in self.bounced and self.bounced[person, domain] >= since for domain in DOMAINS
        )

    def _try(self, claimed: Claim, verb: Callable[[Session], None]) -> bool:
        """Run an operation that requires the lease; return whether the claim still had it."""
        self._tick()
        job = self.known[claimed.job_id]
        is_held = job.status == "running" and job.token == claimed.lease_token
        try:
            with self.transaction() as session:
                verb(session)
        except LeaseLost:
            assert not is_held
            return False
        assert is_held
        return True

    def _settle(self, claimed: Claim, outcome: Outcome, person: str | None) -> None:
        price = claimed.held
        is_new = person is not None and self._is_new(person)

        def settle(session: Session) -> None:
            answer = JobResult(outcome=outcome)
            if person is not None:
                handed = self._hand_over(session, claimed, person, price)
                answer = JobResult(outcome=outcome, charge=handed, result=self._result(person))
            leases.settle(session, claimed, answer, now=self.now)

        if self._try(claimed, settle):
            if is_new:
                self.owned[str(person)] = Owned(claimed.job_id, price, self.now)
                self.known[claimed.job_id].charged += price
            self._close(claimed.job_id, "succeeded", outcome.value)

    def _keep_item(self, claimed: Claim, job: Known, number: int) -> None:
        """Complete one item, as a worker that knows the current charge of the job."""
        item = job.items[number]
        is_new = self._is_new(item.person)
        affordable = not is_new or job.held - job.charged >= ITEM_PRICE
        until = self.now + TICK + LEASE

        def keep(session: Session) -> None:
            row = JobItem(job_id=claimed.job_id, index=number, request={"person": item.person}, charged=0)
            if affordable:
                row.charged = self._hand_over(session, claimed, item.person, ITEM_PRICE)
                row.outcome, row.result = Outcome.FOUND.value, self._result(item.person)
            else:
                row.error = InsufficientCredits(ITEM_PRICE, 0).as_dict()
            leases.complete_item(session, claimed, row, charge=row.charged, lease_until=until)

        if self._try(claimed, keep):
            item.done = True
            job.lease_until = until
            if affordable:
                item.charged = ITEM_PRICE if is_new else 0
                job.charged += item.charged
            if affordable and is_new:
                self.owned[item.person] = Owned(claimed.job_id, ITEM_PRICE, self.now)

    def _hand_over(self, session: Session, claimed: Claim, person: str, price: int) -> int:
        handed = disclose(
            session,
            workspace_id=self.workspace_id,
            job_id=claimed.job_id,
            contact=self.contacts[person],
            field_request=FIELD_REQUEST,
            price=price,
            now=self.now,
        )
        assert handed is not None
        return handed.charge

    def _result(self, person: str) -> dict[str, Any]:
        emails = [{"email": f"{person}@{domain}"} for domain in DOMAINS]
        return {"contact_id": self.contacts[person].id, "emails": emails}

    def _close(self, job_id: str, status: str, outcome: str | None = None) -> None:
        """End a job: spend its charge and release the rest of its hold."""
        job = self.known[job_id]
        assert job.is_open
        job.status, job.outcome, job.token, job.finished_at = status, outcome, None, self.now
        self.held -= job.held
        self.spent += job.charged
        self.available += job.held - job.charged

    def _how_lost(self, job: Known) -> str | None:
        if not job.is_open:
            return None
        if job.deadline_at <= self.now and (job.status == "queued" or self._is_abandoned(job)):
            return "expired"
        return "failed" if self._is_abandoned(job) and job.crashes >= MAX_CRASHES - 1 else None

    def _may_be_sent(self, job: Known) -> bool:
        return (job.status == "queued" and job.run_after <= self.now) or self._is_abandoned(job)

    def _is_abandoned(self, job: Known) -> bool:
        return job.status == "running" and job.lease_until < self.now

    def _tick(self) -> None:
        """Advance the time so that no two operations happen at the same moment."""
        self.now += TICK


def _row(job: Job) -> tuple[Any, ...]:
    ended = (job.outcome, job.charged, job.finished_at)
    return (job.status, *ended, job.held, job.attempts, job.crashes, job.lease_token)


def _reveal(reveal: Reveal) -> tuple[str, str, int, bool]:
    return reveal.contact_id, reveal.job_id, reveal.credits, reveal.refunded_at is not None


@pytest.mark.parametrize("examples", [FEW_EXAMPLES, pytest.param(EXAMPLES, marks=pytest.mark.release)])
def test_jobs_behave_like_the_model(database: Database, examples: int) -> None:
    run_state_machine_as_test(
        lambda: JobsModel(database),
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )
