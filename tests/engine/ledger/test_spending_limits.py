from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from audit_support import faults
from jobs_support import NOW, a_question, a_workspace, at_once, claim, figures, submit
from sqlalchemy import select

from app.domain.callers import Scope
from app.domain.errors import InsufficientCredits, NotFound, SpendingLimitReached
from app.domain.kinds import Kind, Outcome
from app.domain.spending import LimitUsage, Period
from app.engine.accounts import accounts, api_keys
from app.engine.accounts.workspaces import Workspace
from app.engine.events import events
from app.engine.jobs import jobs, leases, sweeper
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.ledger import credits, key_limits, limit_settings, spending_limits
from app.engine.ledger.spending_limits import SpendingCounter
from app.infra.database.db import Database
from app.infra.database.session import Session

DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)
LAST_SECOND = DECEMBER - timedelta(seconds=1)
CALLERS, CALLS = 10, 100
"""Threads and calls of each: fewer threads than a process has connections, or they would wait for those."""


class Spender:
    """An account with a key, and the limits that a test sets on them."""

    def __init__(self, session: Session, grant: int = 100) -> None:
        self.workspace_id = a_workspace(session, grant=grant)
        account = accounts.create(
            session, self.workspace_id, email="ada@acme.com", name="Ada", password_hash="", now=NOW
        )
        key, _ = api_keys.create(session, account.id, name="script", scopes=Scope, expires_at=None, now=NOW)
        self.account_id, self.key_id = account.id, key.id

    def limit(self, session: Session, subject_id: str, period: Period, amount: int | None) -> None:
        subject = limit_settings.subject(session, self.workspace_id, subject_id)
        limit_settings.put(session, self.workspace_id, subject, period, amount, now=NOW)

    def submit(
        self, session: Session, about: str, *, by_key: bool = True, now: datetime = NOW, **changes: object
    ) -> Job:
        key_id = self.key_id if by_key else None
        values = {"account_id": self.account_id, "key_id": key_id, **changes}
        return submit(session, a_question(self.workspace_id, about, **values), now=now).job

    def usage(self, session: Session, subject_id: str, now: datetime = NOW) -> LimitUsage:
        [limit] = limit_settings.in_force(session, self.workspace_id, now=now, subject_ids=[subject_id])
        return limit.usage


@pytest.fixture
def spender(session: Session) -> Spender:
    return Spender(session)


def used(usage: LimitUsage) -> tuple[int, int, int]:
    return usage.held, usage.spent, usage.left


def test_a_cap_refuses_the_first_credit_beyond_it_and_names_itself(
    session: Session, spender: Spender
) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 2)
    spender.submit(session, "one")
    spender.submit(session, "two")

    with pytest.raises(SpendingLimitReached) as refusal:
        spender.submit(session, "three")

    assert refusal.value.extra == {
        "required": 1,
        "balance": 98,
        "limit": {
            "subject": "key",
            "id": spender.key_id,
            "period": "total",
            "credits": 2,
            "held": 2,
            "spent": 0,
            "left": 0,
            "resets_at": None,
        },
    }
    assert (
        "spending cap of this API key is 2, of which 0 are spent and 2 are reserved" in refusal.value.detail
    )


def test_a_refused_request_stores_nothing(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 0)

    with pytest.raises(SpendingLimitReached), session.begin_nested():
        spender.submit(session, "one")

    assert figures(session, spender.workspace_id) == (100, 0, 0)
    assert used(spender.usage(session, spender.key_id)) == (0, 0, 0)


def test_what_a_limit_refuses_under_the_key_is_allowed_with_a_session(
    session: Session, spender: Spender
) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 0)

    job = spender.submit(session, "one", by_key=False)

    assert job.held == 1


def test_the_limit_of_an_account_counts_its_keys_and_its_sessions(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.account_id, Period.MONTH, 2)
    spender.submit(session, "one", by_key=True)
    spender.submit(session, "two", by_key=False)

    with pytest.raises(SpendingLimitReached) as refusal:
        spender.submit(session, "three", by_key=False)

    assert "monthly limit of this account is 2" in refusal.value.detail
    assert "It resets on 1 December 2026." in refusal.value.detail


