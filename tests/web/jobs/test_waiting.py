"""Waiting for a job: the limit of waiting requests, and what happens to them when the process ends."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, ExitStack
from typing import NoReturn

import pytest
from apiflask import APIFlask
from polling import wait_until
from sqlalchemy import update
from users_support import SignedInUser

from app.domain.errors import Unavailable
from app.engine.jobs import jobs
from app.engine.jobs.jobs import Job
from app.infra import clock
from app.infra.broker.job_notifications import CHANNEL
from app.server import bulkhead
from app.server.bulkhead import MAX_WRITES
from app.web.jobs import waiting
from app.web.services import AppServices


@pytest.fixture
def services(app: APIFlask) -> AppServices:
    app_services: AppServices = app.extensions["services"]
    return app_services


def ask(user: SignedInUser, wait: int = 25) -> tuple[int, str | None, float]:
    started = time.monotonic()
    headers = user.headers | {"Prefer": f"wait={wait}"}
    response = user.client.post("/api/ext/company-by-hash", json={"hash": "a" * 64}, headers=headers)
    return response.status_code, response.headers.get("Preference-Applied"), time.monotonic() - started


def finish(services: AppServices, job_id: str) -> None:
    """Finish the job without a notification."""
    values = {"status": "succeeded", "outcome": "not_found", "finished_at": clock.now()}
    with services.database.transaction() as session:
        session.execute(update(Job).where(Job.id == job_id).values(values))


def start_listening(user: SignedInUser, services: AppServices) -> None:
    """Let the listener subscribe, which wakes every request, with a job that is finished afterwards."""
    ask(user, wait=0)
    job = user.client.get("/api/ext/jobs", headers=user.headers).get_json()["jobs"][0]
    finish(services, job["id"])
    client = services.publisher._redis.client  # noqa: SLF001 -- the tests' Redis server
    wait_until(lambda: client.pubsub_numsub(CHANNEL)[0][1])


def test_without_a_free_wait_slot_the_response_is_immediate(
    user: SignedInUser, services: AppServices
) -> None:
    services.bulkhead.max_waiters = 0

    status, applied, seconds = ask(user)

    assert (status, applied) == (202, None)
    assert seconds < 10


def test_with_a_free_wait_slot_the_request_waits(user: SignedInUser) -> None:
    status, applied, seconds = ask(user, wait=1)

    assert (status, applied) == (202, "wait=1")
    assert seconds >= 1


def test_a_job_that_finishes_before_the_subscription_is_not_waited_for(
    user: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(user, wait=0)
    listen = services.listener.subscribe

    def end_and_listen(job_id: str) -> AbstractContextManager[threading.Event]:
        finish(services, job_id)
        return listen(job_id)

    monkeypatch.setattr(services.listener, "subscribe", end_and_listen)

    status, _applied, seconds = ask(user)

    assert status == 200
    assert seconds < 10


def test_a_new_job_that_finishes_before_its_message_is_sent_is_not_waited_for(
    user: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message of another job may lead a worker to it as soon as it is committed."""
    monkeypatch.setattr("app.web.jobs.waiting.CHECK_SECONDS", 60)
    start_listening(user, services)

    def finish_at_once(_kind: object, job_ids: list[str]) -> bool:
        finish(services, job_ids[0])
        services.listener._wake(job_ids)  # noqa: SLF001 -- as a notification from Redis does
        return True

    monkeypatch.setattr(services.publisher, "publish", finish_at_once)

    status, _applied, seconds = ask(user)

    assert status == 200
    assert seconds < 10


def test_a_job_whose_notification_is_lost_is_found_finished_during_the_wait(
    user: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.jobs.waiting.CHECK_SECONDS", 0.05)

    def finish_without_notification(_kind: object, job_ids: list[str]) -> bool:
        finish(services, job_ids[0])
        return True

    monkeypatch.setattr(services.publisher, "publish", finish_without_notification)

    status, _applied, seconds = ask(user)

    assert status == 200
    assert seconds < 10


def test_a_check_during_the_wait_that_cannot_read_the_job_does_not_end_the_wait(
    user: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.jobs.waiting.CHECK_SECONDS", 0.05)
    is_open, checks = waiting._is_open, []  # noqa: SLF001 -- the database fails for the first checks only

    def fail_twice(app: AppServices, job: Job) -> bool:
        checks.append(job.id)
        if len(checks) < 3:
            raise Unavailable
        finish(services, job.id)
        return is_open(app, job)

    monkeypatch.setattr(waiting, "_is_open", fail_twice)

    status, _applied, _seconds = ask(user)

    assert (status, len(checks)) == (200, 3)


def test_a_job_that_could_not_be_published_is_published_again_during_the_wait(
    user: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.jobs.waiting.CHECK_SECONDS", 0.05)
    published: list[list[str]] = []

    def fail_twice(_kind: object, job_ids: list[str]) -> bool:
        published.append(job_ids)
        if len(published) < 3:
            return False
        finish(services, job_ids[0])
        return True

    monkeypatch.setattr(services.publisher, "publish", fail_twice)

    status, _applied, _seconds = ask(user)

    assert status == 200
    assert len(published) == 3
    assert published[0] == published[2]


def test_waiting_requests_are_answered_when_the_process_shuts_down(
    user: SignedInUser, services: AppServices
) -> None:
    outcome: list[tuple[int, str | None, float]] = []
    waiting = threading.Thread(target=lambda: outcome.append(ask(user)))
    waiting.start()
    wait_until(lambda: services.listener._waiters)  # noqa: SLF001 -- nothing else shows that a request waits

    services.listener.close()
    waiting.join(10)

    assert outcome[0][0] == 202
    assert outcome[0][2] < 10


def test_requests_that_arrive_during_shutdown_do_not_wait(user: SignedInUser, services: AppServices) -> None:
    services.listener.close()

    status, _applied, seconds = ask(user)

    assert status == 202
    assert seconds < 10


def test_a_submission_without_a_database_slot_gets_503_and_stores_nothing(
    user: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulkhead, "MAX_QUEUE_SECONDS", 0.01)

    with ExitStack() as held_slots:
        for number in range(MAX_WRITES):
            held_slots.enter_context(services.bulkhead.db_slot(f"wks_{number}", to_write=True))
        status, _applied, _seconds = ask(user)

    assert status == Unavailable.status
    assert user.client.get("/api/ext/jobs", headers=user.headers).get_json()["jobs"] == []


def test_an_accepted_job_that_cannot_be_read_is_named_in_the_503(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> NoReturn:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "all_with_balances", fail)
        response = user.client.post(
            "/api/ext/company-by-hash",
            json={"hash": "a" * 64},
            headers=user.headers | {"Prefer": "respond-async"},
        )

    (job,) = user.client.get("/api/ext/jobs", headers=user.headers).get_json()["jobs"]
    assert response.status_code == Unavailable.status
    assert job["id"] in response.get_json()["detail"]
