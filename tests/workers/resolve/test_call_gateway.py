"""The provider call gateway with a real database: which calls it permits, and what it stores."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from jobs_support import a_question, a_workspace, at_once, claim, submit
from sqlalchemy import select

from app.domain.errors import Unavailable
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import Outcome, TraceOutcome
from app.domain.providers.rates import parse_rates
from app.domain.records.subjects import Subject
from app.engine.jobs import leases, provider_calls
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.providers import provider_throttles
from app.engine.work.turns import LeaseLost
from app.infra import clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.worker_services import WorkerServices
from workers.providers.base import FREE, Pending, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.resolve.call_gateway import DatabaseCallGateway
from workers.resolve.provider_call import CallRefused, CallResult, StartedCall

ASK = ProviderRequest(
    field=ProviderField.EMAIL,
    subject=Subject(full_name="Ada Lovelace", company_domain="acme.com"),
    types=("work",),
)
PAID = Terms(prices={ProviderField.EMAIL: 2.0, ProviderField.PHONE: 10.0}, miss_days=30)
MISS = ProviderResponse(outcome=TraceOutcome.MISS)


@dataclasses.dataclass
class StubProvider:
    """A provider with only the attributes that the gateway reads."""

    name: str = "hunter"
    terms: Terms = PAID


@dataclasses.dataclass
class CallGatewayHarness:
    """One running job, with call gateways for it or for another job."""

    database: Database
    services: WorkerServices
    workspace_id: str
    claim: Claim

    def gateway(self, item: int | None = None) -> DatabaseCallGateway:
        return DatabaseCallGateway(self.services, self.claim, item)

    def other_job(self, **settings: Any) -> CallGatewayHarness:
        with self.database.transaction() as session:
            services = dataclasses.replace(
                self.services, settings=dataclasses.replace(self.services.settings, **settings)
            )
            return CallGatewayHarness(
                self.database, services, self.workspace_id, claim_new_job(session, self.workspace_id)
            )

    def next_attempt(self) -> CallGatewayHarness:
        claimed = dataclasses.replace(self.claim, attempts=self.claim.attempts + 1)
        return dataclasses.replace(self, claim=claimed)

    def calls(self) -> list[ProviderCall]:
        with self.database.reading() as session:
            return list(session.query(ProviderCall).order_by(ProviderCall.id))


def claim_new_job(session: Session, workspace_id: str) -> Claim:
    """Return the claim on a new job."""
    now = clock.now()
    job = submit(session, a_question(workspace_id, f"somebody at {now}"), now=now).job
    return claim(session, job.id, now=now)


@pytest.fixture
def harness(settings: Settings, database: Database) -> CallGatewayHarness:
    services = WorkerServices(settings, database, None, None)  # type: ignore[arg-type]
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=100)
        claimed = claim_new_job(session, workspace_id)
    return CallGatewayHarness(database, services, workspace_id, claimed)


def about(number: int) -> ProviderRequest:
    """Return a request about another person."""
    return dataclasses.replace(ASK, subject=Subject(full_name=f"Ada {number}", company_domain="acme.com"))


def begin(
    harness: CallGatewayHarness,
    provider: StubProvider | None = None,
    request: ProviderRequest = ASK,
    **more: Any,
) -> Any:
    return harness.gateway(**more).begin(provider or StubProvider(), request)  # type: ignore[arg-type]


def end(
    harness: CallGatewayHarness,
    started: StartedCall,
    reply: ProviderResponse,
    provider: StubProvider | None = None,
    **more: Any,
) -> CallResult:
    return harness.gateway(**more).end(provider or StubProvider(), started, reply, 12)  # type: ignore[arg-type]


def hit() -> ProviderResponse:
    now = clock.now()
    found = FoundEmail(
        email="ada@acme.com",
        type="work",
        status=EmailStatus.VALID,
        source=Source("hunter", SourceKind.PROVIDER, now),
        verified_at=now,
    )
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(found,), cost=1)


def test_a_call_is_stored_before_it_is_made(harness: CallGatewayHarness) -> None:
    started = begin(harness)

    (call,) = harness.calls()
    assert started.request is ASK
    assert (call.id, call.provider, call.outcome, call.cost) == (started.call_id, "hunter", "started", 2.0)


def test_a_stored_response_is_returned_when_the_job_runs_again(harness: CallGatewayHarness) -> None:
    stored = end(harness, begin(harness), hit())

    again = begin(harness)

    (call,) = harness.calls()
    assert (call.outcome, call.status, call.cost, call.latency_ms) == ("hit", "valid", 1.0, 12)
    assert isinstance(again, CallResult)
    assert (again.reply, again.milliseconds, again.call_id) == (stored.reply, 12, call.id)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_response_has_the_time_of_the_database_even_if_the_workers_clock_is_wrong(
    harness: CallGatewayHarness, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + timedelta(hours=hours))
    last_year = clock.now() - timedelta(days=365)
    reply = hit()
    source = dataclasses.replace(reply.emails[0].source, at=last_year)
    dated = dataclasses.replace(reply.emails[0], source=source)

    stored = end(harness, begin(harness), dataclasses.replace(reply, emails=(*reply.emails, dated)))

    stamped, by_vendor = stored.reply.emails
    assert stamped.verified_at is not None
    assert abs(stamped.verified_at - datetime.now(UTC)) < timedelta(seconds=10)
    assert stamped.source.at == stamped.verified_at
    assert by_vendor.source.at == last_year


def test_a_call_interrupted_by_a_kill_is_repeated_and_counted_twice(harness: CallGatewayHarness) -> None:
    begin(harness)

    again = begin(harness)

    assert isinstance(again, StartedCall)
    assert [call.outcome for call in harness.calls()] == ["started", "started"]


def test_a_worker_that_lost_the_lease_may_not_call_a_provider(
    harness: CallGatewayHarness, database: Database
) -> None:
    with database.transaction() as session:
        leases.settle(session, harness.claim, JobResult(outcome=Outcome.NOT_FOUND), now=clock.now())

    with pytest.raises(LeaseLost):
        begin(harness)

    assert harness.calls() == []


def test_a_call_renews_the_lease(harness: CallGatewayHarness, database: Database) -> None:
    begin(harness)

    with database.reading() as session:
        lease_until = session.execute(
            select(leases.Job.lease_until).where(leases.Job.id == harness.claim.job_id)
        ).scalar_one()
    assert lease_until is not None
    assert lease_until > clock.now() + timedelta(seconds=15)


def test_another_job_does_not_repeat_a_paid_miss(harness: CallGatewayHarness) -> None:
    end(harness, begin(harness), MISS)

    assert begin(harness.other_job()) == CallRefused(TraceOutcome.KNOWN_MISS)
    assert isinstance(begin(harness.other_job(), StubProvider("prospeo")), StartedCall)


@pytest.mark.parametrize("max_age", [None, timedelta(days=365)], ids=["any age", "a year at most"])
def test_an_expired_miss_is_requested_again(harness: CallGatewayHarness, max_age: timedelta | None) -> None:
    end(harness, begin(harness), MISS)
    request = dataclasses.replace(ASK, max_age=max_age)

    started = begin(harness.other_job(), StubProvider(terms=dataclasses.replace(PAID, miss_days=0)), request)

    assert isinstance(started, StartedCall)


def test_a_miss_older_than_the_requested_age_is_ignored(harness: CallGatewayHarness) -> None:
    end(harness, begin(harness), MISS)

    started = begin(harness.other_job(), request=dataclasses.replace(ASK, max_age=timedelta(0)))

    assert isinstance(started, StartedCall)


def test_a_miss_of_a_verifier_is_not_cached(harness: CallGatewayHarness) -> None:
    question = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))
    end(harness, begin(harness, request=question), MISS)

    assert isinstance(begin(harness.other_job(), request=question), StartedCall)


def test_a_provider_is_not_called_beyond_its_daily_budget(harness: CallGatewayHarness) -> None:
    terms = dataclasses.replace(PAID, daily_budget=3.0)
    end(harness, begin(harness, StubProvider(terms=terms)), hit(), StubProvider(terms=terms))

    first = begin(harness.other_job(), StubProvider(terms=terms), about(1))
    second = begin(harness.other_job(), StubProvider(terms=terms), about(2))

    assert isinstance(first, StartedCall)
    assert second.outcome is TraceOutcome.COST_CEILING
    assert 0 < second.retry_after <= 86400


@pytest.mark.parametrize(
    ("ceiling", "credit_price", "asked"), [(3.0, 1.0, True), (2.5, 1.0, False), (2.5, 0.5, True)]
)
def test_a_reveal_costs_at_most_its_ceiling(
    harness: CallGatewayHarness, ceiling: float, credit_price: float, *, asked: bool
) -> None:
    job = harness.other_job(cost_ceiling_email=ceiling)
    end(job, begin(job), hit())
    second = StubProvider("prospeo", dataclasses.replace(PAID, credit_price=credit_price))

    started = begin(job, second)

    assert isinstance(started, StartedCall) is asked
    assert asked or started == CallRefused(TraceOutcome.COST_CEILING)


def test_a_cost_ceiling_applies_per_item_and_field(harness: CallGatewayHarness) -> None:
    job = harness.other_job(cost_ceiling_email=2.0)
    end(job, begin(job, item=0), hit(), item=0)
    phone = dataclasses.replace(ASK, field=ProviderField.PHONE)

    assert begin(job, StubProvider("prospeo"), item=0) == CallRefused(TraceOutcome.COST_CEILING)
    assert isinstance(begin(job, StubProvider("prospeo"), item=1), StartedCall)
    assert isinstance(begin(job, StubProvider("prospeo"), phone, item=0), StartedCall)


def test_a_rate_limited_call_is_neither_made_nor_stored(
    harness: CallGatewayHarness,
) -> None:
    slow = StubProvider(terms=dataclasses.replace(PAID, rates=parse_rates("1/hour")))
    begin(harness, slow)

    started = begin(harness.other_job(), slow, about(1))

    assert started.outcome is TraceOutcome.RATE_LIMITED
    assert started.retry_after == pytest.approx(3600, abs=30)
    assert len(harness.calls()) == 1


def test_failures_open_the_circuit_for_all_jobs(harness: CallGatewayHarness) -> None:
    for number in range(5):
        end(harness, begin(harness, request=about(number)), ProviderResponse(outcome=TraceOutcome.ERROR))

    assert begin(harness.other_job()).outcome is TraceOutcome.CIRCUIT_OPEN


def test_a_failure_is_reused_within_the_same_attempt_only(
    harness: CallGatewayHarness, database: Database
) -> None:
    end(harness, begin(harness), ProviderResponse(outcome=TraceOutcome.TIMEOUT))

    same, next_try = begin(harness), begin(harness.next_attempt())

    assert (same.reply.outcome, type(next_try)) == (TraceOutcome.TIMEOUT, StartedCall)


def test_a_call_that_timed_out_is_counted_at_its_full_price(
    harness: CallGatewayHarness,
) -> None:
    started = begin(harness)

    end(harness, started, ProviderResponse(outcome=TraceOutcome.TIMEOUT))

    assert [call.cost for call in harness.calls()] == [2.0]


def test_a_pending_call_stays_pending_while_its_poll_is_rate_limited(harness: CallGatewayHarness) -> None:
    slow = StubProvider(terms=dataclasses.replace(PAID, rates=parse_rates("1/hour")))
    harness.gateway().wait(slow, begin(harness, slow), Pending("t-1", 30.0))  # type: ignore[arg-type]

    again = begin(harness, slow)

    assert isinstance(again, Pending)
    assert (again.poll_token, again.after) == ("t-1", pytest.approx(3600, abs=30))


def test_failed_polls_open_the_circuit(harness: CallGatewayHarness) -> None:
    for number in range(5):
        started = begin(harness, request=about(number))
        harness.gateway().wait(StubProvider(), started, Pending("t", 30.0, TraceOutcome.TIMEOUT))  # type: ignore[arg-type]

    assert begin(harness.other_job()).outcome is TraceOutcome.CIRCUIT_OPEN


@pytest.mark.parametrize("pending", [False, True])
def test_a_request_pending_for_another_job_is_not_sent_again(
    harness: CallGatewayHarness, *, pending: bool
) -> None:
    started = begin(harness)
    if pending:
        harness.gateway().wait(StubProvider(), started, Pending("t-1", 30.0))  # type: ignore[arg-type]

    assert isinstance(begin(harness.other_job()), Pending)
    assert isinstance(begin(harness, item=3), Pending)
    assert isinstance(begin(harness.other_job(), StubProvider("prospeo")), StartedCall)
    assert len(harness.calls()) == 2


def test_only_one_of_twelve_workers_spends_the_last_of_the_budget(harness: CallGatewayHarness) -> None:
    limited = StubProvider(terms=dataclasses.replace(PAID, daily_budget=3.0))
    jobs = [harness.other_job() for _ in range(12)]

    started = at_once(12, lambda number: begin(jobs[number], limited, about(number)))

    assert sum(isinstance(call, StartedCall) for call in started) == 1


def test_verifications_count_towards_the_ceiling_of_an_email_and_profiles_do_not(
    harness: CallGatewayHarness,
) -> None:
    job = harness.other_job(cost_ceiling_email=2.0)
    terms = dataclasses.replace(PAID, prices=dict.fromkeys(ProviderField, 2.0))
    profile = dataclasses.replace(ASK, field=ProviderField.PERSON)
    end(
        job,
        begin(job, StubProvider(terms=terms), profile),
        ProviderResponse(outcome=TraceOutcome.HIT, cost=2),
        StubProvider(terms=terms),
    )

    email = begin(job, StubProvider("prospeo", terms))
    end(job, email, ProviderResponse(outcome=TraceOutcome.HIT, cost=2), StubProvider("prospeo", terms))
    question = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))

    assert isinstance(email, StartedCall)
    assert begin(job, StubProvider("hunter", terms), question) == CallRefused(TraceOutcome.COST_CEILING)


def test_earlier_verifications_count_towards_the_ceiling_of_an_email(
    harness: CallGatewayHarness,
) -> None:
    job = harness.other_job(cost_ceiling_email=2.0)
    verifier = StubProvider("hunter", dataclasses.replace(PAID, prices={ProviderField.VERIFICATION: 1.0}))
    guess = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))
    end(job, begin(job, verifier, guess), ProviderResponse(outcome=TraceOutcome.MISS, cost=1), verifier)

    assert begin(job, StubProvider("prospeo")) == CallRefused(TraceOutcome.COST_CEILING)


def test_a_worker_that_lost_the_lease_stores_no_values(
    harness: CallGatewayHarness, database: Database
) -> None:
    started = begin(harness)
    with database.transaction() as session:
        leases.settle(session, harness.claim, JobResult(outcome=Outcome.NOT_FOUND), now=clock.now())

    end(harness, started, hit())

    assert [(call.outcome, call.reply) for call in harness.calls()] == [("hit", None)]


def test_a_response_is_stored_after_the_database_was_briefly_unavailable(
    harness: CallGatewayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = begin(harness)
    busy = iter([True, True, False])
    real = provider_calls.record_reply

    def answer(*words: Any, **more: Any) -> None:
        if next(busy):
            raise Unavailable
        real(*words, **more)

    monkeypatch.setattr(provider_calls, "record_reply", answer)
    monkeypatch.setattr("workers.execution.job_runner.DATABASE_RETRY_DELAYS", (0.0, 0.0))

    end(harness, started, hit())

    assert [call.outcome for call in harness.calls()] == ["hit"]


def test_a_poll_token_is_stored_and_polled_in_the_same_call(harness: CallGatewayHarness) -> None:
    started = begin(harness)
    harness.gateway().wait(StubProvider(), started, Pending("t-1", 30.0))  # type: ignore[arg-type]

    again = begin(harness)
    call_result = end(harness, again, hit())

    assert (again.request.poll_token, again.call_id, again.asked_at) == (
        "t-1",
        started.call_id,
        started.asked_at,
    )
    assert [(call.outcome, call.id) for call in harness.calls()] == [("hit", call_result.call_id)]


def test_a_result_that_is_never_ready_times_out(harness: CallGatewayHarness) -> None:
    hasty = StubProvider(terms=dataclasses.replace(PAID, poll_timeout=-1.0))

    call_result = harness.gateway().wait(hasty, begin(harness, hasty), Pending("t-1", 30.0))  # type: ignore[arg-type]

    assert call_result is not None
    assert call_result.reply.outcome is TraceOutcome.TIMEOUT
    assert [call.outcome for call in harness.calls()] == ["timeout"]


def test_a_free_call_needs_no_permit_and_is_stored_for_the_statistics(harness: CallGatewayHarness) -> None:
    free = StubProvider("pattern", FREE)

    started = begin(harness, free)
    before = harness.calls()
    end(harness, started, MISS, free)

    assert (started.call_id, before) == (None, [])
    assert [(call.provider, call.outcome) for call in harness.calls()] == [("pattern", "miss")]
    assert isinstance(begin(harness.other_job(), free), StartedCall)


def test_a_free_pending_call_resumes_with_its_poll_token(harness: CallGatewayHarness) -> None:
    free = StubProvider("mx", FREE)
    harness.gateway().wait(free, begin(harness, free), Pending("2", 300.0))  # type: ignore[arg-type]

    again = begin(harness, free)

    assert (again.request.poll_token, [call.outcome for call in harness.calls()]) == ("2", ["pending"])


def test_the_outcome_after_verification_is_stored(harness: CallGatewayHarness) -> None:
    call_result = end(harness, begin(harness), hit())

    harness.gateway().record_verdict(call_result, MISS)

    assert [(call.outcome, call.status) for call in harness.calls()] == [("miss", None)]


def test_a_refused_call_has_no_verdict_to_store(harness: CallGatewayHarness) -> None:
    harness.gateway().record_verdict(CallResult(MISS, clock.now()), hit())

    assert harness.calls() == []


def test_a_rejected_key_opens_the_circuit(harness: CallGatewayHarness, session: Session) -> None:
    end(harness, begin(harness), ProviderResponse(outcome=TraceOutcome.UNCONFIGURED))

    assert provider_throttles.health(session) == {"hunter": False}


def test_no_stored_call_contains_personal_data(harness: CallGatewayHarness, database: Database) -> None:
    end(harness, begin(harness), hit())

    with database.transaction() as session:
        provider_calls.purge_replies(session, harness.claim.job_id)

    rows: list[Mapping[str, Any]] = [vars(call) for call in harness.calls()]
    shown = repr([{k: v for k, v in row.items() if k != "subject"} for row in rows])
    assert not re.search(r"\bada\b", shown, re.IGNORECASE)
