"""Notifications of finished jobs and other work, from workers to the requests that wait for them.

A web process has one Redis subscription and one thread for all waiting requests. A notification may be lost.
Therefore a request reads the job's row before it sleeps and when it wakes, and a reconnect wakes all of them.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from redis.client import PubSub
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from app.infra.broker import redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.telemetry.log import log

CHANNEL = "jobs.over"
LISTEN_SECONDS = 5.0
RECONNECT_SECONDS = 0.5
_BETWEEN = ","
"""Between the ids of jobs that finished together."""


class JobNotifier:
    """Publishes finished jobs to every web process."""

    def __init__(self, url: str) -> None:
        self._redis = redis_client.guarded(url)

    def notify(self, job_ids: Sequence[str]) -> None:
        """Publish once; if Redis is unavailable, waiting requests find the results in the jobs' rows."""
        if not job_ids:
            return
        try:
            with self._redis.breaker:
                self._redis.client.publish(CHANNEL, _BETWEEN.join(job_ids))
        except (RedisError, OSError, CircuitOpen):
            log.debug("could not publish job notification", jobs=len(job_ids))


class JobListener:
    """Receives notifications in a web process and wakes the requests that wait for them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiters: defaultdict[str, list[threading.Event]] = defaultdict(list)
        self._lock = threading.Lock()
        self._listening = False
        self._closed = threading.Event()

    @property
    def is_closed(self) -> bool:
        """Return whether requests must stop waiting."""
        return self._closed.is_set()

    @contextmanager
    def subscribe(self, job_id: str) -> Iterator[threading.Event]:
        """Yield an event that is set when the job finishes; read the job's row before the first wait."""
        event = threading.Event()
        with self._lock:
            self._waiters[job_id].append(event)
            if self.is_closed:
                event.set()
            if not self._listening:  # started late, because a server may fork after the application is built
                self._listening = True
                threading.Thread(target=self._listen, name="job-listener", daemon=True).start()
        try:
            yield event
        finally:
            with self._lock:
                self._waiters[job_id].remove(event)
                if not self._waiters[job_id]:
                    del self._waiters[job_id]

    def close(self) -> None:
        """Wake all requests, because the process shuts down; clients can poll another process."""
        self._closed.set()
        self._wake_all()

    def _listen(self) -> None:
        is_disconnected = False
        while not self.is_closed:
            try:
                with (
                    redis_client.connect(self._url, answer_seconds=LISTEN_SECONDS) as client,
                    client.pubsub() as subscription,
                ):
                    subscription.subscribe(CHANNEL)
                    is_disconnected = False
                    self._pump(subscription)
            except Exception as error:  # noqa: BLE001 -- after any error, reconnect
                if not is_disconnected:  # once per outage, not twice a second
                    is_expected = isinstance(error, RedisError | OSError)
                    log.warning(
                        "cannot receive job notifications",
                        error=type(error).__name__,
                        exc_info=None if is_expected else error,
                    )
                is_disconnected = True
            self._closed.wait(RECONNECT_SECONDS)

    def _pump(self, subscription: PubSub) -> None:
        """Dispatch notifications until the connection fails; a silent connection must answer a ping."""
        pinged = False
        while not self.is_closed:
            message = _next_message(subscription)
            if message is None:
                if pinged:
                    raise ConnectionError("no answer to a ping")
                subscription.ping()
            elif message["type"] == "subscribe":
                self._wake_all()
            elif message["type"] == "message":
                self._wake(message["data"].decode(errors="replace").split(_BETWEEN))
            pinged = message is None

    def _wake(self, job_ids: Sequence[str]) -> None:
        with self._lock:
            for job_id in job_ids:
                for event in self._waiters.get(job_id, ()):
                    event.set()

    def _wake_all(self) -> None:
        """Wake all requests, because notifications may have been missed."""
        with self._lock:
            for events in self._waiters.values():
                for event in events:
                    event.set()


def _next_message(subscription: Any) -> Any:  # noqa: ANN401 -- redis-py declares no types of these methods
    """Return the next message, a dictionary, or None after LISTEN_SECONDS.

    The library's `get_message` does the same at several times the processor time.
    """
    try:
        response = subscription.connection.read_response(
            timeout=LISTEN_SECONDS, disconnect_on_error=False, push_request=True
        )
    except RedisTimeoutError:
        return None
    return subscription.handle_message(response)
