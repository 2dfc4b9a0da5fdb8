from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from polling import wait_until
from supervised_support import SupervisedWorkers, supervised_workers

from app.domain.kinds import Status
from app.engine.jobs import jobs

SECONDS = 40.0
"""The limit for the next job after any fault; it only detects hangs. Measured: 2 s; 17 s after a hang."""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SupervisedWorkers]:
    """One supervised worker with a low limit for stalls; it is restarted when it ends."""
    with supervised_workers(tmp_path_factory.mktemp("worker"), "one", STALLED_SAMPLES="2") as workers:
        yield workers


def freeze_redis(worker: SupervisedWorkers) -> None:
    os.kill(worker.redis.pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(worker.redis.pid, signal.SIGCONT)


def disconnect_the_consumer(worker: SupervisedWorkers) -> None:
    for client in worker.client.client_list():
        if client["cmd"] == "brpop":
            worker.client.client_kill(client["addr"])


def flush_redis(worker: SupervisedWorkers) -> None:
    worker.client.flushall()


@pytest.mark.parametrize(
    "fault", [*[SupervisedWorkers.restart_redis] * 5, freeze_redis, disconnect_the_consumer, flush_redis]
)
def test_the_job_after_a_redis_fault_is_done(
    worker: SupervisedWorkers, fault: Callable[[SupervisedWorkers], None]
) -> None:
    worker.seconds_until_done(worker.submit(), SECONDS)

    fault(worker)
    job_id = worker.submit()

    assert worker.seconds_until_done(job_id, SECONDS) < SECONDS


def test_a_lost_message_is_republished(worker: SupervisedWorkers) -> None:
    job_id = worker.submit(publish=False)

    assert worker.seconds_until_done(job_id, SECONDS) < SECONDS


def test_a_worker_whose_consumer_hangs_exits_and_its_successor_does_the_job(
    worker: SupervisedWorkers,
) -> None:
    before = worker.pid
    (worker.folder / "hang").touch()
    wait_until(lambda: not (worker.folder / "hang").exists())

    job_id = worker.submit()
    worker.seconds_until_done(job_id, SECONDS)

    assert worker.pid != before
    assert "messages are waiting and threads are idle, but none is received" in worker.log()


@pytest.mark.parametrize(("pool", "count"), [("threads", 50), ("prefork", 20)])
def test_a_worker_exits_on_sigterm_and_another_finishes_its_jobs(
    tmp_path: Path, pool: str, count: int
) -> None:
    with supervised_workers(tmp_path, "one", "two", pool=pool, PROVIDER_SECONDS="0.1") as workers:
        request = workers.enrichment(count)
        wait_until(lambda: len(workers.provider_requests()) > 5)
        stopped = workers.worker_of(workers.provider_requests()[0][0])
        reveals = [workers.reveal(f"Cy Dee{number}") for number in range(10)]

        started = time.monotonic()
        os.kill(stopped.pid, signal.SIGTERM)
        wait_until(lambda: stopped.poll() is not None)
        ended = time.monotonic()
        workers.wait_until_done(request, *reveals)

        assert ended - started < 10
        assert {workers.job(job_id).status for job_id in (request, *reveals)} == {Status.SUCCEEDED}
        done = workers.job(request)
        assert (done.charged, done.attempts, done.crashes) == (count, 1, 0)
        assert set(Counter(text for _pid, text in workers.provider_requests()).values()) == {1}
        with workers.database.reading() as session:
            assert {item.charged for item in jobs.items(session, request)} == {1}
