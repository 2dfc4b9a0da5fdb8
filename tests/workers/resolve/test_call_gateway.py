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
from sqlalchemy.orm import Session

from app.core.jobs import leases, provider_calls
from app.core.jobs.leases import Claim, JobResult, LeaseLost
from app.core.jobs.provider_calls import ProviderCall
from app.core.providers import provider_throttles
from app.domain.errors import Unavailable
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import Outcome, TraceOutcome
from app.domain.providers.rates import parse_rates
from app.domain.records.subjects import Subject
from app.infra import clock
from app.infra.db import Database
from app.settings import Settings
from workers.execution.job_runner import WorkerServices
from workers.providers.base import FREE, Pending, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.resolve.call_gateway import DatabaseCallGateway
from workers.resolve.waterfall import CallRefused, CallResult, StartedCall

ASK = ProviderRequest(
    field=ProviderField.EMAIL,
    subject=Subject(full_name="Ada Lovelace", company_domain="acme.com"),
    types=("work",),
)
PAID = Terms(prices={ProviderField.EMAIL: 2.0, ProviderField.PHONE: 10.0}, miss_days=30)
MISS = ProviderResponse(outcome=TraceOutcome.MISS)


@dataclasses.dataclass
class Named:
    """A provider with only the attributes that the gateway reads."""

    name: str = "hunter"
    terms: Terms = PAID


@dataclasses.dataclass
class Office:
    """One running job, with call gateways for it or for another job."""

    database: Database
    services: WorkerServices
    workspace_id: str
    claim: Claim

    def desk(self, item: int | None = None) -> DatabaseCallGateway:
        return DatabaseCallGateway(self.services, self.claim, item)

    def other_job(self, **settings: Any) -> Office:
        with self.database.transaction() as session:
            services = dataclasses.replace(
                self.services, settings=dataclasses.replace(self.services.settings, **settings)
            )
            return Office(self.database, services, self.workspace_id, claimed_now(session, self.workspace_id))

    def at_its_next_try(self) -> Office:
        claimed = dataclasses.replace(self.claim, attempts=self.claim.attempts + 1)
        return dataclasses.replace(self, claim=claimed)

    def calls(self) -> list[ProviderCall]:
        with self.database.reading() as session:
            return list(session.query(ProviderCall).order_by(ProviderCall.id))


def claimed_now(session: Session, workspace_id: str) -> Claim:
    """Return the claim on a new job."""
    now = clock.now()
    job = submit(session, a_question(workspace_id, f"somebody at {now}"), now=now).job
    return claim(session, job.id, now=now)


@pytest.fixture
def office(settings: Settings, database: Database) -> Office:
    services = WorkerServices(settings, database, None, None)  # type: ignore[arg-type]
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=100)
        claimed = claimed_now(session, workspace_id)
    return Office(database, services, workspace_id, claimed)


def about(number: int) -> ProviderRequest:
    """Return a request about another person."""
    return dataclasses.replace(ASK, subject=Subject(full_name=f"Ada {number}", company_domain="acme.com"))


def begin(office: Office, provider: Named | None = None, ask: ProviderRequest = ASK, **more: Any) -> Any:
    return office.desk(**more).begin(provider or Named(), ask)  # type: ignore[arg-type]


def end(
    office: Office, started: StartedCall, reply: ProviderResponse, provider: Named | None = None, **more: Any
) -> CallResult:
    return office.desk(**more).end(provider or Named(), started, reply, 12)  # type: ignore[arg-type]


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


def test_a_call_is_written_down_before_it_is_made(office: Office) -> None:
    begun = begin(office)

    (call,) = office.calls()
    assert begun.request is ASK
    assert (call.id, call.provider, call.outcome, call.cost) == (begun.call_id, "hunter", "started", 2.0)


def test_what_was_said_is_kept_and_given_to_the_job_when_it_runs_again(office: Office) -> None:
    told = end(office, begin(office), hit())

    again = begin(office)

    (call,) = office.calls()
    assert (call.outcome, call.status, call.cost, call.latency_ms) == ("hit", "valid", 1.0, 12)
    assert isinstance(again, CallResult)
    assert (again.reply, again.milliseconds, again.call_id) == (told.reply, 12, call.id)


