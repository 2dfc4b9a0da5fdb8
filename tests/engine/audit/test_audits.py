from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from audit_support import STUCK_AFTER, Days, busy_days, faults, plant
from jobs_support import NOW, a_job, at_once
from sqlalchemy import select, text

from app.engine.audit import audits, rule_checks
from app.engine.audit.audits import Audit
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings

EVERY = timedelta(minutes=5)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def days(session: Session) -> Days:
    return busy_days(session)


def test_an_empty_database_has_no_violation(session: Session) -> None:
    assert faults(session) == []


def test_one_workspace_can_be_audited_alone(session: Session, days: Days) -> None:
    session.execute(text("UPDATE workspaces SET spent = spent + 1"))

    assert faults(session, workspace_id=days.other) == [("balance_is_the_sum", days.other)]
    assert rule_checks.scope(session, days.other) == rule_checks.AuditScope(workspaces=1, jobs=2, entries=3)


def test_a_rule_lists_at_most_the_maximum_number_of_violations(
    session: Session, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_checks, "MAX_VIOLATIONS", 1)
    session.execute(text("UPDATE workspaces SET spent = spent + 1"))

    assert faults(session) == [("balance_is_the_sum", min(days.workspace, days.other))]


def test_an_audit_reads_one_snapshot_while_others_write(database: Database) -> None:
    with database.transaction() as session:
        days = busy_days(session)

    with database.reading() as reader:
        rule_checks.use_repeatable_read(reader)
        before = rule_checks.scope(reader)
        with database.transaction() as session:
            plant(session, days, ["UPDATE workspaces SET spent = 9 WHERE id = '{other}'"])
            a_job(session, days.other, "meanwhile")
        seen = faults(reader)
        after = rule_checks.scope(reader)

    assert (seen, after) == ([], before)


def test_an_audit_is_due_if_none_was_run(session: Session) -> None:
    assert audits.last(session, now=NOW + EVERY) is None
    assert audits.begin(session, every=EVERY, now=NOW) is not None


def test_an_audit_is_not_due_before_its_interval_is_over(session: Session) -> None:
    finished(session, milliseconds=40)

    assert audits.begin(session, every=EVERY, now=NOW + EVERY - SECOND) is None
    assert audits.begin(session, every=EVERY, now=NOW + EVERY) is not None


def test_an_audit_by_a_clock_that_was_ahead_counts_no_more_once_it_is_corrected(session: Session) -> None:
    finished(session, milliseconds=40)
    finished(session, milliseconds=40, now=NOW + timedelta(days=1))

    assert audits.begin(session, every=EVERY, now=NOW + EVERY - SECOND) is None
    assert audits.begin(session, every=EVERY, now=NOW + EVERY) is not None
    last = audits.last(session, now=NOW + EVERY)
    assert last is not None
    assert last.at == NOW


def test_a_slow_audit_is_followed_by_a_longer_pause(session: Session) -> None:
    finished(session, milliseconds=60_000)

    assert audits.begin(session, every=EVERY, now=NOW + 20 * MINUTE - SECOND) is None
    assert audits.begin(session, every=EVERY, now=NOW + 20 * MINUTE) is not None


def test_no_audit_starts_while_another_runs_unless_that_is_abandoned(session: Session) -> None:
    audits.begin(session, every=EVERY, now=NOW)

    assert audits.begin(session, every=EVERY, now=NOW + 59 * MINUTE) is None
    assert audits.begin(session, every=EVERY, now=NOW + 60 * MINUTE) is not None


def test_of_many_concurrent_audits_one_starts(database: Database) -> None:
    def begin(_number: int) -> str | None:
        with database.transaction() as session:
            return audits.begin(session, every=EVERY, now=NOW)

    assert sum(result is not None for result in at_once(8, begin)) == 1


def test_the_result_of_an_audit_is_stored(session: Session, days: Days) -> None:
    plant(session, days, ["UPDATE workspaces SET spent = 1 WHERE id = '{other}'"])

    finished(session, milliseconds=40)

    last = audits.last(session, now=NOW + EVERY)
    assert last is not None
    assert (last.at, last.milliseconds, last.workspaces) == (NOW, 40, 3)
    assert last.faults == [
        {
            "rule": "balance_is_the_sum",
            "id": days.other,
            "workspace_id": days.other,
            "expected": "available 5, held 0, spent 0",
            "found": "available 5, held 0, spent 1",
        }
    ]


def test_a_running_audit_is_not_the_last_finished_one(session: Session) -> None:
    finished(session, milliseconds=40)
    audits.add(session, now=NOW + EVERY)

    last = audits.last(session, now=NOW + EVERY)

    assert last is not None
    assert last.at == NOW


def test_old_audits_are_deleted(session: Session) -> None:
    finished(session, milliseconds=40)

    finished(session, milliseconds=40, now=NOW + audits.RETENTION + SECOND)

    assert session.scalars(select(Audit.at)).all() == [NOW + audits.RETENTION + SECOND]


def test_a_job_may_be_late_by_its_lease_and_some_sweeps(settings: Settings) -> None:
    settings = dataclasses.replace(settings, lease_seconds=20, sweep_seconds=2.0)

    assert rule_checks.stuck_after(settings) == timedelta(seconds=20 + 10 * 2 + 60)


def finished(session: Session, *, milliseconds: int, now: datetime = NOW) -> None:
    audit_id = audits.add(session, now=now)
    checked = list(rule_checks.check(session, stuck_after=STUCK_AFTER, now=now))
    extent = rule_checks.scope(session)
    audits.finish(session, audit_id, extent, checked, milliseconds=milliseconds, now=now)


@pytest.mark.parametrize("is_free", [True, False])
def test_on_postgresql_an_advisory_lock_serialises_the_start(*, is_free: bool) -> None:
    postgresql = SimpleNamespace(dialect=SimpleNamespace(name="postgresql"))
    session = SimpleNamespace(
        get_bind=lambda: postgresql,
        scalar=lambda query, *_values: is_free if "advisory" in str(query) else None,
        add=lambda _audit: None,
        flush=lambda: None,
    )

    begun = audits.begin(cast("Session", session), every=EVERY, now=NOW)

    assert (begun is not None) is is_free


def test_on_postgresql_the_snapshot_is_repeatable_read() -> None:
    postgresql = SimpleNamespace(dialect=SimpleNamespace(name="postgresql"))
    options: list[dict[str, str]] = []

    def connection(*, execution_options: dict[str, str]) -> None:
        options.append(execution_options)

    session = SimpleNamespace(get_bind=lambda: postgresql, connection=connection)

    rule_checks.use_repeatable_read(cast("Session", session))

    assert options == [{"isolation_level": "REPEATABLE READ"}]
