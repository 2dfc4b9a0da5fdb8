from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.domain.kinds import Kind, Outcome
from app.engine.accounts import workspaces
from app.engine.jobs import claims, idempotency, leases, submission
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.jobs.result_reuse import Freshness
from app.engine.jobs.submission import JobRequest
from app.engine.ledger import credits
from app.infra import clock
from app.infra.database.session import Session
from chaos import checker
from chaos.checker import Findings

HOUR = timedelta(hours=1)


class CheckerFixture:
    """A workspace with two reveals, one found and one open, and the history of the clients."""

    def __init__(self, session: Session) -> None:
        self.session = session
        now = clock.now()
        self.workspace = workspaces.create(session, name="Chaos", now=now).id
        credits.grant(session, self.workspace, 10, reason="test", now=now)
        self.accepted: dict[tuple[str, str], str] = {}
        self.done, self.open = self._submit("done"), self._submit("open")
        claim = claims.claim(session, self.done, lease=HOUR, max_crashes=8, now=clock.now())
        assert claim
        result = JobResult(outcome=Outcome.FOUND, result={"contact_id": "con_1", "emails": []}, charge=1)
        leases.settle(session, claim, result, now=now)

    def _submit(self, name: str) -> str:
        now = clock.now()
        idempotency.begin(self.session, self.workspace, name, b"digest", now=now)
        job_request = JobRequest(
            kind=Kind.REVEAL_EMAIL,
            workspace_id=self.workspace,
            account_id=None,
            request={"subject": {}},
            dedup_key={"name": name},
            price=1,
        )
        job = submission.submit(
            self.session, job_request, freshness=Freshness(HOUR, HOUR), deadline=HOUR, now=now
        ).job
        idempotency.finish(self.session, self.workspace, name, job.id)
        self.accepted[self.workspace, name] = job.id
        return job.id

    def do(self, statement: str, **values: Any) -> None:
        self.session.execute(text(statement), {"done": self.done, "open": self.open, **values})

    def finish_open(self) -> None:
        claim = claims.claim(self.session, self.open, lease=HOUR, max_crashes=8, now=clock.now())
        assert claim
        result = JobResult(outcome=Outcome.FOUND, result={"contact_id": "con_2"}, charge=1)
        leases.settle(self.session, claim, result, now=clock.now())

    def check(self) -> Findings:
        self.session.flush()
        return checker.check(
            self.session.connection(), [self.workspace], self.accepted, {self.done, self.open}
        )


@pytest.fixture
def fixture(session: Session) -> CheckerFixture:
    return CheckerFixture(session)


def test_a_consistent_database_has_no_violation(fixture: CheckerFixture) -> None:
    fixture.finish_open()

    findings = fixture.check()

    assert findings.violations == []
    assert findings.statuses == {"succeeded": 2}


def test_an_open_job_is_unfinished_and_not_a_mismatch(fixture: CheckerFixture) -> None:
    findings = fixture.check()

    assert [fixture.open in violation for violation in findings.violations] == [True]
    assert len(findings.unfinished) == 1


def test_an_accepted_job_without_a_row_is_lost(fixture: CheckerFixture) -> None:
    fixture.finish_open()
    fixture.accepted[fixture.workspace, "gone"] = "job_gone"

    assert fixture.check().lost == ["job_gone was accepted and has no row"]


def test_a_key_that_is_stored_with_another_job_is_a_loss(fixture: CheckerFixture) -> None:
    fixture.do("UPDATE idempotency_keys SET reference = :open WHERE key = 'done'")

    assert len(fixture.check().lost) == 1


def test_a_job_of_another_workspace_is_a_loss(fixture: CheckerFixture) -> None:
    other = workspaces.create(fixture.session, name="Other", now=clock.now()).id
    fixture.accepted[other, "done"] = fixture.done

    assert "another workspace" in fixture.check().lost[0]


def test_a_second_closing_entry_is_a_double_charge(fixture: CheckerFixture) -> None:
    fixture.do("DROP INDEX uq_ledger_close")
    fixture.do(
        "INSERT INTO ledger (id, workspace_id, job_id, kind, available, held, spent, created_at)"
        " SELECT 'led_again', workspace_id, job_id, kind, 0, 0, 0, created_at FROM ledger"
        " WHERE job_id = :done AND kind = 'settle'"
    )

    findings = fixture.check()

    assert findings.charged_twice == [f"{fixture.done} was closed more than once"]


def test_two_charged_jobs_for_the_same_field_of_a_contact_are_a_double_charge(
    fixture: CheckerFixture,
) -> None:
    fixture.finish_open()
    fixture.do("UPDATE jobs SET result = (SELECT result FROM jobs WHERE id = :done) WHERE id = :open")

    assert "con_1 was charged by" in fixture.check().charged_twice[0]


@pytest.mark.parametrize("figure", ["available", "held", "spent"])
def test_a_balance_that_differs_from_its_ledger_is_a_mismatch(fixture: CheckerFixture, figure: str) -> None:
    fixture.do(f"UPDATE workspaces SET {figure} = {figure} + 1")  # noqa: S608 -- one of the three above

    assert any(f"has {figure}" in violation for violation in fixture.check().mismatches)


def test_a_hold_of_a_finished_job_is_a_mismatch(fixture: CheckerFixture) -> None:
    fixture.do("UPDATE jobs SET status = 'failed' WHERE id = :open")

    findings = fixture.check()

    assert f"{fixture.open} is failed and has 0 closing entries" in findings.mismatches
    assert f"{fixture.workspace} holds 1, its open jobs 0" in findings.mismatches


def test_a_charge_that_differs_from_the_ledger_is_a_mismatch(fixture: CheckerFixture) -> None:
    fixture.do("UPDATE jobs SET charged = 0 WHERE id = :done")

    assert fixture.check().mismatches == [f"{fixture.done} was charged 0, in the ledger 1"]


def test_a_ledger_entry_without_a_job_is_a_mismatch(fixture: CheckerFixture) -> None:
    fixture.do("UPDATE ledger SET job_id = 'job_none' WHERE job_id = :open")

    assert "the ledger has entries of job_none, which does not exist" in fixture.check().mismatches


def test_an_unexpected_failure_is_reported_with_its_error(fixture: CheckerFixture) -> None:
    job = fixture.session.get_one(Job, fixture.done, populate_existing=True)
    job.status, job.error = "failed", {"code": "worker_lost"}

    assert fixture.check().unexpected_failures == [f"{fixture.done} failed: worker_lost"]


def test_repeated_calls_to_a_provider_are_counted(fixture: CheckerFixture) -> None:
    for number in range(3):
        fixture.do(
            "INSERT INTO provider_calls"
            " (id, job_id, field, provider, subject_digest, attempt, outcome, cost, asked_at)"
            " SELECT :id, id, 'email', 'sandbox', request_digest, 1, 'error', 0, created_at"
            " FROM jobs WHERE id = :done",
            id=f"call_{number}",
        )

    assert fixture.check().repeated_calls == 1


def test_open_jobs_are_counted(fixture: CheckerFixture) -> None:
    fixture.session.flush()

    assert checker.count_open_jobs(fixture.session.connection(), [fixture.workspace]) == 1
