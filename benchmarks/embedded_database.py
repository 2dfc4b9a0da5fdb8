"""Measure a single caller on the embedded SQLite database, beside PostgreSQL.

    python3 dev.py run python -m benchmarks.embedded_database [--seconds 4] [--rounds 5]

Two instances of the product take turns, each with its own database. The exit code is 1 if an answer was
wrong, or if the median on SQLite is over 1.5 times that on PostgreSQL.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from benchmarks.comparison import servers
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.report import table
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Scale, Workload, started
from benchmarks.many_at_once.groups import Group, Observed, send
from tools.services import processes

AIM = 1.5
WORKLOADS = (Workload.REVEAL, Workload.LOOKUP)
PEOPLE = 10_000
WARM_UP_SECONDS = 1.0
HEADER = ["one caller", "PostgreSQL: p50 ms", "p99", "SQLite: p50 ms", "p99", "ratio of p50", "of p99"]


def main() -> int:
    """Measure both databases, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of each measurement")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="embedded-database-"))
    with processes.interruptible(), servers.running(folder) as shared:
        observed = _measure(shared, options.seconds, options.rounds)
    shutil.rmtree(folder, ignore_errors=True)
    rows, is_good = [], True
    for workload in WORKLOADS:
        postgres, sqlite = observed[workload, False], observed[workload, True]
        ratios = [sqlite.latency(share) / postgres.latency(share) for share in (0.5, 0.99)]
        times = [each.latency(share) for each in (postgres, sqlite) for share in (0.5, 0.99)]
        rows.append(
            [workload.value, *(f"{1000 * each:.1f}" for each in times), *(f"{each:.2f}" for each in ratios)]
        )
        is_good &= ratios[0] <= AIM and not (postgres.wrong or sqlite.wrong)
        is_good &= not (postgres.refused or sqlite.refused)
    Console(soft_wrap=True, highlight=False, markup=False).print(table(HEADER, rows))
    return 0 if is_good else 1


def _measure(shared: servers.Servers, seconds: float, rounds: int) -> dict[tuple[Workload, bool], Observed]:
    """Return what was observed by workload, and whether the database is embedded."""
    observed = {(workload, embedded): Observed() for workload in WORKLOADS for embedded in (False, True)}
    with ExitStack() as stop:
        progress = stop.enter_context(Progress(rounds * len(observed)))
        groups, instances = {}, {}
        for embedded in (False, True):
            product = Product(
                name=f"product_{embedded}".lower(), embedded=embedded, redis_number=int(embedded)
            )
            progress.show(f"start {product.name}")
            tokens = product.prepare(shared, Scale(1, PEOPLE))
            instances[embedded] = stop.enter_context(started(product, shared))
            for workload in WORKLOADS:
                groups[workload, embedded] = Group(tokens, PEOPLE, workload=workload)
                send(instances[embedded], groups[workload, embedded], WARM_UP_SECONDS)
        for _ in range(rounds):
            for (workload, embedded), answers in observed.items():
                progress.show(f"{workload} on {'SQLite' if embedded else 'PostgreSQL'}")
                found = send(instances[embedded], groups[workload, embedded], seconds)
                answers.add(found)
                progress.advance(f"p50 {1000 * found.latency(0.5):.1f} ms")
    return observed


if __name__ == "__main__":
    sys.exit(main())
