"""`python -m tools.services.reaper <grace>`: stop process groups whose owner has died."""

from __future__ import annotations

import signal
import sys

from tools.services.process_groups import stop_groups


def main() -> int:
    """Read `+group` and `-group` lines until the owner closes the pipe; then stop the groups that remain."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        (groups.add if line[0] == "+" else groups.discard)(group)
    stop_groups(groups, grace=float(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