def test_the_smaller_of_two_limits_decides(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.account_id, Period.MONTH, 5)
    spender.limit(session, spender.key_id, Period.MONTH, 9)
    spender.limit(session, spender.key_id, Period.TOTAL, 1)
    spender.submit(session, "one")

    with pytest.raises(SpendingLimitReached) as refusal:
        spender.submit(session, "two")

    assert refusal.value.extra["limit"]["period"] == "total"
    assert used(spender.usage(session, spender.account_id)) == (1, 0, 4)


@pytest.mark.parametrize(("charge", "after"), [(3, (0, 3, 0)), (1, (0, 1, 2)), (0, (0, 0, 3))])
def test_a_settled_job_spends_its_charge_and_gives_the_rest_back(
    session: Session, spender: Spender, charge: int, after: tuple[int, int, int]
) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 3)
    job = spender.submit(session, "one", price=3)

    leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND, charge=charge), now=NOW)

    assert used(spender.usage(session, spender.key_id)) == after


def test_a_canceled_job_gives_its_hold_back(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 1)
    job = spender.submit(session, "one")

    sweeper.cancel(session, job.id, now=NOW)

    assert spender.submit(session, "two").held == 1


def test_a_refund_comes_back(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 1)
    job = spender.submit(session, "one")
    leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND, charge=1), now=NOW)

    credits.refund(session, spender.workspace_id, job.id, 1, reason="bounced", now=NOW)

    assert used(spender.usage(session, spender.key_id)) == (0, 0, 1)


def test_a_joined_job_and_a_fresh_result_are_free_at_the_limit(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 1)
    job = spender.submit(session, "one")
    joined = spender.submit(session, "one")
    leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND, charge=1), now=NOW)

    reused = spender.submit(session, "one")

    assert {joined.id, reused.id} == {job.id}


def test_a_month_begins_with_the_whole_limit(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.account_id, Period.MONTH, 1)
    spender.submit(session, "one", now=LAST_SECOND)

    spender.submit(session, "two", now=DECEMBER)

    assert used(spender.usage(session, spender.account_id, LAST_SECOND)) == (1, 0, 0)
    assert used(spender.usage(session, spender.account_id, DECEMBER)) == (1, 0, 0)
    assert spender.usage(session, spender.account_id, DECEMBER).resets_at == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_job_that_ends_in_the_next_month_counts_in_the_month_of_its_creation(
    session: Session, spender: Spender
) -> None:
    spender.limit(session, spender.account_id, Period.MONTH, 5)
    job = spender.submit(session, "one", price=3, now=LAST_SECOND)
    claimed = claim(session, job.id, now=DECEMBER)

    leases.settle(session, claimed, JobResult(outcome=Outcome.FOUND, charge=2), now=DECEMBER)

    assert used(spender.usage(session, spender.account_id, LAST_SECOND)) == (0, 2, 3)
    assert used(spender.usage(session, spender.account_id, DECEMBER)) == (0, 0, 5)
    assert faults(session) == []


def test_a_new_limit_counts_what_was_held_and_spent_before(session: Session, spender: Spender) -> None:
    spent = spender.submit(session, "one")
    leases.settle(session, claim(session, spent.id), JobResult(outcome=Outcome.FOUND, charge=1), now=NOW)
    open_job = spender.submit(session, "two")

    spender.limit(session, spender.key_id, Period.TOTAL, 5)

    assert used(spender.usage(session, spender.key_id)) == (1, 1, 3)
    leases.settle(session, claim(session, open_job.id), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)
    assert used(spender.usage(session, spender.key_id)) == (0, 1, 4)


def test_a_lowered_limit_keeps_its_counter_and_a_raised_one_allows_more(
    session: Session, spender: Spender
) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 3)
    spender.submit(session, "one", price=2)
    spender.limit(session, spender.key_id, Period.TOTAL, 1)

    assert used(spender.usage(session, spender.key_id)) == (2, 0, 0)
    spender.limit(session, spender.key_id, Period.TOTAL, 4)
    assert used(spender.usage(session, spender.key_id)) == (2, 0, 2)


