"""Measure how long CRMs are read, and the clicks of users beside it: `python -m benchmarks.crm_reading`.

A HubSpot, a Salesforce and a Twenty with generated people are played on this machine. The product runs as
`dev.py up` starts it, on a throw-away PostgreSQL server and a Redis-protocol server. Three workspaces connect
one of them each; eight callers of another workspace reveal and look up stored people before and while the
CRMs are read. The report says how much of the processors each part of the product uses meanwhile, and the
played CRMs, which are on other machines in reality. Then people are changed in the CRMs until lookups say so.
The rates that vendors publish are kept, so a Twenty with 100,000 people takes eleven minutes: `--minutes`
ends the waiting.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks._json_server import serving
from benchmarks.comparison import servers
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.report import table
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Running, Scale, Workload, started
from benchmarks.crm_reading import seed
from benchmarks.crm_reading.crms import CRMS, FakeCrm
from benchmarks.crm_reading.readings import Reading, watching
from benchmarks.crm_reading.usage import Usage
from benchmarks.many_at_once import report
from benchmarks.many_at_once.enrichment import call
from benchmarks.many_at_once.groups import Group, send
from benchmarks.many_at_once.scenarios import DATABASE, Comparison
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError
from tools.state import ROOT

CALLERS = 8
PAUSE = 0.25
"""Seconds between the clicks of a caller: together they use a part of the machine, as people do."""
WARM_UP_SECONDS = 2.0


def main(argv: list[str]) -> int:
    """Measure and report; return 1 if something was wrong."""
    options = _parser().parse_args(argv)
    folder, began = Path(tempfile.mkdtemp(prefix="crm-reading-")), time.monotonic()
    with processes.interruptible(), ExitStack() as stack:
        try:
            shared = stack.enter_context(servers.running(folder))
            crms = [stack.enter_context(serving(kind(options.records))) for kind in CRMS]
            text, is_right = _measure(shared, crms, options)
        except (ServiceError, KeyboardInterrupt) as error:
            echo(str(error) or "Interrupted.")
            echo(f"Logs: {folder}")
            return 1
    minutes = (time.monotonic() - began) / 60
    title = f"# Reading CRMs\n\n{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {minutes:.1f} minutes.\n\n"
    Console(soft_wrap=True, highlight=False, markup=False).print(title + text)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.md").write_text(title + text)
    shutil.rmtree(folder, ignore_errors=True)
    return int(not is_right)


def _measure(shared: Servers, crms: Sequence[FakeCrm], options: argparse.Namespace) -> tuple[str, bool]:
    """Return the report, and whether every answer to a click was right."""
    product = Product()
    with Progress(4 * options.rounds + 2) as progress:
        progress.show("create the data")
        tokens = product.prepare(shared, Scale(len(crms) + 1, options.people))
        product.env |= {f"CRM_{crm.vendor.upper()}_BASE_URL": crm.url for crm in crms}
        product.env |= {"WEBHOOK_NETWORKS": "127.0.0.1/32"}
        readings = [Reading(crm, token) for crm, token in zip(crms, tokens, strict=False)]
        with started(product, shared) as running:
            usage = Usage(shared, running, crms)
            clicks = Clicks(running, tokens[-1], options, progress, usage)
            shared.collect_statistics(DATABASE)
            clicks.measure(quiet=True)
            _connect(shared, product, running, readings)
            with watching(running, readings) as watch:
                clicks.measure(quiet=False)
                if len(watch.under_way) < len(readings):
                    clicks.comparisons[0].wrong.append(
                        "a reading ended before the clicks: play more --records"
                    )
                progress.show("the rest of the readings")
                watch.wait(60 * options.minutes)
                progress.advance("; ".join(map(str, readings)))
            progress.show("change people in the CRMs")
            _change(running, [one for one in readings if one.seconds is not None], options.changes)
            progress.advance("changes seen")
    wrong = [f"- wrong: {one.title}: {text}" for one in clicks.comparisons for text in one.wrong]
    memory = f"The workers had {watch.peak / 1e6:,.0f} MB at most."
    compared = table(report.LATENCIES, [report.latencies(one) for one in clicks.comparisons])
    parts = [_table(readings), memory, compared, usage.table(), "\n".join(wrong)]
    return "\n\n".join(filter(None, parts)) + "\n", not wrong


class Clicks:
    """Reveals and lookups of a workspace without a CRM."""

    def __init__(
        self, running: Running, token: str, options: argparse.Namespace, progress: Progress, usage: Usage
    ) -> None:
        self._running = running
        self._usage = usage
        self._options = options
        self._progress = progress
        self._groups = [
            Group([token], options.people, CALLERS, PAUSE, workload=workload)
            for workload in (Workload.REVEAL, Workload.LOOKUP)
        ]
        self.comparisons = [Comparison(f"{group.workload}s of {CALLERS} callers") for group in self._groups]
        for group in self._groups:
            send(running, group, WARM_UP_SECONDS)

    def measure(self, *, quiet: bool) -> None:
        """Send the requests of each round."""
        with self._usage.measured("quiet" if quiet else "while CRMs are read"):
            for _ in range(self._options.rounds):
                for group, comparison in zip(self._groups, self.comparisons, strict=True):
                    self._progress.show(comparison.title)
                    answers = send(self._running, group, self._options.seconds)
                    self._progress.advance(comparison.add(answers, quiet=quiet))


def _connect(shared: Servers, product: Product, running: Running, readings: Sequence[Reading]) -> None:
    """Connect each workspace to its CRM."""
    wanted = [
        {
            "workspace_id": call(running.port, "GET", "/api/ext/session", one.token)["workspace"]["id"],
            "vendor": one.crm.vendor,
            "url": one.crm.url,
        }
        for one in readings
    ]
    seed.connect(shared, product, wanted)


def _change(running: Running, readings: Sequence[Reading], changes: int) -> None:
    """Change so many people of each CRM, all CRMs at the same time."""
    with ThreadPoolExecutor(max(1, len(readings))) as pool:
        for number in range(1, changes + 1):
            list(pool.map(lambda one, number=number: one.change(running.port, number), readings))


def _table(readings: Sequence[Reading]) -> str:
    header = [
        "CRM",
        "records read",
        "first reading, s",
        "requests per 1,000 records",
        "s until a change is seen",
    ]
    return table(header, [_row(one) for one in readings])


def _row(one: Reading) -> list[str]:
    changes = ", ".join(f"{seconds:.0f}" for seconds in one.changes)
    return [
        one.crm.vendor,
        f"{one.records:,} of {one.crm.records:,}",
        f"{one.seconds:,.0f}" if one.seconds is not None else one.error or "not over",
        f"{1000 * one.requests / max(1, one.records):.1f}",
        changes or "—",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crm_reading", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="people of each CRM")
    parser.add_argument("--minutes", type=float, default=150.0, help="after which a reading is not awaited")
    parser.add_argument("--changes", type=int, default=3, help="people changed in each CRM, one by one")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each measurement of clicks")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of each measurement")
    parser.add_argument("--people", type=int, default=20_000, help="stored contacts")
    output = ROOT / ".data" / "crm_reading"
    parser.add_argument("--output", type=Path, default=output, help="folder of the report")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
