"""The trace of a job: one line for each provider call, without duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.domain.kinds import TraceOutcome

_CALLED_OUTCOMES = frozenset(
    {
        TraceOutcome.HIT,
        TraceOutcome.MISS,
        TraceOutcome.SUPPRESSED,
        TraceOutcome.ERROR,
        TraceOutcome.TIMEOUT,
        TraceOutcome.NO_CREDITS,
    }
)
"""Outcomes of calls that were sent. The other outcomes may also mean that no call was sent."""


def merge(before: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the trace with the new lines added, without duplicates: a retried job reuses stored replies.

    A call that was sent is identified by its time. A refusal before sending is listed once per outcome.
    """
    lines = {_call_identity(line): line for line in (*before, *new)}
    return list(lines.values())


def _call_identity(line: dict[str, Any]) -> tuple[Any, ...]:
    was_sent = line.get("latency_ms") or line.get("cost") or line.get("outcome") in _CALLED_OUTCOMES
    distinct = line.get("at") if was_sent else line.get("outcome")
    return line.get("item"), line.get("provider"), line.get("field"), distinct
