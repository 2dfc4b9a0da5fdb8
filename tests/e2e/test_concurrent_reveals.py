"""Races over HTTP: many concurrent callers against the production server and a real worker.

RACE_ROUNDS sets how often each race is repeated; the default is one round.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from audit_support import STUCK_AFTER, faults
from e2e_stack import ApiResponse, Stack
from jobs_support import at_once
from sqlalchemy import func, select

from app.engine.jobs.idempotency import IdempotencyKey
from app.infra import clock

ROUNDS = int(os.environ.get("RACE_ROUNDS", "1"))
EMAIL = "/api/ext/reveal/email"


def reveal(stack: Stack, token: str, contact_id: str, **headers: str) -> ApiResponse:
    body = {"subject": {"contact_id": contact_id}}
    return stack.call("POST", EMAIL, body, Authorization=token, Prefer="wait=20", **headers)


def balance(stack: Stack, token: str) -> int:
    return int(stack.call("GET", "/api/ext/session", Authorization=token).body["credits"]["balance"])


def broken(stack: Stack, workspace_id: str) -> list[tuple[str, str]]:
    with stack.database.reading() as session:
        return faults(session, workspace_id=workspace_id, stuck_after=STUCK_AFTER, now=clock.now())


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "click"}])
def test_forty_callers_of_the_same_reveal_get_one_job_and_one_charge(
    stack: Stack, number: int, headers: dict[str, str]
) -> None:
    workspace_id, token = stack.create_workspace(grant=10)
    [contact_id] = stack.create_contacts(1)

    responses = at_once(40, lambda _: reveal(stack, token, contact_id, **headers))

    assert {response.status for response in responses} == {200}
    assert len({response.body["job"]["id"] for response in responses}) == 1
    assert balance(stack, token) == 9
    assert broken(stack, workspace_id) == []


@pytest.mark.parametrize("number", range(ROUNDS))
def test_five_credits_buy_five_of_forty_reveals_and_a_refused_key_works_after_a_top_up(
    stack: Stack, number: int
) -> None:
    workspace_id, token = stack.create_workspace(grant=5)
    people = stack.create_contacts(40)

    responses = at_once(40, lambda n: reveal(stack, token, people[n], Idempotency_Key=f"click {n}"))

    assert Counter(response.status for response in responses) == {200: 5, 402: 35}
    assert balance(stack, token) == 0
    with stack.database.reading() as session:
        query = select(func.count()).where(IdempotencyKey.workspace_id == workspace_id)
        assert session.scalar(query) == 5
    refused = next(n for n, response in enumerate(responses) if response.status == 402)
    stack.grant(workspace_id, 1)
    assert reveal(stack, token, people[refused], Idempotency_Key=f"click {refused}").status == 200
    assert broken(stack, workspace_id) == []
