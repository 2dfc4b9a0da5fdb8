"""Spending limits over HTTP: concurrent callers with one capped key, on the production server and a worker.

RACE_ROUNDS sets how often each race is repeated; the default is one round.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from audit_support import STUCK_AFTER, faults
from e2e_stack import ApiResponse, Stack
from jobs_support import at_once

from app.infra import clock

ROUNDS = int(os.environ.get("RACE_ROUNDS", "1"))


def make_key(stack: Stack, token: str, **limits: int) -> tuple[str, str]:
    """Create a key with these limits; return its id and its Authorization header."""
    key = stack.call("POST", "/api/keys", {"name": "agent", **limits}, Authorization=token)
    assert key.status == 201
    return key.body["id"], f"Bearer {key.body['key']}"


def reveal(stack: Stack, token: str, contact_id: str) -> ApiResponse:
    body = {"subject": {"contact_id": contact_id}}
    return stack.call("POST", "/api/ext/reveal/email", body, Authorization=token, Prefer="wait=20")


def limit_of(stack: Stack, token: str) -> dict[str, Any]:
    [limit] = stack.call("GET", "/api/limits", Authorization=token).body["limits"]
    return dict(limit)


def broken(stack: Stack, workspace_id: str) -> list[tuple[str, str]]:
    with stack.database.reading() as session:
        return faults(session, workspace_id=workspace_id, stuck_after=STUCK_AFTER, now=clock.now())


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_cap_of_seven_buys_exactly_seven_of_a_hundred_reveals_at_once(stack: Stack, number: int) -> None:
    workspace_id, token = stack.create_workspace(grant=500)
    _key_id, key = make_key(stack, token, spending_cap=7)
    people = stack.create_contacts(100)

    responses = at_once(100, lambda n: reveal(stack, key, people[n]))

    assert Counter(response.status for response in responses) == {200: 7, 402: 93}
    assert {response.code for response in responses if response.status == 402} == {"spending_limit_reached"}
    assert (limit_of(stack, key)["spent"], limit_of(stack, key)["held"]) == (7, 0)
    assert stack.call("GET", "/api/ext/session", Authorization=token).body["credits"]["balance"] == 493
    assert broken(stack, workspace_id) == []


def test_a_raised_cap_works_at_once_and_usage_names_the_key(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace(grant=50)
    key_id, key = make_key(stack, token, spending_cap=1)
    people = stack.create_contacts(2)
    statuses = [reveal(stack, key, person).status for person in people]

    raised = stack.call("PUT", f"/api/limits/keys/{key_id}", {"spending_cap": 2}, Authorization=token)

    assert (statuses, raised.status) == ([200, 402], 200)
    assert reveal(stack, key, people[1]).status == 200
    [row] = stack.call("GET", "/api/usage?by=key", Authorization=token).body["rows"]
    assert (row["id"], row["credits"], row["found"]) == (key_id, 2, 2)
    types = [event["type"] for event in stack.call("GET", "/api/events", Authorization=token).body["events"]]
    assert types == ["credits.limit_reached", "credits.limit_reached"]
    assert broken(stack, workspace_id) == []


def test_an_enrichment_spends_what_the_cap_leaves_and_the_other_items_name_it(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace(grant=50)
    key_id, key = make_key(stack, token, spending_cap=2)
    items = [{"subject": {"contact_id": person}} for person in stack.create_contacts(4)]
    body = {"entity": "person", "items": items, "fields": ["email"]}

    partial = stack.call(
        "POST", "/api/ext/enrichment-request", body, Authorization=key, Prefer="wait=25"
    ).body
    stack.call("PUT", f"/api/limits/keys/{key_id}", {"spending_cap": 4}, Authorization=token)
    complete = stack.call(
        "POST", "/api/ext/enrichment-request", body, Authorization=key, Prefer="wait=25"
    ).body

    errors = [item["error"] for item in partial["result"]["items"]]
    assert [error and error["code"] for error in errors] == [None, None, *["spending_limit_reached"] * 2]
    assert "limit was used up before this item" in errors[3]["detail"]
    assert (errors[3]["limit"]["id"], errors[3]["limit"]["credits"]) == (key_id, 2)
    assert (partial["credits"]["charged"], complete["credits"]["charged"]) == (2, 2)
    assert [item["outcome"] for item in complete["result"]["items"]] == ["found"] * 4
    assert broken(stack, workspace_id) == []
