"""Verify mailboxes at simulated mail systems, and print the verdicts: `python -m benchmarks.verification`.

Each system is a mail server and a name server on loopback, and has one mailbox that exists and one that does
not. Both are verified in both orders, each order with a new verifier, so that the second verification uses
what the first learned of the domain. A verdict is missed if it is unknown although the replies tell more, and
wrong if the replies do not support it, as `valid` where every address is accepted, or `invalid` by a policy.
The exit code is 1 if a verdict is wrong.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
SUPPORT = ("support", "support/servers", "support/stored")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]

from benchmarks.verification.mail_systems import SYSTEMS  # noqa: E402 -- after the paths
from benchmarks.verification.matrix import VERDICTS, Row, measure  # noqa: E402 -- likewise


def main() -> int:
    """Measure and print; return 1 if a verdict is wrong."""
    started = time.perf_counter()
    rows = [row for system in SYSTEMS for row in measure(system)]
    wrong, missed = sum(row.wrong for row in rows), sum(row.missed for row in rows)
    console = Console(width=110)
    console.print(_table(rows))
    total = sum(row.counts.total() for row in rows)
    console.print(
        f"{len(SYSTEMS)} systems, {total} verdicts: {wrong} wrong, {missed} missed; "
        f"{time.perf_counter() - started:.0f} s"
    )
    return 1 if wrong else 0


def _table(rows: list[Row]) -> Table:
    table = Table("system", "mailbox", *VERDICTS, "")
    for row in rows:
        counts = (str(row.counts[verdict] or "") for verdict in VERDICTS)
        remark = "WRONG" if row.wrong else "missed" if row.missed else ""
        table.add_row(row.system, row.truth, *counts, remark, end_section=row.truth == "missing")
    return table


if __name__ == "__main__":
    sys.exit(main())