@pytest.mark.parametrize("hours", [-1, 1])
def test_an_answer_has_the_time_of_the_database_however_wrong_the_workers_clock_is(
    office: Office, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + timedelta(hours=hours))
    last_year = clock.now() - timedelta(days=365)
    said = hit()
    source = dataclasses.replace(said.emails[0].source, at=last_year)
    dated = dataclasses.replace(said.emails[0], source=source)

    told = end(office, begin(office), dataclasses.replace(said, emails=(*said.emails, dated)))

    stamped, by_vendor = told.reply.emails
    assert stamped.verified_at is not None
    assert abs(stamped.verified_at - datetime.now(UTC)) < timedelta(seconds=10)
    assert stamped.source.at == stamped.verified_at
    assert by_vendor.source.at == last_year


def test_a_call_that_a_killed_worker_left_is_made_again_and_counts_twice(office: Office) -> None:
    begin(office)

    again = begin(office)

    assert isinstance(again, StartedCall)
    assert [call.outcome for call in office.calls()] == ["started", "started"]


def test_whoever_lost_the_job_may_not_pay_for_it(office: Office, database: Database) -> None:
    with database.transaction() as session:
        leases.settle(session, office.claim, JobResult(outcome=Outcome.NOT_FOUND), now=clock.now())

    with pytest.raises(LeaseLost):
        begin(office)

    assert office.calls() == []


def test_a_call_holds_the_job_longer(office: Office, database: Database) -> None:
    begin(office)

    with database.reading() as session:
        until = session.execute(
            select(leases.Job.lease_until).where(leases.Job.id == office.claim.job_id)
        ).scalar_one()
    assert until is not None
    assert until > clock.now() + timedelta(seconds=15)


def test_a_miss_is_not_paid_for_again_by_another_job(office: Office) -> None:
    end(office, begin(office), MISS)

    assert begin(office.other_job()) == CallRefused(TraceOutcome.KNOWN_MISS)
    assert isinstance(begin(office.other_job(), Named("prospeo")), StartedCall)


@pytest.mark.parametrize("max_age", [None, timedelta(days=365)], ids=["any age", "a year at most"])
def test_a_miss_that_is_too_old_is_asked_again(office: Office, max_age: timedelta | None) -> None:
    end(office, begin(office), MISS)
    ask = dataclasses.replace(ASK, max_age=max_age)

    begun = begin(office.other_job(), Named(terms=dataclasses.replace(PAID, miss_days=0)), ask)

    assert isinstance(begun, StartedCall)


def test_who_wants_nothing_older_is_not_told_of_an_older_miss(office: Office) -> None:
    end(office, begin(office), MISS)

    begun = begin(office.other_job(), ask=dataclasses.replace(ASK, max_age=timedelta(0)))

    assert isinstance(begun, StartedCall)


def test_a_verifiers_silence_is_not_remembered(office: Office) -> None:
    question = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))
    end(office, begin(office, ask=question), MISS)

    assert isinstance(begin(office.other_job(), ask=question), StartedCall)


def test_beyond_the_days_budget_nobody_is_asked(office: Office) -> None:
    terms = dataclasses.replace(PAID, daily_budget=3.0)
    end(office, begin(office, Named(terms=terms)), hit(), Named(terms=terms))

    first = begin(office.other_job(), Named(terms=terms), about(1))
    second = begin(office.other_job(), Named(terms=terms), about(2))

    assert isinstance(first, StartedCall)
    assert second.outcome is TraceOutcome.COST_CEILING
    assert 0 < second.retry_after <= 86400


@pytest.mark.parametrize(
    ("ceiling", "credit_price", "asked"), [(3.0, 1.0, True), (2.5, 1.0, False), (2.5, 0.5, True)]
)
def test_a_reveal_costs_no_more_than_its_ceiling(
    office: Office, ceiling: float, credit_price: float, *, asked: bool
) -> None:
    job = office.other_job(cost_ceiling_email=ceiling)
    end(job, begin(job), hit())
    second = Named("prospeo", dataclasses.replace(PAID, credit_price=credit_price))

    begun = begin(job, second)

    assert isinstance(begun, StartedCall) is asked
    assert asked or begun == CallRefused(TraceOutcome.COST_CEILING)


def test_a_ceiling_is_for_one_item_and_one_field(office: Office) -> None:
    job = office.other_job(cost_ceiling_email=2.0)
    end(job, begin(job, item=0), hit(), item=0)
    phone = dataclasses.replace(ASK, field=ProviderField.PHONE)

    assert begin(job, Named("prospeo"), item=0) == CallRefused(TraceOutcome.COST_CEILING)
    assert isinstance(begin(job, Named("prospeo"), item=1), StartedCall)
    assert isinstance(begin(job, Named("prospeo"), phone, item=0), StartedCall)


