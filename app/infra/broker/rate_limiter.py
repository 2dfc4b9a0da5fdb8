"""Rate limits, counted in Redis for all processes, or in each process while Redis is unavailable."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage, RedisStorage
from redis import Redis
from redis.exceptions import RedisError

from app.infra.broker import redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.telemetry.log import log

# While Redis is unavailable, each process allows at most 1/4 of the shared limit.
LOCAL_SHARE = 4
Window: TypeAlias = tuple[int, float, int, float]
"""The requests of the previous window, the seconds until they no longer count, and this window's requests."""
_HIT_AND_READ = b"""
local function hit()
%s
end
local function read(ARGV)
%s
end
local allowed = hit()
return {allowed and 1 or 0, unpack(read({ARGV[2]}))}
""" % (RedisStorage.SCRIPT_ACQUIRE_SLIDING_WINDOW, RedisStorage.SCRIPT_SLIDING_WINDOW)
"""Two scripts of the library in one, since a round trip costs more than both of them."""


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """The state of a limit: `quota` requests per `window` seconds, `remaining` now, a reset in `reset` s."""

    allowed: bool
    quota: int
    window: int
    remaining: int
    reset: int


class _SharedStorage(RedisStorage):
    """The counts in Redis, which are read in the round trip that counts a request."""

    def __init__(self, url: str, client: Redis) -> None:
        super().__init__(url, connection_pool=client.connection_pool)
        self._hit_and_read = client.register_script(_HIT_AND_READ)

    def hit(self, key: str, limit: int, expiry: int) -> tuple[bool, Window]:
        """Count a request unless the limit is reached; return whether it was, and the window."""
        keys = [self._previous_window_key(key), self._current_window_key(key)]
        allowed, *window = self._hit_and_read(list(map(self.prefixed_key, keys)), [limit, expiry, 1])
        previous, previous_ms, current, current_ms = (max(0, int(value or 0)) for value in window)
        return bool(allowed), (previous, previous_ms / 1000, current, current_ms / 1000)


class _LocalStorage(MemoryStorage):
    """The counts of this process."""

    def hit(self, key: str, limit: int, expiry: int) -> tuple[bool, Window]:
        """Count as `_SharedStorage` does."""
        allowed = self.acquire_sliding_window_entry(key, limit, expiry)
        return allowed, self.get_sliding_window(key, expiry)


class Limiter:
    """Counts requests in sliding windows; it never raises, blocks for long or stops limiting.

    `processes` is the number of processes that share the limits. While they cannot share them, together they
    still allow no more than the limit.
    """

    def __init__(self, redis_url: str, processes: int = 1) -> None:
        self._redis = redis_client.guarded(redis_url)
        self._shared = _SharedStorage(redis_url, self._redis.client)
        self._share = max(LOCAL_SHARE, processes)
        self._lock = threading.Lock()
        """For the counts of this process: their storage loses one that two threads touch at once."""

    @cached_property
    def _local(self) -> _LocalStorage:
        """The counts of this process. It starts a thread, which a forked process would lose."""
        return _LocalStorage()

    def hit(self, rate: str, *key: str) -> LimitStatus:
        """Count a request unless the limit is reached, and return the status; `rate` is like `600/minute`."""
        return self._status(_parsed(rate), key, count=True)

    def peek(self, rate: str, *key: str) -> LimitStatus:
        """Return the status without counting."""
        return self._status(_parsed(rate), key, count=False)

    def _status(self, item: RateLimitItem, key: tuple[str, ...], *, count: bool) -> LimitStatus:
        try:
            with self._redis.breaker:
                return _status_of(self._shared, item, key, count=count)
        except CircuitOpen:
            pass
        except (RedisError, OSError) as error:
            log.warning("rate limits counted without Redis", error=type(error).__name__)
        with self._lock:
            return _status_of(self._local, _reduced(item, self._share), key, count=count)


def _status_of(
    storage: _SharedStorage | _LocalStorage, item: RateLimitItem, key: tuple[str, ...], *, count: bool
) -> LimitStatus:
    """Count a request, if it is to be, and return the status as the library's sliding windows define it."""
    name, seconds = item.key_for(*key), item.get_expiry()
    if count:
        allowed, window = storage.hit(name, item.amount, seconds)
    else:
        allowed, window = True, storage.get_sliding_window(name, seconds)
    previous, previous_seconds, current, current_seconds = window
    remaining = max(0, item.amount - math.floor(previous * previous_seconds / seconds + current))
    resets = [previous_seconds % (seconds / previous)] if previous else []
    resets += [current_seconds % seconds or seconds] if current else []
    return LimitStatus(
        allowed=allowed if count else remaining > 0,
        quota=item.amount,
        window=seconds,
        remaining=remaining,
        reset=max(1, math.ceil(min(resets, default=0))),
    )


@cache
def _parsed(rate: str) -> RateLimitItem:
    return parse(rate)


@cache
def _reduced(item: RateLimitItem, share: int) -> RateLimitItem:
    return type(item)(max(1, item.amount // share), item.multiples, item.namespace)
