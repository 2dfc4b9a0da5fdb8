"""Fairness between workspaces: the slow reveals of one do not delay the requests of another."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from e2e_stack import ApiResponse, Stack, running
from local_servers import empty_database
from polling import wait_until
from sqlalchemy import func, select
from vendors_support import FakeVendors, run_fake_vendors
from werkzeug import Request

from app.domain.kinds import OPEN, Queue
from app.domain.normal.names.name_keys import name_key
from app.engine.jobs.jobs import Job
from app.engine.ledger.credits import LedgerEntry
from workers.runtime import priority

REVEAL = "/api/ext/reveal/email"
WORKERS = ("interactive", "providers", "enrichment,upkeep")
"""The queues of each worker."""
THREADS = 10
REVEALS = 3 * THREADS


class GatedVendor:
    """A vendor that delays each response until it is permitted, and records the order of the requests."""

    def __init__(self) -> None:
        self.requested_names: list[str] = []
        self.permits = threading.Semaphore(0)

    def respond(self, request: Request) -> tuple[int, object]:
        self.requested_names.append(name_key(request.args["full_name"]))
        self.permits.acquire(timeout=9)
        return 200, {"data": {"email": None, "score": None}, "meta": {}}


def finds_everybody(request: Request) -> tuple[int, object]:
    address = f"{request.args['full_name'].replace(' ', '.')}@acme.example".lower()
    return 200, {"data": {"email": address, "score": 99, "verification": {"status": "valid"}}, "meta": {}}


@pytest.fixture(scope="module")
def vendors() -> Iterator[FakeVendors]:
    with run_fake_vendors() as vendors:
        yield vendors


@pytest.fixture(scope="module")
def stack(vendors: FakeVendors, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """A separate stack whose only provider is the fake vendor, with worker processes for different queues."""
    folder = tmp_path_factory.mktemp("fairness")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"fairness_{worker_id}"))
        settings = {
            "PROVIDERS_EMAIL": "hunter",
            "LEASE_SECONDS": "11",
            "WEB_CONCURRENCY": "1",
            **vendors.settings(),
        }
        yield stop.enter_context(running(folder, url, workers=WORKERS, **settings))


@pytest.fixture
def gate(stack: Stack, vendors: FakeVendors) -> Iterator[GatedVendor]:
    """The vendor with delayed responses; after the test all open jobs are finished."""
    gate = GatedVendor()
    vendors.reset()
    vendors.responders["hunter"] = gate.respond
    yield gate
    vendors.reset()
    gate.permits.release(1000)
    wait_until(lambda: not open_jobs(stack), 60)


def reveal(stack: Stack, token: str, name: str, **headers: str) -> ApiResponse:
    subject = {"full_name": name, "company_domain": "acme.example"}
    return stack.call("POST", REVEAL, {"subject": subject}, Authorization=token, **headers)


def open_jobs(stack: Stack, workspace_id: str | None = None, queue: Queue | None = None) -> int:
    query = select(func.count()).where(Job.status.in_(OPEN))
    if workspace_id is not None:
        query = query.where(Job.workspace_id == workspace_id)
    if queue is not None:
        query = query.where(Job.queue == queue)
    with stack.database.reading() as session:
        return session.scalar(query) or 0


def flood(stack: Stack, gate: GatedVendor, tag: str) -> tuple[str, str]:
    """Request many reveals until every worker thread waits for the vendor; return workspace and token.

    The worker is suspended meanwhile: the vendor holds a request for nine seconds at most.
    """
    workspace_id, token = stack.create_workspace()
    with stack.suspended_workers(slice(1, 2)):
        for number in range(REVEALS):
            assert reveal(stack, token, f"{tag} Number{number}", Prefer="respond-async").status == 202
    wait_until(lambda: len(gate.requested_names) == THREADS)
    return workspace_id, token


def test_a_click_on_a_known_person_does_not_wait_for_slow_reveals_of_another_workspace(
    stack: Stack, gate: GatedVendor
) -> None:
    _light, token = stack.create_workspace()
    [contact_id] = stack.create_contacts(1)
    heavy, _token = flood(stack, gate, "Heavy")

    click = stack.call("POST", REVEAL, {"subject": {"contact_id": contact_id}}, Authorization=token)

    assert (click.status, click.body["job"]["outcome"]) == (200, "found")
    assert open_jobs(stack, heavy) == REVEALS  # none of them delayed the request


def test_the_next_free_thread_takes_the_reveal_of_the_workspace_that_has_none_running(
    stack: Stack, gate: GatedVendor
) -> None:
    light, token = stack.create_workspace()
    flood(stack, gate, "Crowd")
    reveal(stack, token, "Single Person", Prefer="respond-async")
    wait_until(lambda: open_jobs(stack, light, Queue.PROVIDERS))

    gate.permits.release()
    wait_until(lambda: len(gate.requested_names) > THREADS)

    assert gate.requested_names[THREADS] == name_key("Single Person")


def test_reveals_of_a_killed_worker_are_done_by_another_and_charged_once(
    stack: Stack, gate: GatedVendor, vendors: FakeVendors
) -> None:
    heavy, _token = flood(stack, gate, "Survivor")
    worker = stack.workers[1]

    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    vendors.responders["hunter"] = finds_everybody
    gate.permits.release(1000)
    stack.workers[1] = stack.start_worker("providers")
    wait_until(lambda: not open_jobs(stack, heavy), 90)

    assert statuses(stack, heavy) == {("succeeded", "found"): REVEALS}
    assert closed_and_spent(stack, heavy) == (REVEALS, REVEALS)


def statuses(stack: Stack, workspace_id: str) -> dict[tuple[str, str | None], int]:
    query = (
        select(Job.status, Job.outcome, func.count())
        .where(Job.workspace_id == workspace_id)
        .group_by(Job.status, Job.outcome)
    )
    with stack.database.reading() as session:
        return {(status, outcome): count for status, outcome, count in session.execute(query)}


def closed_and_spent(stack: Stack, workspace_id: str) -> tuple[int, int]:
    """Return how many jobs the ledger closed, and how many credits they cost."""
    query = select(func.count(), func.sum(LedgerEntry.spent)).where(
        LedgerEntry.workspace_id == workspace_id, LedgerEntry.kind.in_(("settle", "release"))
    )
    with stack.database.reading() as session:
        closed, spent = session.execute(query).one()
    return closed, spent


def test_workers_of_bulk_requests_give_way_to_those_of_clicks(stack: Stack) -> None:
    interactive, providers, bulk = (
        os.getpriority(os.PRIO_PROCESS, worker.pid) for worker in stack.workers[: len(WORKERS)]
    )

    assert (providers - interactive, bulk - interactive) == (0, priority.NICENESS)
