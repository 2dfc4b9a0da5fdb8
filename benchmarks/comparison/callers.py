"""The callers: each sends its next request over its own connection when the last one is answered."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks.comparison.plan import Plan

OK = 200
ACCEPTED = 202
NO_RESPONSE = 0
DRAIN_SECONDS = 30.0  # to wait for the last answers
BACK_OFF_SECONDS = 0.05  # after a failure
CONNECT_ATTEMPTS = 100
CONNECTING = 100  # at once
MAX_EXAMPLES = 5


@dataclass(slots=True)
class Run:
    """What the callers of a run share. Times are in seconds; `answered_at` is since the start."""

    plan: Plan
    next_number: int
    active: int
    started: float = 0.0
    deadline: float = 0.0
    latencies: list[float] = field(default_factory=list)
    answered_at: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    bodies: list[tuple[int, bytes]] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self) -> int | None:
        """Return the number of the next request, or None if the run is over."""
        if time.perf_counter() >= self.deadline or self.next_number >= self.plan.limit:
            return None
        self.next_number += 1
        return self.next_number - 1

    def leave(self) -> None:
        """Note that a caller has finished."""
        self.active -= 1
        if self.active == 0:
            self.finished.set()

    def result(self, cpu: float) -> dict[str, Any]:
        """Return what was observed, after checking each answer."""
        errors = [self.plan.error(number, body) for number, body in self.bodies]
        wrong = [error for error in errors if error is not None]
        return {
            "latencies": self.latencies,
            "answered_at": self.answered_at,
            "statuses": {status: count for status, count in self.statuses.items() if count},
            "wrong": len(wrong),
            "examples": wrong[:MAX_EXAMPLES],
            "next": self.next_number,
            "cpu": cpu,
        }


class Caller(asyncio.Protocol):
    """A caller with a connection that is kept open; it reconnects when the server closes it."""

    def __init__(self, run: Run) -> None:
        self.number: int | None = None
        """The number of the request that is being answered."""
        self._run = run
        self._transport: Any = None
        self._buffer = b""
        self._sent_at = 0.0
        self._started = False
        self._connecting: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Open a connection; leave if the server does not accept one."""
        for _ in range(CONNECT_ATTEMPTS):
            try:
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: self, "127.0.0.1", self._run.plan.port)
            except OSError:
                await asyncio.sleep(BACK_OFF_SECONDS)
            else:
                return
        self._run.leave()

    def start(self, delay: float) -> None:
        """Send the first request after a delay."""
        self._started = True
        self._send_after(delay)

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the next request if the connection was lost within the run."""
        self._transport, self._buffer = transport, b""
        if self._started:
            self._send()

    def data_received(self, data: bytes) -> None:
        """Record the answer once it is complete."""
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(body) >= length:
            self._buffer = b""
            self._record(int(head[9:12]), body[:length])

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Record a failure if an answer was due."""
        self._transport = None
        if self.number is not None:
            self._record(NO_RESPONSE, b"")

    def _send(self) -> None:
        if self._transport is None:
            self._connecting = asyncio.get_running_loop().create_task(self.connect())
            return
        self.number = self._run.take()
        if self.number is None:
            self._run.leave()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(self._run.plan.request(self.number))

    def _record(self, status: int, body: bytes) -> None:
        """Record an answer, and send the next request."""
        run, number, now = self._run, self.number, time.perf_counter()
        run.statuses[status] += 1
        self.number = None
        if status == OK and number is not None:
            run.latencies.append(now - self._sent_at)
            run.answered_at.append(now - run.started)
            run.bodies.append((number, body))
        self._send_after(run.plan.pause if status in {OK, ACCEPTED} else BACK_OFF_SECONDS)

    def _send_after(self, delay: float) -> None:
        if delay:
            asyncio.get_running_loop().call_later(delay, self._send)
        else:
            self._send()


async def connect(plan: Plan) -> tuple[Run, list[Caller]]:
    """Return a run and its callers, all of them connected."""
    run = Run(plan, plan.first, plan.callers)
    callers = [Caller(run) for _ in range(plan.callers)]
    for start in range(0, len(callers), CONNECTING):
        await asyncio.gather(*(caller.connect() for caller in callers[start : start + CONNECTING]))
    return run, callers


async def send(run: Run, callers: list[Caller]) -> dict[str, Any]:
    """Send requests until the time is over and the last answers have come; return what was observed."""
    run.started, cpu = time.perf_counter(), time.process_time()
    run.deadline = run.started + run.plan.seconds
    for number, caller in enumerate(callers):
        caller.start(delay=run.plan.pause * number / len(callers))
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(run.finished.wait(), run.plan.seconds + DRAIN_SECONDS)
    cpu = time.process_time() - cpu
    run.statuses[NO_RESPONSE] += sum(caller.number is not None for caller in callers)
    return run.result(cpu)
