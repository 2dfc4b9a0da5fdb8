"""Wrong or jumping clocks of processes do not affect jobs.

The tests shift the clock that Python reads, in the API's processes or in the worker. Only the database's
clock counts. SQLite uses the machine's clock, from which Python's shifted clock differs all the same.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from e2e_stack import ROOT, ApiResponse, Stack, running, suspended
from jobs_support import a_question
from local_servers import empty_database
from polling import wait_until
from sqlalchemy import select, update

from app.domain.kinds import Kind
from app.engine.jobs import submission
from app.engine.jobs.jobs import Job
from app.engine.jobs.result_reuse import Freshness
from app.infra.database import database_clock

HOUR = 3600.0
OFFSETS = (-HOUR, -1.0, -0.24, -0.2, -0.05, 0.05, 0.2, 1.0, HOUR)
PROCESSES = ("worker", "web")
REVEALS = 5
FRESH = Freshness(timedelta(0), timedelta(0))


@dataclass(frozen=True)
class Clocks:
    """The processes, and files that set by how many seconds their clocks are ahead."""

    stack: Stack
    folder: Path

    def set(self, process: str, seconds: float) -> None:
        (self.folder / f"{process}.new").write_text(str(seconds))
        (self.folder / f"{process}.new").rename(self.folder / process)

    def reveal(self, count: int) -> tuple[list[ApiResponse], list[Job]]:
        """Reveal `count` stored contacts one after the other; return the responses and the jobs."""
        _workspace, token = self.stack.create_workspace()
        responses = [
            self.stack.call(
                *("POST", "/api/ext/reveal/email", {"subject": {"contact_id": contact_id}}),
                Authorization=token,
                Prefer="wait=20",
            )
            for contact_id in self.stack.create_contacts(count)
        ]
        with self.stack.database.reading() as session:
            query = select(Job).where(Job.id.in_([response.body["job"]["id"] for response in responses]))
            return responses, list(session.scalars(query))

    def open_jobs(self, count: int, *, due_in: timedelta) -> list[str]:
        """Submit `count` jobs without publishing messages; return the jobs' ids."""
        workspace_id, _token = self.stack.create_workspace()
        ids, now = [], database_clock.now()
        with self.stack.database.transaction() as session:
            for number in range(count):
                request = {"kind": "website", "hashes": [f"{number:064x}"]}
                job_request = a_question(
                    workspace_id, str(number), kind=Kind.COMPANY_BY_HASH, price=0, request=request
                )
                deadline = timedelta(minutes=10)
                job = submission.submit(session, job_request, freshness=FRESH, deadline=deadline, now=now).job
                ids.append(job.id)
            session.execute(update(Job).where(Job.id.in_(ids)).values(run_after=now + due_in))
        return ids

    def statuses(self, job_ids: list[str]) -> set[str]:
        with self.stack.database.reading() as session:
            return set(session.scalars(select(Job.status).where(Job.id.in_(job_ids))))

    def refused_messages(self) -> float:
        """Return how many messages the worker has refused because the job was not due."""
        text = self.stack.call("GET", "/metrics").body.decode()
        return float(
            re.findall(r'^ext_messages_refused_total\{.*reason="not_due"\} (.*)$', text, re.MULTILINE)[0]
        )

    def wait_until_swept(self) -> None:
        """Wait until the sweeper has republished a job whose message was lost."""
        job_ids = self.open_jobs(1, due_in=timedelta(minutes=-1))
        wait_until(lambda: self.statuses(job_ids) == {"succeeded"})


@pytest.fixture(scope="module")
def _started(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Clocks]:
    folder = tmp_path_factory.mktemp("clocks")
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "e2e" / "support" / "wrong_clock")])
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"clocks_{worker_id}"))
        stack = stop.enter_context(
            running(
                folder,
                url,
                PYTHONPATH=path,
                CLOCK_FOLDER=str(folder),
                WEB_CONCURRENCY="1",
                SWEEP_SECONDS="0.5",
                REPUBLISH_SECONDS="30",
            )
        )
        yield Clocks(stack, folder)


