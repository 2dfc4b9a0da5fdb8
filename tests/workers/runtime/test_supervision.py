from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from app.engine.queues.worker_heartbeats import WorkerState
from workers.execution import shutdown_flag
from workers.runtime import supervision
from workers.runtime.activity import RunningTask
from workers.runtime.supervision import DISCONNECTED_SAMPLES, STALLED_SAMPLES, HealthEvaluator, HealthSample

HEALTHY = HealthSample(sampled_at=0, waiting=0, received=0, is_idle=True, is_connected=True, is_stuck=False)
STALLED = replace(HEALTHY, waiting=3)
LONG = supervision.STUCK_LEASES * 20 + 1


def verdicts(evaluator: HealthEvaluator, samples: Iterable[HealthSample]) -> list[str | None]:
    """Return the verdict on each sample, as if taken one second apart."""
    return [
        evaluator.verdict(replace(sample, sampled_at=float(second))) for second, sample in enumerate(samples)
    ]


def test_a_worker_that_receives_no_waiting_message_must_exit() -> None:
    reasons = verdicts(HealthEvaluator(), [STALLED] * (STALLED_SAMPLES + 1))

    assert reasons[:-1] == [None] * STALLED_SAMPLES
    assert reasons[-1] == "messages are waiting and threads are idle, but none is received"


@pytest.mark.parametrize(
    "change",
    [
        {"waiting": 0},
        {"waiting": None},
        {"is_idle": False},
        {"received": 1},
    ],
    ids=["empty", "redis_away", "busy", "received"],
)
def test_one_healthy_sample_restarts_the_count(change: dict[str, int | None]) -> None:
    exception = replace(STALLED, **change)  # type: ignore[arg-type]
    samples = [STALLED] * STALLED_SAMPLES + [exception] + [STALLED] * STALLED_SAMPLES

    assert verdicts(HealthEvaluator(), samples) == [None] * len(samples)


def test_no_worker_exits_while_redis_is_down() -> None:
    away = replace(HEALTHY, waiting=None, is_connected=False)

    assert set(verdicts(HealthEvaluator(), [away] * 1000)) == {None}


def test_samples_far_apart_are_not_compared() -> None:
    evaluator = HealthEvaluator()
    reasons = [evaluator.verdict(replace(STALLED, sampled_at=20.0 * number)) for number in range(20)]

    assert set(reasons) == {None}


def test_a_worker_whose_threads_all_hang_must_exit() -> None:
    assert HealthEvaluator().verdict(replace(HEALTHY, is_stuck=True)) == "all threads hang"


def test_a_worker_is_working_once_it_consumes() -> None:
    evaluator = HealthEvaluator()
    before = evaluator.state

    verdicts(evaluator, [HEALTHY])

    assert (before, evaluator.state) == (WorkerState.WITHOUT_QUEUE, WorkerState.WORKING)


@pytest.mark.parametrize(
    "sample",
    [replace(HEALTHY, waiting=None), replace(HEALTHY, is_connected=False), STALLED],
    ids=["redis_away", "not_connected", "starving"],
)
def test_a_worker_that_does_not_consume_is_without_queue(sample: HealthSample) -> None:
    evaluator = HealthEvaluator()

    verdicts(evaluator, [HEALTHY, *[sample] * (DISCONNECTED_SAMPLES + 1)])

    assert evaluator.state is WorkerState.WITHOUT_QUEUE


def test_a_single_slow_reply_of_redis_does_not_change_the_state() -> None:
    evaluator = HealthEvaluator()

    verdicts(evaluator, [HEALTHY, *[replace(HEALTHY, waiting=None)] * (DISCONNECTED_SAMPLES - 1)])

    assert evaluator.state is WorkerState.WORKING


def test_a_worker_that_shuts_down_is_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutdown_flag, "has_begun", lambda: True)

    assert HealthEvaluator().state is WorkerState.STOPPING


@pytest.mark.parametrize(
    ("running", "held", "stuck"),
    [
        ([RunningTask("job_a", LONG), RunningTask("job_b", LONG)], 0, True),
        ([RunningTask("job_a", LONG), RunningTask("job_b", LONG)], 1, False),
        ([RunningTask("job_a", LONG), RunningTask("job_b", 1)], 0, False),
        ([RunningTask("job_a", LONG)], 0, False),
        ([RunningTask("job_a", LONG), RunningTask(None, LONG)], 0, False),
        ([RunningTask("job_a", LONG), RunningTask(None, supervision.STUCK_UPKEEP_SECONDS + 1)], 0, True),
    ],
    ids=["all", "one_renews_its_lease", "one_is_young", "one_is_idle", "upkeep_takes_longer", "upkeep_too"],
)
def test_a_worker_is_stuck_if_all_threads_are_overdue_and_no_lease_is_renewed(
    running: list[RunningTask], held: int, *, stuck: bool
) -> None:
    assert supervision.is_stuck(running, 2, lambda _job_ids: held, 20) is stuck
