"""A Celery task that does nothing, and a caller that waits with `get()`: the floor of the usual build."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery

from benchmarks.comparison.floors.round_trips import RoundTrip, measure

TIMEOUT_SECONDS = 30

celery = Celery("floor", broker=os.environ["SYSTEM_REDIS"], backend=os.environ["SYSTEM_REDIS"])
celery.conf.update(result_expires=300, worker_hijack_root_logger=False)


@celery.task(name="same")
def same(number: int) -> int:
    """Return the number."""
    return number


def prepare(_plan: dict[str, Any]) -> RoundTrip:
    """Return the round trip, after the first one, which waits for the worker."""

    def round_trip(number: int) -> bool:
        return bool(same.delay(number).get(timeout=TIMEOUT_SECONDS) == number)

    round_trip(0)
    return round_trip


if __name__ == "__main__":
    measure(prepare)
