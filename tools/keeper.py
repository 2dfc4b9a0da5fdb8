"""`python -m tools.keeper`: wait until the owner's end of the pipe closes, then stop what it left behind."""

from __future__ import annotations

import signal
import sys

from tools import processes


def main() -> int:
    """Read `+group` and `-group` lines until the owner is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        (groups.add if line[0] == "+" else groups.discard)(group)
    processes.stop(groups, grace=float(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