@pytest.fixture
def clocks(_started: Clocks) -> Clocks:
    """The processes with correct clocks."""
    for process in PROCESSES:
        _started.set(process, 0)
    return _started


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("seconds", OFFSETS)
def test_the_first_message_of_a_reveal_is_enough_however_wrong_a_clock_is(
    clocks: Clocks, process: str, seconds: float
) -> None:
    clocks.set(process, seconds)

    responses, jobs = clocks.reveal(REVEALS)

    assert {response.status for response in responses} == {200}
    assert {(job.status, job.publishes, job.attempts, job.crashes) for job in jobs} == {
        ("succeeded", 0, 1, 0)
    }


@pytest.mark.parametrize("process", PROCESSES)
def test_the_first_message_of_a_reveal_is_enough_while_a_clock_jumps(clocks: Clocks, process: str) -> None:
    jobs = []
    for seconds in (HOUR, -0.2, -HOUR, 0.2, 1.0, -1.0):
        clocks.set(process, seconds)
        jobs += clocks.reveal(1)[1]

    assert {(job.status, job.publishes) for job in jobs} == {("succeeded", 0)}
    assert clocks.refused_messages() == 0


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_no_open_job_expires_when_the_clock_of_the_worker_jumps(clocks: Clocks, seconds: float) -> None:
    waiting = clocks.open_jobs(20, due_in=timedelta(minutes=5))

    clocks.set("worker", seconds)
    clocks.wait_until_swept()
    clocks.wait_until_swept()

    assert clocks.statuses(waiting) == {"queued"}


def test_the_first_message_of_a_reveal_is_enough_after_all_processes_were_suspended(
    clocks: Clocks,
) -> None:
    assert clocks.stack.web is not None
    processes = [clocks.stack.web, *clocks.stack.workers]

    for _ in range(3):
        with suspended(processes):
            time.sleep(0.3)  # without the database, which a suspended process may have locked
        _responses, jobs = clocks.reveal(2)

        assert {(job.status, job.publishes) for job in jobs} == {("succeeded", 0)}


def test_jobs_are_listed_in_the_order_of_submission_while_the_clock_jumps(clocks: Clocks) -> None:
    _workspace, token = clocks.stack.create_workspace()
    submitted = []
    for contact_id, seconds in zip(clocks.stack.create_contacts(4), (0, HOUR, -HOUR, 1.0), strict=True):
        clocks.set("web", seconds)
        body = {"subject": {"contact_id": contact_id}}
        response = clocks.stack.call("POST", "/api/ext/reveal/email", body, Authorization=token)
        submitted.append(response.body["job"]["id"])

    listed, cursor = [], ""
    while cursor is not None:
        page = clocks.stack.call("GET", f"/api/ext/jobs?limit=1{cursor}", Authorization=token).body
        listed += [job["id"] for job in page["jobs"]]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"

    assert listed == submitted[::-1]
    assert sorted(submitted) != submitted  # ids are generated from the API's clock


@pytest.mark.parametrize(("process", "seconds"), [("worker", -HOUR), ("web", HOUR)])
def test_clocks_that_differ_are_reported_and_the_service_stays_ready(
    clocks: Clocks, process: str, seconds: float
) -> None:
    clocks.set(process, seconds)

    response = wait_until(lambda: _warned(clocks.stack))

    assert (response.status, response.body["status"]) == (200, "ok")
    assert "synchronize both with NTP" in response.body["detail"]


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("seconds", [-HOUR, HOUR])
def test_a_session_lasts_as_long_as_the_database_says(clocks: Clocks, process: str, seconds: float) -> None:
    _workspace, token = clocks.stack.create_workspace()

    clocks.set(process, seconds)

    response = clocks.stack.call("GET", "/api/ext/session", Authorization=token)
    listed = clocks.stack.call("GET", "/api/sessions", Authorization=token)
    assert (response.status, listed.status, len(listed.body["sessions"])) == (200, 200, 1)


def _warned(stack: Stack) -> ApiResponse | None:
    response = stack.call("GET", "/readyz")
    return response if response.body["checks"]["clocks"] == "differ" else None