def test_beyond_its_rate_a_provider_is_not_asked_and_nothing_is_written_down(office: Office) -> None:
    slow = Named(terms=dataclasses.replace(PAID, rates=parse_rates("1/hour")))
    begin(office, slow)

    begun = begin(office.other_job(), slow, about(1))

    assert begun.outcome is TraceOutcome.RATE_LIMITED
    assert begun.retry_after == pytest.approx(3600, abs=30)
    assert len(office.calls()) == 1


def test_failures_open_the_circuit_for_everybody(office: Office) -> None:
    for number in range(5):
        end(office, begin(office, ask=about(number)), ProviderResponse(outcome=TraceOutcome.ERROR))

    assert begin(office.other_job()).outcome is TraceOutcome.CIRCUIT_OPEN


def test_a_failure_stands_for_the_rest_of_the_try_and_no_longer(office: Office, database: Database) -> None:
    end(office, begin(office), ProviderResponse(outcome=TraceOutcome.TIMEOUT))

    same, next_try = begin(office), begin(office.at_its_next_try())

    assert (same.reply.outcome, type(next_try)) == (TraceOutcome.TIMEOUT, StartedCall)


def test_a_question_that_nobody_heard_the_answer_to_may_have_cost_its_price(office: Office) -> None:
    begun = begin(office)

    end(office, begun, ProviderResponse(outcome=TraceOutcome.TIMEOUT))

    assert [call.cost for call in office.calls()] == [2.0]


def test_what_is_on_order_is_waited_for_although_its_turn_has_not_come(office: Office) -> None:
    slow = Named(terms=dataclasses.replace(PAID, rates=parse_rates("1/hour")))
    office.desk().wait(slow, begin(office, slow), Pending("t-1", 30.0))  # type: ignore[arg-type]

    again = begin(office, slow)

    assert isinstance(again, Pending)
    assert (again.poll_token, again.after) == ("t-1", pytest.approx(3600, abs=30))


def test_polls_that_fail_open_the_circuit(office: Office) -> None:
    for number in range(5):
        begun = begin(office, ask=about(number))
        office.desk().wait(Named(), begun, Pending("t", 30.0, TraceOutcome.TIMEOUT))  # type: ignore[arg-type]

    assert begin(office.other_job()).outcome is TraceOutcome.CIRCUIT_OPEN


@pytest.mark.parametrize("pending", [False, True])
def test_what_is_on_its_way_to_another_job_is_not_ordered_again(office: Office, *, pending: bool) -> None:
    begun = begin(office)
    if pending:
        office.desk().wait(Named(), begun, Pending("t-1", 30.0))  # type: ignore[arg-type]

    assert isinstance(begin(office.other_job()), Pending)
    assert isinstance(begin(office, item=3), Pending)
    assert isinstance(begin(office.other_job(), Named("prospeo")), StartedCall)
    assert len(office.calls()) == 2


def test_of_twelve_workers_one_spends_the_last_of_the_budget(office: Office) -> None:
    limited = Named(terms=dataclasses.replace(PAID, daily_budget=3.0))
    jobs = [office.other_job() for _ in range(12)]

    begun = at_once(12, lambda number: begin(jobs[number], limited, about(number)))

    assert sum(isinstance(one, StartedCall) for one in begun) == 1


def test_verifications_count_towards_the_ceiling_of_an_email_and_profiles_do_not(office: Office) -> None:
    job = office.other_job(cost_ceiling_email=2.0)
    terms = dataclasses.replace(PAID, prices=dict.fromkeys(ProviderField, 2.0))
    profile = dataclasses.replace(ASK, field=ProviderField.PERSON)
    end(
        job,
        begin(job, Named(terms=terms), profile),
        ProviderResponse(outcome=TraceOutcome.HIT, cost=2),
        Named(terms=terms),
    )

    email = begin(job, Named("prospeo", terms))
    end(job, email, ProviderResponse(outcome=TraceOutcome.HIT, cost=2), Named("prospeo", terms))
    question = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))

    assert isinstance(email, StartedCall)
    assert begin(job, Named("hunter", terms), question) == CallRefused(TraceOutcome.COST_CEILING)


