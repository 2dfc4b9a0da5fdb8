from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from jobs_support import NOW, a_question, a_workspace, claim, submit
from sqlalchemy import func, select

from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.engine.jobs import leases, provider_calls
from app.engine.jobs.leases import JobResult
from app.engine.jobs.provider_calls import CallKey
from app.engine.ledger import credits
from app.engine.ledger.credits import LedgerEntry
from app.features.usage import usage
from app.features.usage.usage import Grouping, UsageScope
from app.infra.database.session import Session

YESTERDAY = NOW - timedelta(days=1)
EVER = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


@pytest.fixture
def workspace_id(session: Session) -> str:
    """A workspace with four jobs: three of a key (one found, one refunded, one missed), one of a session."""
    workspace_id, other = a_workspace(session, grant=100), a_workspace(session)
    by_key = {"account_id": "acc_1", "key_id": "key_1"}
    a_finished_job(session, workspace_id, "found", 3, now=YESTERDAY, **by_key)
    refunded = a_finished_job(session, workspace_id, "refunded", 2, now=NOW, **by_key)
    credits.refund(session, workspace_id, refunded, 2, reason="bounced", now=NOW)
    a_finished_job(session, workspace_id, "missed", 0, now=NOW, **by_key)
    a_finished_job(session, workspace_id, "phone", 5, now=NOW, account_id="acc_2", kind=Kind.REVEAL_PHONE)
    a_finished_job(session, other, "not ours", 1, now=NOW, **by_key)
    return workspace_id


def a_finished_job(
    session: Session, workspace_id: str, about: str, charge: int, *, now: datetime, **changes: object
) -> str:
    """Settle a job for this charge after a provider call; return its id."""
    price = max(charge, 1)
    job = submit(session, a_question(workspace_id, about, price=price, **changes), now=now).job
    claimed = claim(session, job.id, now=now)
    key = CallKey(
        job_id=job.id, item=None, field="email", provider="hunter", subject=about.encode(), country=None
    )
    call = provider_calls.start(session, key, cost=9, now=now)
    outcome, status = (TraceOutcome.HIT, "valid") if charge else (TraceOutcome.MISS, None)
    provider_calls.record_reply(
        session, call, outcome=outcome, status=status, cost=0.5, latency_ms=1, reply=None, now=now
    )
    result = JobResult(outcome=Outcome.FOUND if charge else Outcome.NOT_FOUND, charge=charge)
    leases.settle(session, claimed, result, now=now)
    return job.id


def rows(
    session: Session,
    workspace_id: str,
    by: Grouping,
    period: tuple[datetime, datetime] = EVER,
    account_id: str | None = None,
) -> dict[str | None, tuple[int | None, int, int, int, int, float]]:
    """Return credits, jobs, found, not found, provider calls and their cost by id."""
    starts_at, ends_at = period
    scope = UsageScope(workspace_id=workspace_id, starts_at=starts_at, ends_at=ends_at, account_id=account_id)
    by_id, totals = usage.report(session, scope, by)
    return {
        group: (
            row.credits,
            row.jobs,
            row.found,
            row.not_found,
            row.provider_calls,
            row.provider_cost,
        )
        for group, row in [*by_id.items(), ("total", totals)]
    }


TOTAL = (8, 4, 3, 1, 4, 2.0)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (Grouping.ACCOUNT, {"acc_1": (3, 3, 2, 1, 3, 1.5), "acc_2": (5, 1, 1, 0, 1, 0.5)}),
        (Grouping.KEY, {"key_1": (3, 3, 2, 1, 3, 1.5), None: (5, 1, 1, 0, 1, 0.5)}),
        (Grouping.KIND, {"reveal.email": (3, 3, 2, 1, 3, 1.5), "reveal.phone": (5, 1, 1, 0, 1, 0.5)}),
        (Grouping.PROVIDER, {"hunter": (None, 4, 3, 1, 4, 2.0)}),
        (Grouping.DAY, {"2026-11-19": (3, 1, 1, 0, 1, 0.5), "2026-11-20": (5, 3, 2, 1, 3, 1.5)}),
    ],
)
def test_usage_is_reported_by_each_grouping_with_the_same_total(
    session: Session, workspace_id: str, by: Grouping, expected: dict[str | None, object]
) -> None:
    assert rows(session, workspace_id, by) == expected | {"total": TOTAL}


@pytest.mark.parametrize("by", list(Grouping))
def test_the_usage_of_an_account_leaves_out_the_others(
    session: Session, workspace_id: str, by: Grouping
) -> None:
    assert rows(session, workspace_id, by, account_id="acc_1")["total"] == (3, 3, 2, 1, 3, 1.5)


def test_the_credits_of_a_period_are_those_of_the_ledger(session: Session, workspace_id: str) -> None:
    period = (NOW - timedelta(hours=1), NOW + timedelta(hours=1))

    reported = rows(session, workspace_id, Grouping.DAY, period)["total"][0]

    spent = session.scalar(
        select(func.sum(LedgerEntry.spent)).where(
            LedgerEntry.workspace_id == workspace_id, LedgerEntry.created_at.between(*period)
        )
    )
    assert reported == spent == 5


def test_the_end_of_a_period_is_exclusive_and_its_start_inclusive(
    session: Session, workspace_id: str
) -> None:
    until, since = (YESTERDAY, NOW), (NOW, EVER[1])

    assert rows(session, workspace_id, Grouping.KIND, until)["total"][:2] == (3, 1)
    assert rows(session, workspace_id, Grouping.KIND, since)["total"][:2] == (5, 3)


def test_calls_that_have_not_ended_do_not_count(session: Session, workspace_id: str) -> None:
    job = submit(session, a_question(workspace_id, "open", account_id="acc_1")).job
    key = CallKey(job_id=job.id, item=None, field="email", provider="apollo", subject=b"s", country=None)
    provider_calls.start(session, key, cost=9, now=NOW)

    assert "apollo" not in rows(session, workspace_id, Grouping.PROVIDER)
    assert rows(session, workspace_id, Grouping.KIND)["total"] == (8, 5, 3, 1, 4, 2.0)