def test_a_removed_limit_no_longer_counts(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 0)

    spender.limit(session, spender.key_id, Period.TOTAL, None)

    assert spender.submit(session, "one").held == 1
    assert session.scalars(select(SpendingCounter)).all() == []
    assert session.scalars(select(Workspace.is_limited)).all() == [False]


def test_an_enrichment_takes_what_the_limit_leaves_and_knows_why(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 3)
    enrichment = {"kind": Kind.ENRICHMENT_REQUEST, "items": ({}, {}), "allow_partial_hold": True}

    job = spender.submit(session, "list", price=5, **enrichment)

    stored = jobs.get(session, spender.workspace_id, job.id)
    assert stored.held == 3
    assert stored.request["limited_by"]["held"] == 3
    assert used(spender.usage(session, spender.key_id)) == (3, 0, 0)


def test_too_few_credits_are_reported_as_such_under_a_limit(session: Session) -> None:
    spender = Spender(session, grant=1)
    spender.limit(session, spender.key_id, Period.TOTAL, 50)

    with pytest.raises(InsufficientCredits) as refusal:
        spender.submit(session, "one", price=2)

    assert refusal.value.code == "insufficient_credits"


def spend(session: Session, spender: Spender, count: int, about: str = "person") -> None:
    for number in range(count):
        job = spender.submit(session, f"{about} {number}")
        leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND, charge=1), now=NOW)


def alerts(session: Session, spender: Spender) -> list[tuple[str, int, int]]:
    """Return the type, level and spent credits of the recorded events, oldest first."""
    latest = reversed(events.latest(session, spender.workspace_id, limit=10))
    return [(event.type, event.data["percent"], event.data["limit"]["spent"]) for event in latest]


def test_each_level_of_a_limit_is_reported_once(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 10)

    spend(session, spender, 7)
    before = alerts(session, spender)
    spend(session, spender, 3, "others")

    assert before == []
    assert alerts(session, spender) == [("credits.limit_warning", 80, 8), ("credits.limit_reached", 100, 10)]


def test_a_refund_does_not_report_a_level_again(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 5)
    spend(session, spender, 4)
    refunded = session.scalars(select(Job)).first()
    assert refunded is not None
    credits.refund(session, spender.workspace_id, refunded.id, 1, reason="bounced", now=NOW)

    spend(session, spender, 1, "others")

    assert alerts(session, spender) == [("credits.limit_warning", 80, 4)]


def test_a_limit_that_is_set_below_what_is_spent_is_reported(session: Session, spender: Spender) -> None:
    spend(session, spender, 4)

    spender.limit(session, spender.key_id, Period.TOTAL, 4)
    spender.limit(session, spender.key_id, Period.TOTAL, 4)
    spender.limit(session, spender.key_id, Period.TOTAL, 5)

    assert sorted(alerts(session, spender)) == [
        ("credits.limit_reached", 100, 4),
        ("credits.limit_warning", 80, 4),
    ]


def test_counters_of_months_long_past_are_deleted(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.account_id, Period.MONTH, 5)
    spender.limit(session, spender.key_id, Period.TOTAL, 5)
    job = spender.submit(session, "one", now=NOW)
    spender.submit(session, "two", now=DECEMBER)

    spending_limits.purge_expired(session, now=DECEMBER + spending_limits.RETENTION + timedelta(days=1))

    months = session.scalars(select(SpendingCounter.starts_at).order_by(SpendingCounter.starts_at)).all()
    assert months == [datetime.fromtimestamp(0, UTC), DECEMBER]
    leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND, charge=1), now=NOW)
    assert used(spender.usage(session, spender.key_id)) == (1, 1, 3)
    assert faults(session) == []