def test_verifications_count_towards_the_ceiling_of_an_email_that_is_asked_for_after_them(
    office: Office,
) -> None:
    job = office.other_job(cost_ceiling_email=2.0)
    verifier = Named("hunter", dataclasses.replace(PAID, prices={ProviderField.VERIFICATION: 1.0}))
    guess = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))
    end(job, begin(job, verifier, guess), ProviderResponse(outcome=TraceOutcome.MISS, cost=1), verifier)

    assert begin(job, Named("prospeo")) == CallRefused(TraceOutcome.COST_CEILING)


def test_a_worker_that_lost_the_job_leaves_no_values_behind(office: Office, database: Database) -> None:
    begun = begin(office)
    with database.transaction() as session:
        leases.settle(session, office.claim, JobResult(outcome=Outcome.NOT_FOUND), now=clock.now())

    end(office, begun, hit())

    assert [(call.outcome, call.reply) for call in office.calls()] == [("hit", None)]


def test_an_answer_is_written_down_though_the_database_is_busy_for_a_moment(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(office)
    busy = iter([True, True, False])
    real = provider_calls.record_reply

    def answer(*words: Any, **more: Any) -> None:
        if next(busy):
            raise Unavailable
        real(*words, **more)

    monkeypatch.setattr(provider_calls, "record_reply", answer)
    monkeypatch.setattr("workers.execution.job_runner.DATABASE_RETRY_DELAYS", (0.0, 0.0))

    end(office, begun, hit())

    assert [call.outcome for call in office.calls()] == ["hit"]


def test_a_ticket_is_kept_and_asked_about_in_the_same_call(office: Office) -> None:
    begun = begin(office)
    office.desk().wait(Named(), begun, Pending("t-1", 30.0))  # type: ignore[arg-type]

    again = begin(office)
    heard = end(office, again, hit())

    assert (again.request.poll_token, again.call_id, again.asked_at) == ("t-1", begun.call_id, begun.asked_at)
    assert [(call.outcome, call.id) for call in office.calls()] == [("hit", heard.call_id)]


def test_who_never_gets_ready_has_timed_out(office: Office) -> None:
    hasty = Named(terms=dataclasses.replace(PAID, poll_timeout=-1.0))

    heard = office.desk().wait(hasty, begin(office, hasty), Pending("t-1", 30.0))  # type: ignore[arg-type]

    assert heard is not None
    assert heard.reply.outcome is TraceOutcome.TIMEOUT
    assert [call.outcome for call in office.calls()] == ["timeout"]


def test_who_costs_nothing_is_asked_without_ado_and_kept_for_the_figures(office: Office) -> None:
    free = Named("pattern", FREE)

    begun = begin(office, free)
    before = office.calls()
    end(office, begun, MISS, free)

    assert (begun.call_id, before) == (None, [])
    assert [(call.provider, call.outcome) for call in office.calls()] == [("pattern", "miss")]
    assert isinstance(begin(office.other_job(), free), StartedCall)


def test_a_free_one_that_needs_time_gets_its_ticket_back(office: Office) -> None:
    free = Named("mx", FREE)
    office.desk().wait(free, begin(office, free), Pending("2", 300.0))  # type: ignore[arg-type]

    again = begin(office, free)

    assert (again.request.poll_token, [call.outcome for call in office.calls()]) == ("2", ["pending"])


def test_what_became_of_an_answer_is_kept(office: Office) -> None:
    heard = end(office, begin(office), hit())

    office.desk().record_verdict(heard, MISS)

    assert [(call.outcome, call.status) for call in office.calls()] == [("miss", None)]


def test_a_refusal_has_nothing_to_be_judged(office: Office) -> None:
    office.desk().record_verdict(CallResult(MISS, clock.now()), hit())

    assert office.calls() == []


def test_an_unknown_key_makes_a_provider_unhealthy(office: Office, session: Session) -> None:
    end(office, begin(office), ProviderResponse(outcome=TraceOutcome.UNCONFIGURED))

    assert provider_throttles.health(session) == {"hunter": False}


def test_no_row_names_anybody(office: Office, database: Database) -> None:
    end(office, begin(office), hit())

    with database.transaction() as session:
        provider_calls.purge_replies(session, office.claim.job_id)

    rows: list[Mapping[str, Any]] = [vars(call) for call in office.calls()]
    shown = repr([{k: v for k, v in row.items() if k != "subject"} for row in rows])
    assert not re.search(r"\bada\b", shown, re.IGNORECASE)
