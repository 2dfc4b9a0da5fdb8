"""The load: clients that request reveals, and retry with the same key until they are accepted."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chaos.workload.history import ACCEPTED, EXPECTED_STATUSES, NO_RESPONSE, OK, History

if TYPE_CHECKING:
    from chaos.workload.generator import Operation

CLIENTS = 24
REQUEST_TIMEOUT_SECONDS = 15.0
ABANDON_SECONDS = 180.0  # after which a client no longer retries an operation
MAX_RETRY_DELAY = 2.0


class Load:
    """Clients that send operations, together at most `pace` per second, until `target` are accepted."""

    def __init__(
        self,
        base_url: str,
        operations: Iterator[Operation],
        *,
        pace: float,
        target: int,
        clients: int = CLIENTS,
    ) -> None:
        self.history = History()
        self._base_url = base_url
        self._operations = operations
        self._pace = pace
        self._target = target
        self._lock = threading.Lock()
        self._next_at = time.monotonic()
        self._stopped = threading.Event()
        self._clients = [threading.Thread(target=self._work, daemon=True) for _ in range(clients)]

    def start(self) -> None:
        """Start the clients."""
        self._next_at = time.monotonic()
        for client in self._clients:
            client.start()

    def is_done(self) -> bool:
        """Return whether all clients have finished."""
        return not any(client.is_alive() for client in self._clients)

    def stop(self) -> None:
        """Begin no new operation; those in progress are still retried."""
        self._stopped.set()

    def wait(self, seconds: float) -> None:
        """Return when all clients have finished, or after this time."""
        deadline = time.monotonic() + seconds
        for client in self._clients:
            client.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        client = Client(self._base_url)
        while (operation := self._next_operation()) is not None:
            retry_until_accepted(client, operation, self.history)
        client.close()

    def _next_operation(self) -> Operation | None:
        with self._lock:
            if self._stopped.is_set() or len(self.history.accepted) >= self._target:
                return None
            operation = next(self._operations, None)
            pause = self._next_at - time.monotonic()
            self._next_at = max(self._next_at, time.monotonic() - 1.0) + 1 / self._pace
        if pause > 0:
            time.sleep(pause)
        return operation


class Client:
    """A client with one connection, which it reopens after an error."""

    def __init__(self, base_url: str) -> None:
        address = str(urlsplit(base_url).netloc)
        self._connection = http.client.HTTPConnection(address, timeout=REQUEST_TIMEOUT_SECONDS)

    def send(self, operation: Operation) -> tuple[int | str, dict[str, Any]]:
        """Send a request once; return its status and body, or NO_RESPONSE and an empty body."""
        headers = {
            "Authorization": f"Bearer {operation.tenant.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": operation.key,
            "Prefer": f"wait={operation.wait}" if operation.wait else "respond-async",
        }
        try:
            self._connection.request("POST", operation.path, json.dumps(operation.body), headers)
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


def retry_until_accepted(client: Client, operation: Operation, history: History) -> None:
    """Retry a request with the same key until a job is accepted, and record each attempt."""
    deadline = time.monotonic() + ABANDON_SECONDS
    delay = 0.1
    while time.monotonic() < deadline:
        started = time.monotonic()
        status, body = client.send(operation)
        history.record(status, time.monotonic() - started, timed=not operation.wait)
        if status in {OK, ACCEPTED}:
            history.accept(operation, str(body["job"]["id"]))
            return
        if status not in EXPECTED_STATUSES:
            break
        with history.lock:
            history.retries += 1
        time.sleep(random.uniform(0.5, 1.0) * delay)  # noqa: S311 - jitter
        delay = min(delay * 2, MAX_RETRY_DELAY)
    with history.lock:
        history.abandoned += 1
