"""The bell: workers ring when a job is over, and whoever waits for it in a web process wakes up.

One subscription and one thread per process, however many requests wait. A ring may be lost; so a waiter
looks at the job's row before it sleeps and when it wakes, and after a reconnect everybody looks.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from redis.client import PubSub
from redis.exceptions import RedisError

from app.infra import redis_client
from app.infra.circuit_breaker import CircuitOpen
from app.infra.log import log

CHANNEL = "jobs.over"
LISTEN_SECONDS = 5.0
RECONNECT_SECONDS = 0.5


class JobNotifier:
    """The workers' end: `ring` tells every web process that a job is over."""

    def __init__(self, url: str) -> None:
        self._line = redis_client.guarded(url)

    def notify(self, job_id: str) -> None:
        """Ring once; if Redis is away, nobody hears it and the row has to do."""
        try:
            with self._line.fuse:
                self._line.client.publish(CHANNEL, job_id)
        except (RedisError, OSError, CircuitOpen):
            log.debug("nobody heard the bell", job=job_id)


class JobListener:
    """A web process's end: `waiting` gives an event that is set when the job's bell rings."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiters: defaultdict[str, list[threading.Event]] = defaultdict(list)
        self._lock = threading.Lock()
        self._listening = False
        self._over = threading.Event()

    @property
    def is_closed(self) -> bool:
        """Whether nobody is to wait any longer."""
        return self._over.is_set()

    @contextmanager
    def subscribe(self, job_id: str) -> Iterator[threading.Event]:
        """Register for the job's bell; look at its row after entering, before the first sleep."""
        event = threading.Event()
        with self._lock:
            self._waiters[job_id].append(event)
            if self.is_closed:
                event.set()
            if not self._listening:  # not before: a server may fork after the application is made
                self._listening = True
                threading.Thread(target=self._listen, name="ear", daemon=True).start()
        try:
            yield event
        finally:
            with self._lock:
                self._waiters[job_id].remove(event)
                if not self._waiters[job_id]:
                    del self._waiters[job_id]

    def close(self) -> None:
        """Let nobody wait any longer: the process ends, and jobs can be asked for at the next one."""
        self._over.set()
        self._wake_all()

    def _listen(self) -> None:
        deaf = False
        while not self.is_closed:
            try:
                with (
                    redis_client.connect(self._url, answer_seconds=LISTEN_SECONDS) as client,
                    client.pubsub() as subscription,
                ):
                    subscription.subscribe(CHANNEL)
                    deaf = False
                    self._pump(subscription)
            except Exception as error:  # noqa: BLE001 -- whatever it was, the next connection may hear
                if not deaf:  # once per outage, not twice a second
                    known = isinstance(error, RedisError | OSError)
                    log.warning(
                        "the bell cannot be heard",
                        error=type(error).__name__,
                        exc_info=None if known else error,
                    )
                deaf = True
            self._over.wait(RECONNECT_SECONDS)

    def _pump(self, subscription: PubSub) -> None:
        """Pass rings on until the connection fails; a silent one is pinged, and then must answer."""
        pinged = False
        while not self.is_closed:
            message = subscription.get_message(timeout=LISTEN_SECONDS)
            if message is None:
                if pinged:
                    raise ConnectionError("no answer to a ping")
                subscription.ping()
            elif message["type"] == "subscribe":
                self._wake_all()
            elif message["type"] == "message":
                self._wake(message["data"].decode(errors="replace"))
            pinged = message is None

    def _wake(self, job_id: str) -> None:
        with self._lock:
            for event in self._waiters.get(job_id, ()):
                event.set()

    def _wake_all(self) -> None:
        """Rings may have been missed: let everybody look."""
        with self._lock:
            for events in self._waiters.values():
                for event in events:
                    event.set()
