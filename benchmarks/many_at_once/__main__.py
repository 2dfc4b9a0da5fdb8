"""Measure the clicks of some while others keep the product busy: `python -m benchmarks.many_at_once`.

A click is the reveal of a stored contact. Clicks are measured while the product is quiet, and again while

- an enrichment of 10,000 stored people runs for another workspace;
- one of 50 workspaces floods it with 100 callers, and no rate limit stops them: with reveals, with reveals
  whose answers it does not wait for, and with lookups.

The product runs as `dev.py up` starts it, on a throw-away PostgreSQL server and a Redis-protocol server. The
exit code is 1 if an answer or a balance was wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks.comparison import checks, servers
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Scale, started
from benchmarks.many_at_once import report, scenarios
from benchmarks.many_at_once.scenarios import CLICKERS, FLOODS, Comparison, Size
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError
from tools.state import ROOT

ENRICHMENT, FLOOD = "enrichment", "flood"


def main(argv: list[str]) -> int:
    """Measure and report; return 1 if something was wrong."""
    options = _parser().parse_args(argv)
    size = Size(options.seconds, options.rounds, options.items, options.workspaces, options.people)
    folder, began = Path(tempfile.mkdtemp(prefix="many-at-once-")), time.monotonic()
    comparisons: list[Comparison] = []
    with processes.interruptible():
        try:
            with servers.running(folder) as running:
                _run(running, size, {options.only} if options.only else {ENRICHMENT, FLOOD}, comparisons)
        except (ServiceError, KeyboardInterrupt) as error:
            echo(str(error) or "Interrupted.")
            echo(f"Logs: {folder}")
            return 1
    text = report.markdown(comparisons, (time.monotonic() - began) / 60)
    Console(soft_wrap=True, highlight=False, markup=False).print(text)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.md").write_text(text)
    (options.output / "results.json").write_text(report.as_json(comparisons))
    shutil.rmtree(folder, ignore_errors=True)
    return int(any(one.wrong for one in comparisons))


def _run(shared: Servers, size: Size, only: set[str], comparisons: list[Comparison]) -> None:
    """Measure what is in `only`, and append it to the comparisons."""
    cells = {ENRICHMENT: len(CLICKERS) * (size.rounds + 1), FLOOD: 2 * len(FLOODS) * size.rounds}
    product = Product()
    with Progress(sum(cells[name] for name in only)) as progress:
        progress.show("create the data")
        tokens = product.prepare(
            shared, Scale(1 + len(CLICKERS) + len(FLOODS) * size.workspaces, size.people)
        )
        enriching, flooded = tokens[: 1 + len(CLICKERS)], tokens[1 + len(CLICKERS) :]
        if ENRICHMENT in only:
            with started(product, shared) as running:
                comparisons += scenarios.beside_enrichment(shared, running, enriching, size, progress)
        if FLOOD in only:
            for number, kind in enumerate(FLOODS):
                workspaces = flooded[number * size.workspaces :][: size.workspaces]
                with started(product, shared) as running:
                    comparisons.append(
                        scenarios.beside_flood(
                            shared, running, workspaces, size, kind=kind, progress=progress
                        )
                    )
        _charged, wrong = checks.charged_and_wrong(shared, product.name)
    comparisons[-1].wrong += wrong


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_at_once", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of each measurement")
    parser.add_argument("--items", type=int, default=10_000, help="people of the enrichment")
    parser.add_argument("--workspaces", type=int, default=50, help="one of which floods the product")
    parser.add_argument("--people", type=int, default=20_000, help="stored contacts")
    parser.add_argument("--only", choices=[ENRICHMENT, FLOOD], help="one of the two")
    output = ROOT / ".data" / "many_at_once"
    parser.add_argument("--output", type=Path, default=output, help="folder of the report")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
