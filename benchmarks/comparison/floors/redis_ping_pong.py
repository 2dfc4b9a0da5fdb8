"""Two processes that pass a message through Redis and back, with LPUSH and BRPOP: the floor of any queue."""

from __future__ import annotations

import os
import sys
from typing import Any

from redis import Redis

from benchmarks.comparison.floors.round_trips import RoundTrip, measure

THERE, BACK = "there", "back"


def connect() -> Redis:
    """Return a connection that waits as long as it takes."""
    return Redis.from_url(os.environ["SYSTEM_REDIS"], socket_timeout=None)


def echo() -> None:
    """Send every message back."""
    redis = connect()
    while True:
        redis.lpush(BACK, _pop(redis, THERE))


def prepare(_plan: dict[str, Any]) -> RoundTrip:
    """Return the round trip of the process that asks."""
    redis = connect()
    redis.delete(THERE, BACK)

    def round_trip(number: int) -> bool:
        redis.lpush(THERE, number)
        return _pop(redis, BACK) == str(number).encode()

    round_trip(0)
    return round_trip


def _pop(redis: Redis, name: str) -> bytes:
    """Wait for a message, and return it."""
    reply: Any = redis.brpop([name])
    return bytes(reply[1])


if __name__ == "__main__":
    echo() if sys.argv[1:] == ["echo"] else measure(prepare)
