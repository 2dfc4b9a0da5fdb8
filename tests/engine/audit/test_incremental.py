from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from audit_support import Days, busy_days, faults, plant
from jobs_support import a_job
from sqlalchemy import update
from test_invariants import PLANTED

from app.domain.ids import first_id
from app.engine.audit import incremental, slices
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job
from app.engine.ledger import credits as ledger
from app.infra import clock
from app.infra.database.session import Session

ROTATION = 14
"""Increments until every row of the test data was in a slice of one job and two entries."""
REFUND = (
    "INSERT INTO ledger (id, workspace_id, job_id, kind, available, held, spent, created_at)"
    " VALUES ('led_z', '{workspace}', '{found}', 'refund', 1, 0, -1, '2026-11-20')"
)


@pytest.fixture
def days(session: Session, monkeypatch: pytest.MonkeyPatch) -> Days:
    """Return test data that was audited once; slices have one job and two entries."""
    monkeypatch.setattr(incremental, "SLICE", 1)
    days = busy_days(session)
    assert audited(session) == []
    return days


def audited(session: Session) -> list[tuple[str, str]]:
    """Run the next increment when everything in the database has settled; return the violations."""
    increment = incremental.plan(session, now=clock.now() + incremental.SETTLING)
    found = faults(session, coverage=increment.coverage)
    incremental.store(session, increment)
    return found


@pytest.mark.parametrize(("rule", "named", "statements"), PLANTED)
def test_each_violation_is_found_within_a_rotation(
    session: Session, days: Days, rule: str, named: list[str], statements: list[str]
) -> None:
    plant(session, days, statements)

    found = {fault for _ in range(ROTATION) for fault in audited(session)}

    assert found == {(rule, getattr(days, name, name)) for name in named}


def test_normal_activity_violates_no_rule(session: Session, days: Days) -> None:
    found = []
    for number in range(2 * ROTATION):
        a_job(session, days.workspace, f"meanwhile {number}")
        found += audited(session)

    assert found == []


def test_a_slice_does_not_cover_other_rows(session: Session, days: Days) -> None:
    plant(session, days, ["UPDATE jobs SET finished_at = NULL WHERE id = '{missed}'"])

    found = [audited(session) for _ in range(ROTATION)]

    assert sum(map(len, found)) in {1, 2}


@pytest.mark.parametrize(
    ("rule", "named", "statement"),
    [
        ("balance_is_the_sum", "other", "UPDATE workspaces SET spent = 1 WHERE id = '{other}'"),
        ("refund_is_due", "found", REFUND),
        (
            "running_job_has_a_lease",
            "running",
            "UPDATE jobs SET lease_until = NULL WHERE id = '{running}'",
        ),
    ],
)
def test_a_change_of_balances_entries_or_open_jobs_is_found_by_the_next_audit(
    session: Session, days: Days, rule: str, named: str, statement: str
) -> None:
    plant(session, days, [statement])

    assert (rule, getattr(days, named)) in audited(session)


def test_a_new_job_is_audited_next(session: Session, days: Days) -> None:
    job_id = a_job(session, days.other, "new")
    session.execute(update(Job).where(Job.id == job_id).values(finished_at=clock.now()))

    assert audited(session) == [("only_final_jobs_are_finished", job_id)]


def test_a_change_of_an_old_entry_is_found_within_two_rotations(session: Session, days: Days) -> None:
    plant(
        session, days, ["UPDATE ledger SET available = 6 WHERE workspace_id = '{other}' AND kind = 'grant'"]
    )

    found = [audited(session) for _ in range(2 * ROTATION)]

    assert [("balance_is_the_sum", days.other)] in found


def test_an_entry_with_an_old_id_is_no_violation(
    session: Session, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_id = first_id("led", clock.now() - timedelta(days=1))
    monkeypatch.setattr(ledger, "new_id", lambda _prefix: old_id)
    ledger.grant(session, days.other, 3, reason="a wrong clock", now=clock.now())

    assert [audited(session) for _ in range(2 * ROTATION)] == [[]] * 2 * ROTATION


def test_sums_that_do_not_match_are_compared_with_the_whole_ledger_once(
    session: Session, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_id = first_id("led", clock.now() - timedelta(days=1))
    monkeypatch.setattr(ledger, "new_id", lambda _prefix: old_id)
    ledger.grant(session, days.other, 3, reason="a wrong clock", now=clock.now())
    compared = []

    for _ in range(2):
        increment = incremental.plan(session, now=clock.now() + incremental.SETTLING)
        incremental.store(session, increment)
        compared.append(increment.coverage.workspaces)

    assert compared == [{days.other}, frozenset()]


def test_sums_that_match_are_not_compared_with_the_whole_ledger(session: Session, days: Days) -> None:
    compared = set()
    for _ in range(3 * ROTATION):
        increment = incremental.plan(session, now=clock.now() + incremental.SETTLING)
        incremental.store(session, increment)
        compared |= set(increment.coverage.workspaces or ())

    assert compared == set()


def test_on_postgresql_the_transaction_is_planned_for_slices() -> None:
    executed: list[str] = []
    session = SimpleNamespace(
        get_bind=lambda: SimpleNamespace(dialect=SimpleNamespace(name="postgresql")),
        execute=lambda statement: executed.append(str(statement)),
    )

    slices.plan_for_slices(cast("Session", session))

    assert executed == ["SET LOCAL max_parallel_workers_per_gather = 0", "SET LOCAL random_page_cost = 1.1"]


def test_on_postgresql_older_jobs_are_an_array() -> None:
    session = SimpleNamespace(
        get_bind=lambda: SimpleNamespace(dialect=SimpleNamespace(name="postgresql")),
        scalars=lambda _query: ["job_1"],
    )

    condition, (job_ids, _type) = incremental.older_jobs(cast("Session", session), "led_2")

    assert (condition, job_ids) == ("? = ANY(:older_jobs)", ["job_1"])


def test_idempotency_keys_are_covered_once_new_and_once_in_a_rotation(session: Session, days: Days) -> None:
    plant(session, days, ["UPDATE idempotency_keys SET reference = NULL WHERE key = 'k'"])
    session.execute(update(IdempotencyKey).values(created_at=clock.now() - timedelta(days=1)))

    found = [audited(session) for _ in range(ROTATION)]

    assert sum(map(len, found)) in {1, 2}
