from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from jobs_support import a_question, a_workspace, at_once, figures
from sqlalchemy import func, select

from app.domain.errors import InsufficientCredits
from app.engine.jobs import group_submission, submission
from app.engine.jobs.idempotency import Claim
from app.engine.jobs.jobs import Job
from app.engine.jobs.submission import JobRequest, Submission
from app.engine.jobs.submitter import JobSubmitter, Submitted
from app.infra import grouping
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.infra.database.lock_limits import Locked
from app.infra.database.session import Session
from app.settings import Settings


@dataclass
class Queue:
    """The messages that were published, in place of a broker."""

    is_there: bool = True
    sent: list[list[str]] = field(default_factory=list)

    def publish(self, _kind: str, job_ids: list[str]) -> bool:
        self.sent.append(job_ids)
        return self.is_there


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    queue = Queue()
    monkeypatch.setattr(JobPublisher, "publish", lambda _publisher, kind, ids: queue.publish(kind, ids))
    return queue


@pytest.fixture
def submitter(database: Database, settings: Settings, queue: Queue) -> JobSubmitter:
    publisher = JobPublisher(settings.redis_url)
    return JobSubmitter(database, publisher, settings, lambda _workspace_id: nullcontext())


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The sizes of the groups; a lone request takes so long that others gather."""
    sizes: list[int] = []
    alone, together = submission.submit, group_submission.submit_all

    def slow(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.05)
        return alone(*arguments, **options)

    def noted(session: Session, items: Sequence[Any], **options: Any) -> Any:
        sizes.append(len(items))
        return together(session, items, **options)

    monkeypatch.setattr(grouping, "PATIENCE_SECONDS", 30)  # however busy the machine is
    monkeypatch.setattr(submission, "submit", slow)
    monkeypatch.setattr(group_submission, "submit_all", noted)
    yield sizes
    assert sizes


def submit_all(submitter: JobSubmitter, items: Sequence[Submission]) -> list[Submitted | type[Exception]]:
    """Submit the requests at the same time, and return the result of each, or its error."""

    def submit(number: int) -> Submitted | type[Exception]:
        try:
            return submitter.submit(items[number])
        except InsufficientCredits as error:
            return type(error)

    return at_once(len(items), submit)


def workspaces_of(database: Database, *grants: int) -> list[str]:
    with database.transaction() as session:
        return [a_workspace(session, grant=grant) for grant in grants]


def test_concurrent_requests_have_a_job_each_and_one_message_each(
    database: Database, submitter: JobSubmitter, queue: Queue, groups: list[int]
) -> None:
    mine, theirs = workspaces_of(database, 10, 10)
    requests = [a_question((mine, theirs)[number % 2], f"person {number}") for number in range(8)]

    results = submit_all(submitter, [Submission(request) for request in requests])

    assert max(groups) > 1
    assert all(isinstance(result, Submitted) and result.result.is_new for result in results)
    assert sorted(id_ for ids in queue.sent for id_ in ids) == sorted(request.job_id for request in requests)
    with database.reading() as session:
        assert [figures(session, id_) for id_ in (mine, theirs)] == [(6, 4, 0)] * 2


def test_a_refusal_is_that_of_its_own_request(
    database: Database, submitter: JobSubmitter, groups: list[int]
) -> None:
    poor, rich = workspaces_of(database, 2, 10)
    requests = [a_question((poor, rich)[number % 2], f"person {number}") for number in range(8)]

    results = submit_all(submitter, [Submission(request) for request in requests])

    assert groups
    assert sum(result is InsufficientCredits for result in results[::2]) == 2
    assert all(isinstance(result, Submitted) for result in results[1::2])
    with database.reading() as session:
        assert (figures(session, poor), figures(session, rich)) == ((0, 2, 0), (6, 4, 0))


def test_equal_requests_and_equal_keys_are_one_job(
    database: Database, submitter: JobSubmitter, queue: Queue, groups: list[int]
) -> None:
    (workspace_id,) = workspaces_of(database, 10)

    def keyed(request: JobRequest, key: str) -> Submission:
        return Submission(request, Claim(workspace_id, key, b"body", request.job_id))

    equal = [keyed(a_question(workspace_id, "ada"), f"key {number}") for number in range(4)]
    clicks = [keyed(a_question(workspace_id, f"bob {number}"), "click") for number in range(4)]

    results = submit_all(submitter, equal + clicks)

    assert groups
    jobs = [result.result.job.id for result in results if isinstance(result, Submitted)]
    assert (len(set(jobs[:4])), len(set(jobs[4:])), len(jobs)) == (1, 1, 8)
    assert sum(isinstance(result, Submitted) and result.replayed for result in results) == 3
    assert len([id_ for ids in queue.sent for id_ in ids]) == 2
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 2
        assert figures(session, workspace_id) == (8, 2, 0)


def test_jobs_that_the_broker_does_not_have_are_not_published(
    database: Database, submitter: JobSubmitter, queue: Queue, groups: list[int]
) -> None:
    (workspace_id,) = workspaces_of(database, 10)
    queue.is_there = False

    results = submit_all(
        submitter, [Submission(a_question(workspace_id, str(number))) for number in range(6)]
    )

    assert groups
    assert [isinstance(result, Submitted) and result.is_published for result in results] == [False] * 6


def test_after_a_lock_that_lasts_each_request_is_submitted_alone(
    database: Database, submitter: JobSubmitter, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace_id,) = workspaces_of(database, 10)
    together = group_submission.submit_all

    def locked(*arguments: Any, **options: Any) -> Any:
        together(*arguments, **options)  # what it wrote is rolled back
        raise Locked

    monkeypatch.setattr(group_submission, "submit_all", locked)

    results = submit_all(
        submitter, [Submission(a_question(workspace_id, str(number))) for number in range(6)]
    )

    assert groups
    assert all(isinstance(result, Submitted) and result.result.is_new for result in results)
    with database.reading() as session:
        assert figures(session, workspace_id) == (4, 6, 0)
