from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import pytest

from app.domain.kinds import Queue
from workers.runtime import priority


def in_child(work: Callable[[], int]) -> int:
    """Return the result of the work, 0 to 255, in a child process: a priority cannot be raised again."""
    if (pid := os.fork()) == 0:
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize(
    ("queues", "added"),
    [
        ([Queue.ENRICHMENT], priority.NICENESS),
        ([Queue.UPKEEP], priority.NICENESS),
        ([Queue.ENRICHMENT, Queue.UPKEEP], priority.NICENESS),
        ([Queue.INTERACTIVE], 0),
        ([Queue.PROVIDERS], 0),
        (list(Queue), 0),
    ],
)
def test_a_worker_without_clicks_has_a_lower_priority(queues: Sequence[str], added: int) -> None:
    def niceness() -> int:
        before = os.nice(0)
        priority.set_for(queues)
        return os.nice(0) - before

    assert in_child(niceness) == added
