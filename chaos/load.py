"""The load: clients that ask for reveals, and ask again with the same key until they are answered."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from chaos.generator import Operation

CLIENTS = 24
REQUEST_TIMEOUT_SECONDS = 15.0  # a client's patience with one request
ABANDON_SECONDS = 180.0  # and with one question
OK, ACCEPTED, UNAVAILABLE = 200, 202, 503
NO_RESPONSE = "no answer"
EXPECTED_STATUSES = frozenset({OK, ACCEPTED, UNAVAILABLE, NO_RESPONSE})


@dataclass(slots=True)
class History:
    """What the clients wrote down: their own memory, which no failure of the service can touch."""

    accepted: dict[tuple[str, str], str] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    statuses: Counter[int | str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    retries: int = 0
    abandoned: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def job_ids(self) -> set[str]:
        """Give the ids of all accepted jobs."""
        return set(self.accepted.values())

    def must_succeed(self) -> set[str]:
        """Give the ids of accepted jobs that only the service itself can have failed."""
        return {job for job, asked in self.operations.items() if asked.must_succeed}

    def accept(self, asked: Operation, job_id: str) -> None:
        """Write down an answer; a key that was answered with another id before is a conflict."""
        with self.lock:
            known = self.accepted.setdefault((asked.tenant.workspace, asked.key), job_id)
            if known != job_id:
                self.conflicts.append(f"{asked.key}: {known} and {job_id}")
            self.operations[job_id] = asked

    def record(self, status: int | str, seconds: float, *, timed: bool) -> None:
        """Write down how one request ended; `timed` ones count in the percentiles if they were taken in."""
        with self.lock:
            self.statuses[status] += 1
            if timed and status in {OK, ACCEPTED}:
                self.latencies.append(seconds)


class Load:
    """Clients that work through questions, together at most `pace` a second, until `target` are accepted."""

    def __init__(
        self,
        base_url: str,
        questions: Iterator[Operation],
        *,
        pace: float,
        target: int,
        clients: int = CLIENTS,
    ) -> None:
        self.book = History()
        self._base_url = base_url
        self._questions = questions
        self._pace = pace
        self._target = target
        self._dealing = threading.Lock()
        self._next = time.monotonic()
        self._over = threading.Event()
        self._clients = [threading.Thread(target=self._work, daemon=True) for _ in range(clients)]

    def start(self) -> None:
        """Begin to ask."""
        self._next = time.monotonic()
        for client in self._clients:
            client.start()

    def is_done(self) -> bool:
        """Tell whether nobody asks any more."""
        return not any(client.is_alive() for client in self._clients)

    def stop(self) -> None:
        """Ask nothing new; what is being asked is still asked until it is answered."""
        self._over.set()

    def wait(self, seconds: float) -> None:
        """Return when every question was answered or given up, or after so many seconds."""
        until = time.monotonic() + seconds
        for client in self._clients:
            client.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        client = Client(self._base_url)
        while (asked := self._next_operation()) is not None:
            retry_until_accepted(client, asked, self.book)
        client.close()

    def _next_operation(self) -> Operation | None:
        with self._dealing:
            if self._over.is_set() or len(self.book.accepted) >= self._target:
                return None
            asked = next(self._questions, None)
            pause = self._next - time.monotonic()
            self._next = max(self._next, time.monotonic() - 1.0) + 1 / self._pace
        if pause > 0:
            time.sleep(pause)
        return asked


class Client:
    """One client with one connection, which it opens again when it breaks."""

    def __init__(self, base_url: str) -> None:
        self._address = str(urlsplit(base_url).netloc)
        self._connection = http.client.HTTPConnection(self._address, timeout=REQUEST_TIMEOUT_SECONDS)

    def send(self, asked: Operation) -> tuple[int | str, dict[str, Any]]:
        """Ask once; give the status and the answer, or `no answer`."""
        headers = {
            "Authorization": f"Bearer {asked.tenant.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": asked.key,
            "Prefer": f"wait={asked.wait}" if asked.wait else "respond-async",
        }
        try:
            self._connection.request("POST", asked.path, json.dumps(asked.body), headers)
            response = self._connection.getresponse()
            content = response.read()
            return response.status, json.loads(content)
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            return NO_RESPONSE, {}

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with suppress(OSError):
            self._connection.close()


def retry_until_accepted(client: Client, asked: Operation, book: History) -> None:
    """Ask with the same key until there is a job, as a client should; everything is written down."""
    patience = time.monotonic() + ABANDON_SECONDS
    pause = 0.1
    while time.monotonic() < patience:
        started = time.monotonic()
        status, answer = client.send(asked)
        book.record(status, time.monotonic() - started, timed=not asked.wait)
        if status in {OK, ACCEPTED}:
            book.accept(asked, str(answer["job"]["id"]))
            return
        if status not in EXPECTED_STATUSES:
            break
        with book.lock:
            book.retries += 1
        time.sleep(random.uniform(0.5, 1.0) * pause)  # noqa: S311 - jitter
        pause = min(pause * 2, 2.0)
    with book.lock:
        book.abandoned += 1
