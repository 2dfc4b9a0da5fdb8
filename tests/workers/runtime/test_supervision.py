from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from app.core.queues.worker_heartbeats import WorkerState
from workers.execution import shutdown_flag
from workers.runtime import supervision
from workers.runtime.activity import RunningTask
from workers.runtime.supervision import DISCONNECTED_SAMPLES, STALLED_SAMPLES, HealthEvaluator, HealthSample

CALM = HealthSample(at=0, waiting=0, taken=0, is_idle=True, is_connected=True, is_stuck=False)
STARVING = replace(CALM, waiting=3)
LONG = supervision.STUCK_LEASES * 20 + 1


def verdicts(judge: HealthEvaluator, looks: Iterable[HealthSample]) -> list[str | None]:
    """Return the verdict on each sample, as if taken one second apart."""
    return [judge.verdict(replace(look, at=float(second))) for second, look in enumerate(looks)]


def test_a_worker_that_takes_no_message_though_it_could_must_end() -> None:
    found = verdicts(HealthEvaluator(), [STARVING] * (STALLED_SAMPLES + 1))

    assert found[:-1] == [None] * STALLED_SAMPLES
    assert found[-1] == "messages are waiting and threads are idle, but none is received"


@pytest.mark.parametrize(
    "otherwise",
    [
        {"waiting": 0},
        {"waiting": None},
        {"is_idle": False},
        {"taken": 1},
    ],
    ids=["empty", "redis_away", "busy", "taken"],
)
def test_one_look_that_shows_a_reason_begins_the_count_again(otherwise: dict[str, int | None]) -> None:
    once = replace(STARVING, **otherwise)  # type: ignore[arg-type]
    looks = [STARVING] * STALLED_SAMPLES + [once] + [STARVING] * STALLED_SAMPLES

    assert verdicts(HealthEvaluator(), looks) == [None] * len(looks)


def test_while_redis_is_away_no_worker_ends() -> None:
    away = replace(CALM, waiting=None, is_connected=False)

    assert set(verdicts(HealthEvaluator(), [away] * 1000)) == {None}


def test_a_process_that_was_stopped_for_a_while_is_not_judged_by_it() -> None:
    judge = HealthEvaluator()
    found = [judge.verdict(replace(STARVING, at=20.0 * number)) for number in range(20)]

    assert set(found) == {None}


def test_a_worker_whose_threads_all_hang_must_end() -> None:
    assert HealthEvaluator().verdict(replace(CALM, is_stuck=True)) == "all threads hang"


def test_a_worker_works_from_the_moment_it_consumes() -> None:
    judge = HealthEvaluator()
    before = judge.state

    verdicts(judge, [CALM])

    assert (before, judge.state) == (WorkerState.WITHOUT_QUEUE, WorkerState.WORKING)


@pytest.mark.parametrize(
    "look",
    [replace(CALM, waiting=None), replace(CALM, is_connected=False), STARVING],
    ids=["redis_away", "not_connected", "starving"],
)
def test_it_says_so_if_it_does_not_consume(look: HealthSample) -> None:
    judge = HealthEvaluator()

    verdicts(judge, [CALM, *[look] * (DISCONNECTED_SAMPLES + 1)])

    assert judge.state is WorkerState.WITHOUT_QUEUE


def test_one_slow_answer_of_redis_is_not_the_end_of_consuming() -> None:
    judge = HealthEvaluator()

    verdicts(judge, [CALM, *[replace(CALM, waiting=None)] * (DISCONNECTED_SAMPLES - 1)])

    assert judge.state is WorkerState.WORKING


def test_a_worker_that_was_told_to_end_is_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_threads_hang_if_all_are_busy_for_long_and_nobody_renews_a_lease(
    running: list[RunningTask], held: int, *, stuck: bool
) -> None:
    assert supervision.is_stuck(running, 2, lambda _job_ids: held, 20) is stuck
