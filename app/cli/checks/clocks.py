"""Clocks: how far a server's is from this machine's."""

from __future__ import annotations

from app.cli.checks.findings import Finding, ok, warning

TOLERANCE = 1.0
"""Seconds that clocks may differ; leases and limits are compared by one server's clock alone."""


def compared(server: str, there: float, before: float, after: float) -> Finding:
    """Compare a server's time with this machine's just before asking and just after the answer."""
    what = f"clock of {server}"
    off = max(before - there, there - after, 0.0)
    if off <= TOLERANCE:
        return ok(what, "agrees with this machine's")
    direction = "behind" if there < before else "ahead of"
    return warning(
        what, f"{off:.1f} s {direction} this machine's", "set both by NTP (chrony, systemd-timesyncd)"
    )
