from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis

from app.infra.broker import redis_client


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    """A connection to the test run's Redis, which is emptied before and after the test."""
    with redis_client.connect(redis_url) as client:
        client.flushall()
        yield client
        client.flushall()
