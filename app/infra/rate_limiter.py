"""Rate limits: counted in Redis for all processes, and more strictly in each process while Redis is away."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cache

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from app.infra import redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.log import log

# While processes cannot count together, each lets pass at most this part of what all may do together.
LOCAL_SHARE = 4


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """Where a caller stands: `quota` requests in `window` seconds, `remaining` now, more in `reset`."""

    allowed: bool
    quota: int
    window: int
    remaining: int
    reset: int


class Limiter:
    """Counts in sliding windows; it never raises, never waits long and never lets everything pass.

    `processes` are those that count together; while they cannot, they still let no more pass than together.
    """

    def __init__(self, redis_url: str, processes: int = 1) -> None:
        self._line = redis_client.guarded(redis_url)
        pool = self._line.client.connection_pool
        self._shared = SlidingWindowCounterRateLimiter(RedisStorage(redis_url, connection_pool=pool))
        self._alone = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._share = max(LOCAL_SHARE, processes)

    def hit(self, rate: str, *key: str) -> LimitStatus:
        """Count one request, unless there were too many; `rate` is written like `600/minute`."""
        return self._ask(_parsed(rate), key, count=True)

    def peek(self, rate: str, *key: str) -> LimitStatus:
        """Tell where the caller stands without counting."""
        return self._ask(_parsed(rate), key, count=False)

    def _ask(self, item: RateLimitItem, key: tuple[str, ...], *, count: bool) -> LimitStatus:
        try:
            with self._line.fuse:
                return _standing(self._shared, item, key, count=count)
        except CircuitOpen:
            pass
        except (RedisError, OSError) as error:
            log.warning("limits counted without Redis", error=type(error).__name__)
        return _standing(self._alone, _reduced(item, self._share), key, count=count)


def _standing(
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
