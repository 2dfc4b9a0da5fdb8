"""Pushes to a CRM through real processes, one of which is killed while the CRM stores a person."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from e2e_stack import Stack
from fake_crms import TOKEN, FakeTwenty
from polling import wait_until
from pytest_httpserver import HTTPServer
from sqlalchemy import update
from stored_support import own

from app.engine.contacts.contacts import Contact
from app.engine.work.items import WorkItem
from app.features.crm.pushes import PushItem
from app.infra import clock


@pytest.fixture
def crm() -> Iterator[FakeTwenty]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield FakeTwenty(server)


def push_to(stack: Stack, crm: FakeTwenty, count: int) -> tuple[str, str]:
    """Connect the CRM and push owned contacts; return the token of the session and the push."""
    workspace, token = stack.create_workspace()
    contact_ids = stack.create_contacts(count)
    with stack.database.transaction() as session:
        for contact_id in contact_ids:
            own(session, workspace, session.get_one(Contact, contact_id), "email")
    connection = stack.call(
        "POST",
        "/api/crm/connections",
        {"vendor": "twenty", "token": TOKEN, "base_url": crm.url},
        Authorization=token,
    ).body["connection"]
    wait_until(lambda: _status(stack, token) == "connected")
    body = {"connection_id": connection["id"], "contact_ids": contact_ids}
    response = stack.call("POST", "/api/crm/pushes", body, Authorization=token)
    assert response.status == 202, response.body
    return token, response.body["push"]["id"]


def _status(stack: Stack, token: str) -> str:
    (connection,) = stack.call("GET", "/api/crm/connections", Authorization=token).body["connections"]
    return str(connection["status"])


def finished(stack: Stack, token: str, push_id: str) -> Any:
    """Return the push with its receipts once it has finished."""
    push = stack.call("GET", f"/api/crm/pushes/{push_id}", Authorization=token).body
    return push if push["push"]["status"] == "finished" else None


def test_a_push_creates_each_person_once(stack: Stack, crm: FakeTwenty) -> None:
    token, push_id = push_to(stack, crm, 5)

    push = wait_until(lambda: finished(stack, token, push_id), 60)

    assert push["push"]["outcomes"] == {"created": 5}
    assert len({person["emails"]["primaryEmail"] for person in crm.people.values()}) == 5


def test_a_worker_killed_while_the_crm_stores_the_person_makes_one_person(
    stack: Stack, crm: FakeTwenty
) -> None:
    may_respond = threading.Event()
    crm.on_write = lambda: may_respond.wait(60)
    token, push_id = push_to(stack, crm, 1)
    wait_until(lambda: crm.people)

    (killed,) = stack.workers
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    stack.workers.clear()
    may_respond.set()
    with stack.database.transaction() as session:  # the lease of the killed worker ends
        session.execute(update(WorkItem).values(lease_until=clock.now()))
        session.execute(update(PushItem).values(next_at=clock.now()))
    stack.start_worker()

    push = wait_until(lambda: finished(stack, token, push_id), 60)
    assert [(item["outcome"], item["attempts"]) for item in push["items"]] == [("unchanged", 2)]
    assert len(crm.people) == 1
