"""`dev.py bench`: compare the product with the systems that a team would otherwise build.

Every system gets its own database on the same PostgreSQL and Redis-protocol servers. The systems take turns,
one at a time, in several rounds, so that what disturbs the machine disturbs all of them. Every answer is
checked, and every database after each turn.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks.comparison import charts, report, servers
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.rounds import FULL, QUICK, Comparison
from benchmarks.comparison.systems.registry import SYSTEMS
from benchmarks.comparison.systems.system import System
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError
from tools.state import ROOT

OUTPUT = ROOT / ".data" / "bench"
INTERRUPTED = 130


def main(argv: list[str]) -> int:
    """Return 0 if every answer and every database was right, 130 after an interrupt, otherwise 1."""
    options = _parser().parse_args(argv)
    changes = {name: getattr(options, name) for name in ("rounds", "callers") if getattr(options, name)}
    schedule = dataclasses.replace(QUICK if options.quick else FULL, **changes)
    comparison = Comparison(_choose(options.systems), schedule)
    folder, started = Path(tempfile.mkdtemp(prefix="bench-")), time.monotonic()
    code = _run(comparison, folder)
    if comparison.cells:
        _write(comparison, options.output, minutes=(time.monotonic() - started) / 60)
    if code == 1:
        echo(f"Logs: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return code


def _run(comparison: Comparison, folder: Path) -> int:
    """Run the comparison with its logs in the folder; return the exit code."""
    cells = comparison.schedule.count_cells(comparison.systems)
    with processes.interruptible():
        try:
            with servers.running(folder) as shared, Progress(cells) as progress:
                comparison.run(shared, progress)
        except ServiceError as error:
            echo(str(error))
            return 1
        except KeyboardInterrupt:
            echo("Interrupted; the results so far follow.")
            return INTERRUPTED
    return int(bool(comparison.wrong))


def _write(comparison: Comparison, output: Path, *, minutes: float) -> None:
    """Write the report to the folder, and print it."""
    output.mkdir(parents=True, exist_ok=True)
    facts = report.facts(comparison, minutes)
    text = report.markdown(comparison, facts)
    (output / "results.md").write_text(text)
    (output / "results.json").write_text(report.as_json(comparison, facts))
    for name, drawing in charts.draw(comparison).items():
        (output / f"{name}.svg").write_text(drawing)
    Console(soft_wrap=True, highlight=False, markup=False).print(text)
    echo(f"Written to {output}: results.md, results.json and the charts.")


def _choose(names: str) -> list[System]:
    """Return the systems with these names, or all."""
    chosen = {name.strip() for name in names.split(",") if name.strip()}
    unknown = chosen - {system.name for system in SYSTEMS}
    if unknown:
        valid = ", ".join(system.name for system in SYSTEMS)
        sys.exit(f"Unknown system: {', '.join(sorted(unknown))}. Choose from {valid}.")
    return [system for system in SYSTEMS if not chosen or system.name in chosen]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1 and 16 callers, one round, short cells")
    parser.add_argument("--systems", default="", help="some of them, such as product,flask-celery")
    parser.add_argument("--rounds", type=int, help=f"default: {FULL.rounds}, or {QUICK.rounds} with --quick")
    parser.add_argument("--callers", type=_levels, help="levels, such as 1,100 (default: 1,16,100,1000)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder of the report (.data/bench)")
    return parser


def _levels(text: str) -> tuple[int, ...]:
    levels = text.split(",")
    if not all(level.isascii() and level.isdigit() and int(level) for level in levels):
        raise argparse.ArgumentTypeError(f"{text} is not a list of numbers of callers, such as 1,100")
    return tuple(map(int, levels))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