def test_limits_of_other_workspaces_and_revoked_keys_do_not_exist(session: Session, spender: Spender) -> None:
    spender.limit(session, spender.key_id, Period.TOTAL, 1)
    other = a_workspace(session)

    with pytest.raises(NotFound):
        limit_settings.subject(session, other, spender.key_id)
    with pytest.raises(NotFound):
        limit_settings.subject(session, other, spender.account_id)
    api_keys.revoke(session, spender.account_id, spender.key_id, now=NOW)
    session.flush()

    assert limit_settings.in_force(session, spender.workspace_id, now=NOW) == []
    with pytest.raises(NotFound):
        limit_settings.subject(session, spender.workspace_id, spender.key_id)


@pytest.mark.slow
def test_a_cap_of_25_under_a_thousand_calls_at_once_spends_exactly_25(database: Database) -> None:
    with database.transaction() as session:
        spender = Spender(session, grant=2_000)
        spender.limit(session, spender.key_id, Period.TOTAL, 25)

    def ask(number: int) -> str:
        outcomes = []
        for turn in range(CALLS):
            try:
                with database.transaction() as session:
                    job = spender.submit(session, f"person {number} {turn}")
                    if turn % 2:
                        charge = JobResult(outcome=Outcome.FOUND, charge=1)
                        leases.settle(session, claim(session, job.id), charge, now=NOW)
                outcomes.append("accepted")
            except SpendingLimitReached:
                outcomes.append("refused")
        return ",".join(outcomes)

    outcomes = ",".join(at_once(CALLERS, ask)).split(",")

    assert (outcomes.count("accepted"), outcomes.count("refused")) == (25, 975)
    with database.reading() as session:
        usage = spender.usage(session, spender.key_id)
        _available, held, spent = figures(session, spender.workspace_id)
        assert (usage.held, usage.spent) == (held, spent)
        assert usage.used == 25
        assert faults(session) == []


@pytest.mark.slow
def test_a_limit_that_is_set_during_a_thousand_calls_misses_no_hold(database: Database) -> None:
    with database.transaction() as session:
        spender = Spender(session, grant=2_000)

    def ask(number: int) -> None:
        for turn in range(CALLS):
            if (number, turn) == (0, 5):
                with database.transaction() as session:
                    spender.limit(session, spender.key_id, Period.TOTAL, 985)  # at most 905 calls are over
            try:
                with database.transaction() as session:
                    spender.submit(session, f"person {number} {turn}")
            except SpendingLimitReached:
                continue

    at_once(CALLERS, ask)

    with database.reading() as session:
        assert spender.usage(session, spender.key_id).held == 985
        assert figures(session, spender.workspace_id) == (1_015, 985, 0)
        assert faults(session) == []


def test_keys_with_caps_are_created_while_the_limit_of_their_account_is_set(database: Database) -> None:
    """The first locks the account before the workspace; the second refers to the account after it."""
    with database.transaction() as session:
        spender = Spender(session)
        accounts.grant_api_access(session, spender.account_id)

    def create_key(number: int) -> None:
        with database.transaction() as session:
            accounts.require_api_access(session, spender.account_id)
            values = {"name": f"script {number}", "scopes": Scope, "expires_at": None}
            key_limits.create(
                session, spender.workspace_id, spender.account_id, spending_cap=5, now=NOW, **values
            )

    def set_limit(_number: int) -> None:
        with database.transaction() as session:
            spender.limit(session, spender.account_id, Period.MONTH, None)
            spender.limit(session, spender.account_id, Period.MONTH, 50)

    at_once(12, lambda number: [create_key, set_limit][number % 2](number))

    with database.reading() as session:
        limits = limit_settings.in_force(session, spender.workspace_id, now=NOW)
        assert sorted(limit.usage.credits for limit in limits) == [*[5] * 6, 50]


def test_a_limit_that_is_changed_in_a_month_without_spending_reports_nothing(session: Session) -> None:
    spender = Spender(session)
    spender.limit(session, spender.key_id, Period.MONTH, 5)
    subject = limit_settings.subject(session, spender.workspace_id, spender.key_id)
    later = NOW + timedelta(days=40)

    limit_settings.put(session, spender.workspace_id, subject, Period.MONTH, 9, now=later)

    assert spender.usage(session, spender.key_id, now=later).credits == 9
