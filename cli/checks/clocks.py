"""Check of a server's clock against this machine's."""

from __future__ import annotations

from app.api.ops.readiness import CLOCK_TOLERANCE
from cli.checks.findings import Finding, ok, warning


def clock_finding(server: str, ahead: float) -> Finding:
    """Return a finding about how many seconds this machine's clock is ahead of a server's."""
    what = f"clock of {server}"
    if abs(ahead) <= CLOCK_TOLERANCE:
        return ok(what, "agrees with this machine's")
    direction = "behind" if ahead > 0 else "ahead of"
    return warning(
        what, f"{abs(ahead):.1f} s {direction} this machine's", "set both by NTP (chrony, systemd-timesyncd)"
    )
