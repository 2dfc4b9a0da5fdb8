"""The lines of a job's trace: one for each provider call, as receipts show it."""

from __future__ import annotations

from typing import Any


def trace_line(
    *,
    provider: str,
    field: str,
    outcome: str,
    status: str | None,
    reason: str | None = None,
    latency_ms: int | None,
    cost: float,
    at: str | None,
) -> dict[str, Any]:
    """Return the line of a call: `status` is the best address's, `cost` in the provider's credits.

    `reason` is why the provider has no result, if it tells.
    """
    return {
        "provider": provider,
        "field": field,
        "outcome": outcome,
        **({} if status is None else {"status": status}),
        **({} if reason is None else {"reason": reason}),
        "latency_ms": latency_ms,
        "cost": int(cost) if cost == int(cost) else cost,
        "at": at,
    }
