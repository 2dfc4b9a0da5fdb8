"""What the clients have observed: their own record, which no failure of the service can change."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaos.workload.generator import Operation

OK, ACCEPTED, UNAVAILABLE = 200, 202, 503
NO_RESPONSE = "no response"
EXPECTED_STATUSES = frozenset({OK, ACCEPTED, UNAVAILABLE, NO_RESPONSE})


@dataclass(slots=True)
class History:
    """Accepted jobs by (workspace, idempotency key), and how the requests ended."""

    accepted: dict[tuple[str, str], str] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    """The operation of each accepted job, by job id."""
    accepted_at: dict[str, float] = field(default_factory=dict)
    """When each job was accepted, by job id, on the clock of `time.monotonic`."""
    conflicts: list[str] = field(default_factory=list)
    statuses: Counter[int | str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    """Seconds until a job was accepted, of the requests that did not wait for its result."""
    retries: int = 0
    abandoned: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def must_succeed(self) -> set[str]:
        """Return the ids of accepted jobs that only a fault of the service could make fail."""
        return {job for job, operation in self.operations.items() if operation.must_succeed}

    def accept(self, operation: Operation, job_id: str) -> None:
        """Record an accepted job; two ids for the same key are a conflict."""
        with self.lock:
            first = self.accepted.setdefault((operation.tenant.workspace, operation.key), job_id)
            if first != job_id:
                self.conflicts.append(f"{operation.key}: {first} and {job_id}")
            self.operations[job_id] = operation
            self.accepted_at.setdefault(job_id, time.monotonic())

    def forget(self, job_ids: Collection[str]) -> None:
        """Forget jobs that a restore has lost, so that the others can be checked."""
        with self.lock:
            self.accepted = {key: job for key, job in self.accepted.items() if job not in job_ids}
            self.conflicts = [text for text in self.conflicts if not any(job in text for job in job_ids)]
            self.operations = {job: value for job, value in self.operations.items() if job not in job_ids}

    def record(self, status: int | str, latency: float, *, timed: bool) -> None:
        """Record how a request ended; the latency counts if it was `timed` and accepted."""
        with self.lock:
            self.statuses[status] += 1
            if timed and status in {OK, ACCEPTED}:
                self.latencies.append(latency)
