from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.core import credits, idempotency, leases, questions, workspaces
from app.core.jobs import Job
from app.core.leases import Answer
from app.core.questions import Freshness, Question
from app.domain.kinds import Kind, Outcome
from app.infra import clock
from chaos import checker
from chaos.checker import Findings

HOUR = timedelta(hours=1)


class World:
    """A workspace with two reveals, one found and one open, and what a harness wrote down of them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        now = clock.now()
        self.workspace = workspaces.create(session, name="Chaos", now=now).id
        credits.grant(session, self.workspace, 10, reason="test", now=now)
        self.accepted: dict[tuple[str, str], str] = {}
        self.done, self.open = self._ask("done"), self._ask("open")
        claim = leases.claim(session, self.done, lease=HOUR, max_crashes=8, now=clock.now())
        assert claim
        answer = Answer(outcome=Outcome.FOUND, result={"contact_id": "con_1", "emails": []}, charge=1)
        leases.settle(session, claim, answer, now=now)

    def _ask(self, name: str) -> str:
        now = clock.now()
        idempotency.begin(self.session, self.workspace, name, b"digest", now=now)
        question = Question(
            kind=Kind.REVEAL_EMAIL,
            workspace_id=self.workspace,
            account_id=None,
            request={"subject": {}},
            identity={"name": name},
            price=1,
        )
        job = questions.submit(
            self.session, question, fresh=Freshness(HOUR, HOUR), deadline=HOUR, now=now
        ).job
        idempotency.finish(self.session, self.workspace, name, job.id)
        self.accepted[self.workspace, name] = job.id
        return job.id

    def do(self, statement: str, **values: Any) -> None:
        self.session.execute(text(statement), {"done": self.done, "open": self.open, **values})

    def finish_open(self) -> None:
        claim = leases.claim(self.session, self.open, lease=HOUR, max_crashes=8, now=clock.now())
        assert claim
        answer = Answer(outcome=Outcome.FOUND, result={"contact_id": "con_2"}, charge=1)
        leases.settle(self.session, claim, answer, now=clock.now())

    def gather(self) -> Findings:
        self.session.flush()
        return checker.check(
            self.session.connection(), [self.workspace], self.accepted, {self.done, self.open}
        )


@pytest.fixture
def world(session: Session) -> World:
    return World(session)


def test_what_is_in_order_shows_no_fault(world: World) -> None:
    world.finish_open()

    found = world.gather()

    assert found.violations == []
    assert found.statuses == {"succeeded": 2}


def test_a_job_that_is_not_over_is_unfinished_but_no_mismatch(world: World) -> None:
    found = world.gather()

    assert [world.open in fault for fault in found.violations] == [True]
    assert len(found.unfinished) == 1


def test_an_accepted_job_without_a_row_is_lost(world: World) -> None:
    world.finish_open()
    world.accepted[world.workspace, "gone"] = "job_gone"

    assert world.gather().lost == ["job_gone was accepted and has no row"]


def test_a_key_that_stands_for_another_job_is_a_loss(world: World) -> None:
    world.do("UPDATE idempotency_keys SET reference = :open WHERE key = 'done'")

    assert len(world.gather().lost) == 1


def test_another_workspaces_job_is_no_answer(world: World) -> None:
    other = workspaces.create(world.session, name="Other", now=clock.now()).id
    world.accepted[other, "done"] = world.done

    assert "another workspace" in world.gather().lost[0]


def test_a_second_close_is_charging_twice(world: World) -> None:
    world.do("DROP INDEX uq_ledger_close")
    world.do(
        "INSERT INTO ledger (id, workspace_id, job_id, kind, available, held, spent, created_at)"
        " SELECT 'led_again', workspace_id, job_id, kind, 0, 0, 0, created_at FROM ledger"
        " WHERE job_id = :done AND kind = 'settle'"
    )

    found = world.gather()

    assert found.charged_twice == [f"{world.done} was closed more than once"]


def test_two_charged_jobs_for_the_same_field_of_a_contact_are_charging_twice(world: World) -> None:
    world.finish_open()
    world.do("UPDATE jobs SET result = (SELECT result FROM jobs WHERE id = :done) WHERE id = :open")

    assert "con_1 was charged by" in world.gather().charged_twice[0]


@pytest.mark.parametrize("figure", ["available", "held", "spent"])
def test_a_balance_that_its_ledger_does_not_explain_is_a_mismatch(world: World, figure: str) -> None:
    world.do(f"UPDATE workspaces SET {figure} = {figure} + 1")  # noqa: S608 -- one of the three above

    assert any(f"shows {figure}" in fault for fault in world.gather().mismatches)


def test_a_hold_of_a_job_that_is_over_is_a_mismatch(world: World) -> None:
    world.do("UPDATE jobs SET status = 'failed' WHERE id = :open")

    found = world.gather()

    assert f"{world.open} is failed and has 0 closes" in found.mismatches
    assert f"{world.workspace} holds 1, its open jobs 0" in found.mismatches


def test_a_charge_that_the_ledger_does_not_know_is_a_mismatch(world: World) -> None:
    world.do("UPDATE jobs SET charged = 0 WHERE id = :done")

    assert world.gather().mismatches == [f"{world.done} was charged 0, the ledger says 1"]


def test_a_ledger_row_of_no_job_is_a_mismatch(world: World) -> None:
    world.do("UPDATE ledger SET job_id = 'job_none' WHERE job_id = :open")

    assert "the ledger speaks of job_none, which is no job" in world.gather().mismatches


def test_an_innocent_reveal_that_failed_is_named_with_its_error(world: World) -> None:
    job = world.session.get_one(Job, world.done, populate_existing=True)
    job.status, job.error = "failed", {"code": "worker_lost"}

    assert world.gather().unexpected_failures == [f"{world.done} failed: worker_lost"]


def test_questions_that_a_provider_was_asked_again_are_counted(world: World) -> None:
    for number in range(3):
        world.do(
            "INSERT INTO provider_calls"
            " (id, job_id, field, provider, subject, attempt, outcome, cost, asked_at)"
            " SELECT :id, id, 'email', 'sandbox', question, 1, 'error', 0, created_at"
            " FROM jobs WHERE id = :done",
            id=f"call_{number}",
        )

    assert world.gather().repeated_calls == 1


def test_open_jobs_are_counted(world: World) -> None:
    world.session.flush()

    assert checker.count_open_jobs(world.session.connection(), [world.workspace]) == 1
