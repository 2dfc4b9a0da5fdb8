"""The readings of CRMs as the API of the product tells them, and what they cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.comparison import measure
from benchmarks.comparison.systems.system import Part, Running
from benchmarks.crm_reading.crms import FakeCrm
from benchmarks.many_at_once.enrichment import call
from tools.services.processes import ServiceError

POLL_SECONDS = 1.0
WATCH_SECONDS = 5.0
MEMORY_SECONDS = 30.0
"""Reading the memory of a process stops it for a moment."""
CHANGE_SECONDS = 300.0


@dataclass(slots=True)
class Reading:
    """A CRM that is read; `seconds` and `requests` are of the first reading, and `changes` in seconds."""

    crm: FakeCrm
    token: str
    seconds: float | None = None
    requests: int = 0
    records: int = 0
    error: str | None = None
    changes: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        """Return how far the first reading is."""
        return f"{self.crm.vendor} {self.records:,}"

    def poll(self, port: int, started: float) -> None:
        """Ask how far the first reading is."""
        connection = call(port, "GET", "/api/crm/connections", self.token)["connections"][0]
        reading = connection["reading"] or {"records": 0, "read_at": None, "error": None}
        self.requests, self.records = self.crm.requests, reading["records"]
        self.error = reading["error"] or connection["error"]
        if reading["read_at"] is not None:
            self.seconds = time.monotonic() - started

    def change(self, port: int, number: int) -> None:
        """Change the address of a person of the CRM, and measure until a lookup by it has the record.

        Raises:
            ServiceError: it has not within minutes.

        """
        address = f"moved{number}@changed.example"
        self.crm.move(number, address)
        started = time.monotonic()
        while time.monotonic() - started < CHANGE_SECONDS:
            found = call(port, "POST", "/api/ext/lookup", self.token, {"subject": {"email": address}})
            if found["crm"]:
                self.changes.append(time.monotonic() - started)
                return
            time.sleep(POLL_SECONDS)
        raise ServiceError(f"A change in {self.crm.vendor} was not seen within {CHANGE_SECONDS:.0f} s.")


class Watch:
    """Follows readings until they are over; `peak` is the most memory of the workers, in bytes."""

    def __init__(self, running: Running, readings: Sequence[Reading]) -> None:
        self._running = running
        self._readings = readings
        self._started = time.monotonic()
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow)
        self.peak = 0

    @property
    def under_way(self) -> list[Reading]:
        """The readings that are not over."""
        return [reading for reading in self._readings if reading.seconds is None]

    def start(self) -> None:
        """Poll in a thread until all are over."""
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until all are over, but no longer than this."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Stop polling."""
        self._is_stopped.set()
        self._thread.join()

    def _follow(self) -> None:
        memory_at = 0.0
        while self.under_way and not self._is_stopped.wait(WATCH_SECONDS):
            for reading in self.under_way:
                reading.poll(self._running.port, self._started)
            if time.monotonic() - memory_at > MEMORY_SECONDS:
                memory_at = time.monotonic()
                self.peak = max(self.peak, measure.memory_bytes(self._running)[Part.WORKER])


@contextmanager
def watching(running: Running, readings: Sequence[Reading]) -> Iterator[Watch]:
    """Follow the readings beside the block."""
    watch = Watch(running, readings)
    watch.start()
    try:
        yield watch
    finally:
        watch.stop()
