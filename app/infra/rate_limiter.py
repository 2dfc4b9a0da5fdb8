"""Rate limits, counted in Redis for all processes, or in each process while Redis is unavailable."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from functools import cache, cached_property

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from app.infra import redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.log import log

# While Redis is unavailable, each process allows at most 1/4 of the shared limit.
LOCAL_SHARE = 4


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """The state of a limit: `quota` requests per `window` seconds, `remaining` now, a reset in `reset` s."""

    allowed: bool
    quota: int
    window: int
    remaining: int
    reset: int


class Limiter:
    """Counts requests in sliding windows; it never raises, blocks for long or stops limiting.

    `processes` is the number of processes that share the limits. While they cannot share them, together they
    still allow no more than the limit.
    """

    def __init__(self, redis_url: str, processes: int = 1) -> None:
        self._redis = redis_client.guarded(redis_url)
        pool = self._redis.client.connection_pool
        self._shared = SlidingWindowCounterRateLimiter(RedisStorage(redis_url, connection_pool=pool))
        self._share = max(LOCAL_SHARE, processes)
        self._lock = threading.Lock()
        """For the counts of this process: their storage loses one that two threads touch at once."""

    @cached_property
    def _local(self) -> SlidingWindowCounterRateLimiter:
        """The counts of this process. Its storage starts a thread, which a forked process would lose."""
        return SlidingWindowCounterRateLimiter(MemoryStorage())

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
    limiter: SlidingWindowCounterRateLimiter, item: RateLimitItem, key: tuple[str, ...], *, count: bool
) -> LimitStatus:
    counted = limiter.hit(item, *key) if count else None
    stats = limiter.get_window_stats(item, *key)
    return LimitStatus(
        allowed=stats.remaining > 0 if counted is None else counted,
        quota=item.amount,
        window=item.get_expiry(),
        remaining=stats.remaining,
        reset=max(1, math.ceil(stats.reset_time - time.time())),
    )


@cache
def _parsed(rate: str) -> RateLimitItem:
    return parse(rate)


@cache
def _reduced(item: RateLimitItem, share: int) -> RateLimitItem:
    return type(item)(max(1, item.amount // share), item.multiples, item.namespace)
