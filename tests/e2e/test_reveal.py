"""Reveals through real processes: charges, waiting, and behaviour without Redis."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import redis as redis_client
from e2e_stack import PROCESSES, ApiResponse, Stack
from jobs_support import at_once
from polling import wait_until
from sqlalchemy import func, select

from app.engine.accounts.workspaces import Workspace
from app.engine.jobs.jobs import Job
from app.engine.ledger.credits import LedgerEntry


def test_a_reveal_is_charged_once_and_a_second_one_costs_nothing(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=3)
    body = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}

    first = stack.call("POST", "/api/ext/reveal/email", body, Authorization=token)
    second = stack.call("POST", "/api/ext/reveal/email", body, Authorization=token)

    assert first.status == 200
    assert first.body["job"]["outcome"] == "found"
    assert first.body["result"]["emails"][0]["email"] == "found@sandbox.example"
    assert first.body["credits"] == {"charged": 1, "reserved": 0, "balance": 2, "already_owned": False}
    assert second.status == 200
    assert second.body["credits"] == {"charged": 0, "reserved": 0, "balance": 2, "already_owned": True}
    assert second.headers["X-Credits-Charged"] == "0"


def test_forty_identical_reveals_at_once_are_one_job_and_one_charge(stack: Stack) -> None:
    workspace, token = stack.create_workspace(grant=10)
    body = {"subject": {"full_name": "Slow Sandbox", "company_domain": "sandbox.example"}}

    responses = at_once(40, lambda _n: stack.call("POST", "/api/ext/reveal/email", body, Authorization=token))

    assert {response.status for response in responses} == {200}
    assert len({response.body["job"]["id"] for response in responses}) == 1
    assert _balance(stack, workspace) == (9, 0, 1)


def test_five_credits_pay_for_exactly_five_of_forty_concurrent_reveals(stack: Stack) -> None:
    workspace, token = stack.create_workspace(grant=5)
    people = stack.create_contacts(40)

    responses = at_once(
        40,
        lambda n: stack.call(
            "POST", "/api/ext/reveal/email", {"subject": {"contact_id": people[n]}}, Authorization=token
        ),
    )

    assert sorted(response.status for response in responses) == [200] * 5 + [402] * 35
    refused = next(response for response in responses if response.status == 402)
    assert (refused.code, refused.body["required"], refused.body["balance"]) == ("insufficient_credits", 1, 0)
    assert _balance(stack, workspace) == (0, 0, 5)


def test_reveals_that_find_nothing_are_suppressed_or_fail_are_not_charged(stack: Stack) -> None:
    workspace, token = stack.create_workspace(grant=5)

    outcomes = {
        scenario: stack.call(
            "POST",
            "/api/ext/reveal/email",
            {"subject": {"full_name": f"{scenario} Sandbox", "company_domain": "sandbox.example"}},
            Authorization=token,
            Prefer="wait=25",
        ).body["job"]
        for scenario in ("Not-Found", "Accept-All", "Suppressed", "Failing")
    }

    assert outcomes["Not-Found"]["outcome"] == "not_found"
    assert outcomes["Accept-All"]["outcome"] == "not_found"
    assert outcomes["Suppressed"]["outcome"] == "suppressed"
    assert (outcomes["Failing"]["status"], outcomes["Failing"]["error"]["code"]) == (
        "failed",
        "provider_failed",
    )
    assert _balance(stack, workspace) == (5, 0, 0)


def test_a_caller_that_does_not_wait_polls_its_job(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    body = {"subject": {"full_name": "Slow Sandbox", "company_domain": "sandbox.example"}}
    body["types"] = ["personal"]  # no other test requests it, so it is not stored yet

    accepted = stack.call("POST", "/api/ext/reveal/email", body, Authorization=token, Prefer="respond-async")
    early = stack.call("GET", accepted.headers["Location"], Authorization=token)
    late = stack.call("GET", accepted.headers["Location"], Authorization=token, Prefer="wait=20")

    assert (accepted.status, accepted.headers["Preference-Applied"]) == (202, "respond-async")
    assert accepted.body["credits"]["reserved"] == 1
    assert early.status == 202
    assert (late.status, late.body["job"]["outcome"]) == (200, "found")
    assert set(accepted.body) == set(late.body) == {"job", "result", "trace", "credits"}


def test_a_reveal_sent_while_redis_is_down_is_accepted_at_once_and_done_when_it_is_back(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    stack.stop_redis()
    started = time.monotonic()

    accepted = stack.call(
        "POST",
        "/api/ext/reveal/email",
        {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}},
        Authorization=token,
        Prefer="respond-async",
    )
    seconds = time.monotonic() - started
    stack.start_redis()
    done = wait_until(
        lambda: _if_finished(stack.call("GET", accepted.headers["Location"], Authorization=token))
    )

    assert accepted.status == 202
    assert seconds < 5  # must not hang; `dev.py chaos` measures the time (R5)
    assert done.body["job"]["outcome"] == "found"


def test_a_login_is_answered_while_two_hundred_callers_wait(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    path = stack.call(
        "POST",
        "/api/ext/reveal/phone",
        {"subject": {"full_name": "Slow Sandbox", "company_domain": "sandbox.example"}},
        Authorization=token,
        Prefer="respond-async",
    ).headers["Location"]
    release = threading.Event()

    with ThreadPoolExecutor(200) as callers:
        waits = [
            callers.submit(stack.call, "GET", path, None, Authorization=token, Prefer="wait=25")
            for _ in range(200)
        ]
        release.set()
        other, _token = stack.create_workspace(grant=0)
        responses = [wait.result() for wait in waits]

    assert other
    assert {response.body["job"]["outcome"] for response in responses} == {"found"}
    with redis_client.Redis(port=stack.redis_port) as client:
        subscribers = client.pubsub_numsub("jobs.over")[0][1]
    assert subscribers == PROCESSES  # one per process, not one per caller


def test_every_balance_is_the_sum_of_its_ledger(stack: Stack) -> None:
    with stack.database.reading() as session:
        rows = session.execute(
            select(Workspace.available, Workspace.held, Workspace.spent, *_sums())
            .join(LedgerEntry, LedgerEntry.workspace_id == Workspace.id)
            .group_by(Workspace.id)
        ).all()

    assert all(row[:3] == row[3:] for row in rows)


def _sums() -> list[object]:
    return [func.sum(column) for column in (LedgerEntry.available, LedgerEntry.held, LedgerEntry.spent)]


def _if_finished(response: ApiResponse) -> ApiResponse | None:
    return response if response.status == 200 else None


def _balance(stack: Stack, workspace_id: str) -> tuple[int, int, int]:
    def settled() -> Workspace | None:
        with stack.database.reading() as session:
            open_jobs = session.scalar(
                select(func.count()).where(Job.workspace_id == workspace_id, Job.finished_at.is_(None))
            )
            return None if open_jobs else session.get_one(Workspace, workspace_id)

    workspace = wait_until(settled, 40)
    return workspace.available, workspace.held, workspace.spent
