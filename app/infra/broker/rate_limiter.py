"""Rate limits, counted in Redis for all processes, or in each process while Redis is unavailable."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias, TypeVar

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage, RedisStorage
from redis.exceptions import NoScriptError, RedisError

from app.infra.broker import redis_client
from app.infra.broker.redis_client import Client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.grouping import Grouped
from app.infra.telemetry.log import log

Counted = TypeVar("Counted")
# While Redis is unavailable, each process allows at most 1/4 of the shared limit.
LOCAL_SHARE = 4
MAX_GROUP = 64
Window: TypeAlias = tuple[int, float, int, float]
"""The requests of the previous window, the seconds until they no longer count, and this window's requests."""
_Hit: TypeAlias = tuple[RateLimitItem, tuple[str, ...]]
"""A limit, and the key of what it limits."""
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
    """The counts in Redis, which are read in the round trip that counts requests."""

    def __init__(self, url: str, client: Client) -> None:
        super().__init__(url, connection_pool=client.connection_pool)
        self._client = client
        self._script = client.register_script(_HIT_AND_READ)

    def hit_all(self, hits: Sequence[_Hit]) -> list[tuple[bool, Window]]:
        """Count each request unless its limit is reached; return whether it was, and the window."""
        commands = [self._command(item.key_for(*key), item.amount, item.get_expiry()) for item, key in hits]
        replies = self._client.execute_all(commands)
        unknown = [index for index, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:  # Redis has restarted, and counted none of them
            self._client.script_load(_HIT_AND_READ)
            again = self._client.execute_all([commands[index] for index in unknown])
            for index, reply in zip(unknown, again, strict=True):
                replies[index] = reply
        return [_counted(reply) for reply in replies]

    def _command(self, key: str, limit: int, expiry: int) -> tuple[Any, ...]:
        keys = [self._previous_window_key(key), self._current_window_key(key)]
        return ("EVALSHA", self._script.sha, 2, *map(self.prefixed_key, keys), limit, expiry, 1)


def _counted(reply: Any) -> tuple[bool, Window]:  # noqa: ANN401 -- the library declares no types of replies
    if isinstance(reply, RedisError):
        raise reply
    allowed, *window = reply
    previous, previous_ms, current, current_ms = (max(0, int(value or 0)) for value in window)
    return bool(allowed), (previous, previous_ms / 1000, current, current_ms / 1000)


class _LocalStorage(MemoryStorage):
    """The counts of this process."""

    def hit(self, item: RateLimitItem, key: tuple[str, ...]) -> tuple[bool, Window]:
        """Count as `_SharedStorage` does."""
        allowed = self.acquire_sliding_window_entry(item.key_for(*key), item.amount, item.get_expiry())
        return allowed, _read(self, item, key)


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
        self._hits = Grouped(self._hit_all, name="rate limit", size=MAX_GROUP)

    @cached_property
    def _local(self) -> _LocalStorage:
        """The counts of this process. It starts a thread, which a forked process would lose."""
        return _LocalStorage()

    def hit(self, rate: str, *key: str) -> LimitStatus:
        """Count a request unless the limit is reached, and return the status; `rate` is like `600/minute`.

        Concurrent requests are counted in one round trip.
        """
        return self._hits((_parsed(rate), key))

    def peek(self, rate: str, *key: str) -> LimitStatus:
        """Return the status without counting."""
        item = _parsed(rate)
        window = self._with_redis(lambda: _read(self._shared, item, key))
        if window is None:
            with self._lock:
                item = _reduced(item, self._share)
                window = _read(self._local, item, key)
        status = _status(item, window, allowed=True)
        return replace(status, allowed=status.remaining > 0)

    def _hit_all(self, hits: Sequence[_Hit]) -> list[LimitStatus]:
        counted = self._with_redis(lambda: self._shared.hit_all(hits))
        if counted is None:
            hits = [(_reduced(item, self._share), key) for item, key in hits]
            with self._lock:
                counted = [self._local.hit(*hit) for hit in hits]
        return [
            _status(item, window, allowed=allowed)
            for (item, _key), (allowed, window) in zip(hits, counted, strict=True)
        ]

    def _with_redis(self, count: Callable[[], Counted]) -> Counted | None:
        """Return what the function counts or reads in Redis, or None if that is unavailable."""
        try:
            with self._redis.breaker:
                return count()
        except CircuitOpen:
            pass
        except (RedisError, OSError) as error:
            log.warning("rate limits counted without Redis", error=type(error).__name__)
        return None


def _read(storage: RedisStorage | MemoryStorage, item: RateLimitItem, key: tuple[str, ...]) -> Window:
    return storage.get_sliding_window(item.key_for(*key), item.get_expiry())


def _status(item: RateLimitItem, window: Window, *, allowed: bool) -> LimitStatus:
    """Return the status as the library's sliding windows define it."""
    seconds = item.get_expiry()
    previous, previous_seconds, current, current_seconds = window
    remaining = max(0, item.amount - math.floor(previous * previous_seconds / seconds + current))
    resets = [previous_seconds % (seconds / previous)] if previous else []
    resets += [current_seconds % seconds or seconds] if current else []
    return LimitStatus(
        allowed=allowed,
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
