"""A workspace with many requests takes turns: one waits until the job of the one before is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from apiflask import APIFlask
from polling import wait_until
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.server import bulkhead
from app.server.bulkhead import CROWD
from app.web.jobs import job_requests
from app.web.services import AppServices

PATIENT, IMPATIENT = 25, 0
"""Preferred waits in seconds."""


@pytest.fixture
def services(app: APIFlask, monkeypatch: pytest.MonkeyPatch) -> AppServices:
    """Return services that another workspace used just now, so that a workspace has one turn."""
    monkeypatch.setattr(job_requests, "TURN_SECONDS", 60)
    monkeypatch.setattr(bulkhead, "CROWD_SECONDS", 600)
    app_services: AppServices = app.extensions["services"]
    with app_services.bulkhead.turn("wks_other"), app_services.listener.subscribe("job_other") as woken:
        wait_until(woken.is_set)  # the connection to Redis, which wakes all requests, is there
    return app_services


@pytest.fixture
def published(services: AppServices, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ids of the jobs in the order in which they were published."""
    job_ids: list[str] = []

    def publish(_kind: object, ids: list[str]) -> bool:
        job_ids.extend(ids)
        return True

    monkeypatch.setattr(services.publisher, "publish", publish)
    return job_ids


@pytest.fixture
def request_company(
    user: SignedInUser, services: AppServices
) -> Iterator[Callable[[str, int], Future[TestResponse]]]:
    """Return a function that requests the company with a hash of this digit, as one of many requests."""
    services.bulkhead._crowds.note(user.workspace_id, CROWD)  # noqa: SLF001 -- instead of that many requests
    with ThreadPoolExecutor() as pool:

        def request(digit: str, wait: int) -> Future[TestResponse]:
            return pool.submit(
                user.client.application.test_client().post,
                "/api/ext/company-by-hash",
                json={"hash": digit * 64},
                headers=user.headers | {"Prefer": f"wait={wait}"},
            )

        yield request


def holders(services: AppServices) -> list[str]:
    return list(services.bulkhead._turns._held)  # noqa: SLF001


def queue(services: AppServices) -> list[str]:
    return list(services.bulkhead._turns._queues)  # noqa: SLF001


@pytest.mark.parametrize("wait", [PATIENT, IMPATIENT])
def test_a_submission_waits_for_the_job_of_the_one_before(
    services: AppServices,
    published: list[str],
    request_company: Callable[[str, int], Future[TestResponse]],
    wait: int,
) -> None:
    first = request_company("a", wait)
    wait_until(lambda: published)
    second = request_company("b", IMPATIENT)
    wait_until(lambda: queue(services))
    before = len(published)

    services.listener._wake(published[0])  # noqa: SLF001 -- as a notification from Redis does

    wait_until(lambda: len(published) == before + 1)
    services.listener.close()  # ends all waits
    assert before == 1
    assert {first.result().status_code, second.result().status_code} == {202}
    wait_until(lambda: not holders(services))


def test_a_slow_job_delays_the_next_submission_no_longer_than_a_turn(
    services: AppServices,
    published: list[str],
    request_company: Callable[[str, int], Future[TestResponse]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_requests, "TURN_SECONDS", 0.01)
    slow = request_company("a", PATIENT)
    wait_until(lambda: published)

    assert request_company("b", IMPATIENT).result().status_code == 202

    assert not slow.done()
    services.listener.close()


def test_a_request_that_joins_a_job_keeps_no_turn(
    services: AppServices,
    published: list[str],
    request_company: Callable[[str, int], Future[TestResponse]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_requests, "TURN_SECONDS", 0.01)
    request_company("a", IMPATIENT).result()
    wait_until(lambda: not holders(services))
    monkeypatch.setattr(job_requests, "TURN_SECONDS", 60)

    joined = request_company("a", PATIENT)
    request_company("b", IMPATIENT).result()

    assert not joined.done()
    services.listener.close()
    assert len(published) == 2


def test_an_enrichment_keeps_no_turn(services: AppServices, published: list[str], user: SignedInUser) -> None:
    items = [{"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}}]
    body = {"entity": "person", "items": items, "fields": ["email"]}
    headers = user.headers | {"Prefer": "wait=0"}

    response = user.client.post("/api/ext/enrichment-request", json=body, headers=headers)

    assert (response.status_code, len(published), holders(services)) == (202, 1, [])


def test_a_job_that_is_not_published_keeps_no_turn(
    services: AppServices,
    request_company: Callable[[str, int], Future[TestResponse]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services.publisher, "publish", lambda _kind, _ids: False)

    assert request_company("a", IMPATIENT).result().status_code == 202

    assert holders(services) == []
