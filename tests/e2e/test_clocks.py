"""Wrong or jumping clocks of processes do not affect jobs.

The tests shift the clock that Python reads, in the API's processes or in the worker. Only the database's
clock counts. SQLite uses the machine's clock, from which Python's shifted clock differs all the same.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from e2e_stack import ROOT, Answer, Stack, running
from jobs_support import a_question
from local_servers import empty_database
from polling import wait_until
from sqlalchemy import select, update

from app.core.jobs import submission
from app.core.jobs.jobs import Job
from app.core.jobs.submission import Freshness
from app.domain.kinds import Kind
from app.infra import database_clock

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

    def reveal(self, count: int) -> tuple[list[Answer], list[Job]]:
        """Reveal `count` stored contacts one after the other; return the responses and the jobs."""
        _workspace, token = self.stack.workspace()
        answers = [
            self.stack.call(
                *("POST", "/api/ext/reveal/email", {"subject": {"contact_id": contact_id}}),
                Authorization=token,
                Prefer="wait=20",
            )
            for contact_id in self.stack.contacts(count)
        ]
        with self.stack.database.reading() as session:
            made = select(Job).where(Job.id.in_([answer.body["job"]["id"] for answer in answers]))
            return answers, list(session.scalars(made))

    def open_jobs(self, count: int, *, due_in: timedelta) -> list[str]:
        """Submit `count` jobs without publishing messages; return the jobs' ids."""
        workspace_id, _token = self.stack.workspace()
        ids, now = [], database_clock.now()
        with self.stack.database.transaction() as session:
            for number in range(count):
                request = {"kind": "website", "hashes": [f"{number:064x}"]}
                question = a_question(
                    workspace_id, str(number), kind=Kind.COMPANY_BY_HASH, price=0, request=request
                )
                deadline = timedelta(minutes=10)
                job = submission.submit(session, question, freshness=FRESH, deadline=deadline, now=now).job
                ids.append(job.id)
            session.execute(update(Job).where(Job.id.in_(ids)).values(run_after=now + due_in))
        return ids

    def statuses(self, job_ids: list[str]) -> set[str]:
        with self.stack.database.reading() as session:
            return set(session.scalars(select(Job.status).where(Job.id.in_(job_ids))))

    def refused(self) -> float:
        """Return how many messages the worker has refused because the job was not due."""
        text = self.stack.call("GET", "/metrics").body.decode()
        return float(
            re.findall(r'^ext_messages_refused_total\{.*reason="not_due"\} (.*)$', text, re.MULTILINE)[0]
        )

    def until_swept(self) -> None:
        """Wait until the sweeper has republished a job whose message was lost."""
        lost = self.open_jobs(1, due_in=timedelta(minutes=-1))
        wait_until(lambda: self.statuses(lost) == {"succeeded"})


@pytest.fixture(scope="module")
def _started(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Clocks]:
    folder = tmp_path_factory.mktemp("clocks")
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "e2e" / "wrong_clock")])
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"clocks_{worker_id}"))
        stack = stop.enter_context(
            running(
                folder,
                url,
                PYTHONPATH=path,
                CLOCK_FOLDER=str(folder),
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
def test_reveals_are_done_by_their_first_message_however_wrong_a_clock_is(
    clocks: Clocks, process: str, seconds: float
) -> None:
    clocks.set(process, seconds)

    answers, jobs = clocks.reveal(REVEALS)

    assert {answer.status for answer in answers} == {200}
    assert {(job.status, job.publishes, job.attempts, job.crashes) for job in jobs} == {
        ("succeeded", 0, 1, 0)
    }


@pytest.mark.parametrize("process", PROCESSES)
def test_reveals_are_done_by_their_first_message_while_a_clock_jumps(clocks: Clocks, process: str) -> None:
    jobs = []
    for seconds in (HOUR, -0.2, -HOUR, 0.2, 1.0, -1.0):
        clocks.set(process, seconds)
        jobs += clocks.reveal(1)[1]

    assert {(job.status, job.publishes) for job in jobs} == {("succeeded", 0)}
    assert clocks.refused() == 0


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_no_open_job_expires_when_the_clock_of_the_worker_jumps(clocks: Clocks, seconds: float) -> None:
    waiting = clocks.open_jobs(20, due_in=timedelta(minutes=5))

    clocks.set("worker", seconds)
    clocks.until_swept()
    clocks.until_swept()

    assert clocks.statuses(waiting) == {"queued"}


def test_after_all_processes_were_stopped_for_a_while_reveals_are_done_by_their_first_message(
    clocks: Clocks,
) -> None:
    assert clocks.stack.web is not None
    groups = [clocks.stack.web.pid, *(worker.pid for worker in clocks.stack.workers)]

    for _ in range(3):
        with _stopped(groups):
            clocks.stack.contacts(20)  # takes some time
        _answers, jobs = clocks.reveal(2)

        assert {(job.status, job.publishes) for job in jobs} == {("succeeded", 0)}


def test_jobs_are_listed_in_the_order_in_which_they_were_asked_while_the_clock_jumps(clocks: Clocks) -> None:
    _workspace, token = clocks.stack.workspace()
    asked = []
    for contact_id, seconds in zip(clocks.stack.contacts(4), (0, HOUR, -HOUR, 1.0), strict=True):
        clocks.set("web", seconds)
        body = {"subject": {"contact_id": contact_id}}
        answer = clocks.stack.call("POST", "/api/ext/reveal/email", body, Authorization=token)
        asked.append(answer.body["job"]["id"])

    listed, cursor = [], ""
    while cursor is not None:
        page = clocks.stack.call("GET", f"/api/ext/jobs?limit=1{cursor}", Authorization=token).body
        listed += [job["id"] for job in page["jobs"]]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"

    assert listed == asked[::-1]
    assert sorted(asked) != asked  # ids are generated from the API's clock


@pytest.mark.parametrize(("process", "seconds"), [("worker", -HOUR), ("web", HOUR)])
def test_clocks_that_differ_are_reported_and_the_service_stays_ready(
    clocks: Clocks, process: str, seconds: float
) -> None:
    clocks.set(process, seconds)

    answer = wait_until(lambda: _warned(clocks.stack))

    assert (answer.status, answer.body["status"]) == (200, "ok")
    assert "synchronize both with NTP" in answer.body["detail"]


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("seconds", [-HOUR, HOUR])
def test_a_session_lasts_as_long_as_the_database_says(clocks: Clocks, process: str, seconds: float) -> None:
    _workspace, token = clocks.stack.workspace()

    clocks.set(process, seconds)

    answer = clocks.stack.call("GET", "/api/ext/session", Authorization=token)
    listed = clocks.stack.call("GET", "/api/sessions", Authorization=token)
    assert (answer.status, listed.status, len(listed.body["sessions"])) == (200, 200, 1)


@contextmanager
def _stopped(groups: list[int]) -> Iterator[None]:
    try:
        for group in groups:
            os.killpg(group, signal.SIGSTOP)
        yield
    finally:
        for group in groups:
            os.killpg(group, signal.SIGCONT)


def _warned(stack: Stack) -> Answer | None:
    answer = stack.call("GET", "/readyz")
    return answer if answer.body["checks"]["clocks"] == "differ" else None
