from __future__ import annotations

import math

from local_servers import free_port

from app.infra.broker import beat_heartbeat, redis_client


def test_the_age_is_the_time_since_the_last_heartbeat_by_the_clock_of_redis(redis_url: str) -> None:
    client = redis_client.connect(redis_url)
    client.delete(beat_heartbeat.KEY)
    before = beat_heartbeat.age_seconds(client)
    beat_heartbeat.record(redis_url)
    recorded = beat_heartbeat.age_seconds(client)
    client.pexpire(beat_heartbeat.KEY, beat_heartbeat.LIFETIME_MILLISECONDS - 90_000)
    later = beat_heartbeat.age_seconds(client)

    assert before == math.inf
    assert 0 <= recorded < 60
    assert 90 <= later < 150


def test_without_redis_the_heartbeat_is_not_recorded_and_beat_goes_on() -> None:
    beat_heartbeat.record(f"redis://127.0.0.1:{free_port()}/0")
