"""A schedule of a CRM through real processes, one of which is killed while the CRM returns the list."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from crm_schedule_support import a_person
from e2e_stack import Stack
from fake_crms import TOKEN, FakeTwenty
from polling import wait_until
from pytest_httpserver import HTTPServer
from sqlalchemy import update
from werkzeug import Request, Response

from app.engine.work.items import WorkItem
from app.infra import clock

FILTER = "jobTitle[is]:NULL"
PROFILE = "https://www.linkedin.com/in/sandbox-found"


class SlowTwenty(FakeTwenty):
    """A Twenty that returns its list only when it may."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.is_asked, self.may_respond = threading.Event(), threading.Event()

    def listed(self, request: Request) -> Response | None:
        if request.args.get("filter") in self.lists:
            self.is_asked.set()
            self.may_respond.wait(60)
        return super().listed(request)


@pytest.fixture
def crm() -> Iterator[SlowTwenty]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield SlowTwenty(server)


def run_a_schedule(stack: Stack, crm: SlowTwenty) -> tuple[str, str]:
    """Connect the CRM, and run a schedule of its only person; return the session's token and the path."""
    person = a_person(crm, 1, linkedinLink={"primaryLinkUrl": PROFILE})
    crm.lists[FILTER] = [person]
    _workspace, token = stack.create_workspace()
    new = {"vendor": "twenty", "token": TOKEN, "base_url": crm.url}
    connection = stack.call("POST", "/api/crm/connections", new, Authorization=token).body["connection"]
    wait_until(lambda: _is_read(stack, token), 60)
    path = f"/api/crm/connections/{connection['id']}/schedules"
    settings = {"name": "Everyone", "list_id": FILTER, "max_people": 10, "monthly_credits": 10}
    schedule = stack.call("POST", path, settings, Authorization=token).body["schedule"]
    response = stack.call("POST", f"{path}/{schedule['id']}/run", {}, Authorization=token)
    assert response.status == 200, response.body
    return token, f"{path}/{schedule['id']}"


def _is_read(stack: Stack, token: str) -> bool:
    (connection,) = stack.call("GET", "/api/crm/connections", Authorization=token).body["connections"]
    return bool(connection["reading"] and connection["reading"]["read_at"])


def pushed(stack: Stack, token: str, path: str) -> Any:
    """Return the receipts of the only run once its push is made."""
    for run in stack.call("GET", f"{path}/runs", Authorization=token).body["runs"]:
        receipts = stack.call("GET", f"{path}/runs/{run['id']}", Authorization=token).body
        if any(item["push_outcome"] for item in receipts["items"]):
            return receipts
    return None


def test_a_run_fills_the_record_of_a_person(stack: Stack, crm: SlowTwenty) -> None:
    crm.may_respond.set()
    token, path = run_a_schedule(stack, crm)

    receipts = wait_until(lambda: pushed(stack, token, path), 60)

    [item] = receipts["items"]
    assert (item["outcome"], item["credits_charged"], item["push_outcome"]) == ("found", 1, "updated")
    [person] = crm.people.values()
    assert "@" in person["emails"]["primaryEmail"]


def test_a_worker_killed_while_the_list_is_read_does_not_lose_the_run(stack: Stack, crm: SlowTwenty) -> None:
    token, path = run_a_schedule(stack, crm)
    wait_until(crm.is_asked.is_set)

    (killed,) = stack.workers
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    stack.workers.clear()
    crm.may_respond.set()
    with stack.database.transaction() as session:  # the lease of the killed worker ends
        session.execute(update(WorkItem).values(lease_until=clock.now()))
    stack.start_worker()

    receipts = wait_until(lambda: pushed(stack, token, path), 60)

    runs = stack.call("GET", f"{path}/runs", Authorization=token).body["runs"]
    assert (len(runs), receipts["run"]["credits_charged"], len(crm.people)) == (1, 1, 1)
