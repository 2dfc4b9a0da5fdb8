"""Traces: spans of requests, jobs and provider calls, if OTEL_EXPORTER_OTLP_ENDPOINT is set.

Without it nothing is recorded, and OpenTelemetry is not imported. Attributes are ids, kinds and outcomes, but
never values of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeAlias

Attributes: TypeAlias = Mapping[str, str | int]


class Span(Protocol):
    """A span that is being recorded."""

    def set_attributes(self, attributes: Attributes) -> None:
        """Add attributes."""


class Tracer(Protocol):
    """Records spans."""

    def span(
        self, name: str, attributes: Attributes, *, parent: str | None, started: int | None, serves: bool
    ) -> AbstractContextManager[Span]:
        """Record a span for the duration of the block, below `parent` or the current span."""

    def part(self, name: str) -> AbstractContextManager[None]:
        """Record a span below the current one; do nothing without one."""

    def traceparent(self) -> str | None:
        """Return the current span as a traceparent (W3C Trace Context); None if it is not recorded."""


class _NoSpan:
    def set_attributes(self, attributes: Attributes) -> None:
        """Do nothing."""


_NO_SPAN = nullcontext(_NoSpan())
_tracers: list[Tracer] = []


def start(endpoint: str, *, service: str) -> None:
    """Send the spans of this process to an OTLP endpoint; do nothing without one."""
    if endpoint and not _tracers:
        from app.infra.telemetry import open_telemetry  # noqa: PLC0415 -- see the module's docstring

        _tracers.append(open_telemetry.connect(endpoint, service=service))


def is_on() -> bool:
    """Return whether spans are recorded."""
    return bool(_tracers)


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    parent: str | None = None,
    started: int | None = None,
    serves: bool = False,
) -> AbstractContextManager[Span]:
    """Record a span for the duration of the block.

    `parent` is the traceparent of a caller; without one it is the current span. `started` is a Unix time in
    nanoseconds, by default now. A span that `serves` answers a request or runs a job of another process.
    """
    if not _tracers:
        return _NO_SPAN
    return _tracers[0].span(name, attributes or {}, parent=parent, started=started, serves=serves)


def part(name: str) -> AbstractContextManager[object]:
    """Record a part of the current span, such as a transaction; do nothing outside of a span."""
    return _tracers[0].part(name) if _tracers else _NO_SPAN


def traceparent() -> str | None:
    """Return the current span as a traceparent (W3C Trace Context); None without one."""
    return _tracers[0].traceparent() if _tracers else None
