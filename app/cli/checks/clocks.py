"""Clocks: how far a server's is from this machine's."""

from __future__ import annotations

from app.cli.checks.findings import Finding, ok, warning

TOLERANCE = 1.0
"""Seconds that clocks may differ. What processes compare is compared by the database's clock alone."""


def compared(server: str, ahead: float) -> Finding:
    """Report by how many seconds this machine's clock is ahead of a server's."""
    what = f"clock of {server}"
    if abs(ahead) <= TOLERANCE:
        return ok(what, "agrees with this machine's")
    direction = "behind" if ahead > 0 else "ahead of"
    return warning(
        what, f"{abs(ahead):.1f} s {direction} this machine's", "set both by NTP (chrony, systemd-timesyncd)"
    )
