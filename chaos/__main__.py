"""`dev.py chaos`: break everything around the service while it works, and see whether its promises hold."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from rich.console import Console

from chaos import service
from chaos.context import ScenarioContext
from chaos.report import LiveTable, ReportLine, ScenarioResult, print_report, write_json
from chaos.scenarios.registry import SCENARIOS, Scenario
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError

REVEALS = 2000
WIDTH = 150  # of a report that goes to a file


def main(argv: list[str]) -> int:
    """Return 0 if every promise was kept, 1 if one was broken or something could not start."""
    chosen = _parser().parse_args(argv)
    scenarios = _choose(chosen.only, short=chosen.short, sqlite=chosen.sqlite)
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    started, busy = time.monotonic(), f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    results: list[ScenarioResult] = []
    with processes.interruptible():
        try:
            _run_all(scenarios, folder, chosen, results)
        except ServiceError as problem:
            echo(f"{problem}\nLogs: {folder}")
            return 1
        except KeyboardInterrupt:
            echo(f"Interrupted; what was measured until then follows. Logs: {folder}")
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    print_report(results, console)
    whole = len(results) == len(scenarios)
    kept = whole and all(result.holds for result in results)
    database = "SQLite" if chosen.sqlite else "PostgreSQL"
    if chosen.json:
        facts = {"seed": chosen.seed, "database": database, "short": chosen.short, "kept": kept}
        write_json(results, chosen.json, **facts, load_before=busy)
    console.print(_verdict(kept=kept, whole=whole), f"On {database}, seed {chosen.seed}", end=", ")
    minutes = (time.monotonic() - started) / 60
    console.print(f"in {minutes:.1f} minutes; load of the machine before: {busy}.", end=" ")
    console.print("" if kept else f"Logs: {folder}")
    if kept:
        shutil.rmtree(folder, ignore_errors=True)
    if whole:
        return 0 if kept else 1
    return 130


def _run_all(
    scenarios: list[Scenario], folder: Path, chosen: argparse.Namespace, results: list[ScenarioResult]
) -> None:
    """Run the scenarios one after the other on one stack, and add what came of each."""
    lines = [(one.id, one.title) for one in scenarios]
    with service.running(folder, sqlite=chosen.sqlite) as running, LiveTable(lines) as board:
        for scenario in scenarios:
            stage = ScenarioContext(running, board, chosen.reveals, chosen.short, chosen.seed, scenario.id)
            results.append(_run_scenario(scenario, stage))


def _verdict(*, kept: bool, whole: bool) -> str:
    if not whole:
        return "[red]Not everything was run.[/]"
    return "[green]Every promise was kept.[/]" if kept else "[red]A promise was broken.[/]"


def _run_scenario(scenario: Scenario, stage: ScenarioContext) -> ScenarioResult:
    """Run one scenario; an error in it is a broken promise, and the others still run."""
    started = time.monotonic()
    try:
        scenario.run(stage)
    except Exception as error:  # noqa: BLE001 - the others still run
        text = traceback.format_exc()
        stage.lines.append(
            ReportLine(
                "the scenario itself", type(error).__name__, "runs to its end", holds=False, examples=(text,)
            )
        )
    result = ScenarioResult(scenario.id, scenario.title, stage.lines, time.monotonic() - started)
    stage.show("kept" if result.holds else "BROKEN")
    return result


def _choose(only: str, *, short: bool, sqlite: bool) -> list[Scenario]:
    names = {name.strip().upper() for name in only.split(",") if name.strip()}
    unknown = names - {one.id for one in SCENARIOS}
    if unknown:
        there = ", ".join(one.id for one in SCENARIOS)
        sys.exit(f"There is no scenario {', '.join(sorted(unknown))}; there are {there}.")
    found = [one for one in SCENARIOS if one.id in names or (not names and (one.short or not short))]
    return [one for one in found if one.sqlite or not sqlite]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py chaos", description=__doc__)
    parser.add_argument("--only", default="", help="scenarios by name, such as R1,R4 (default: all)")
    parser.add_argument("--reveals", type=int, default=REVEALS, help=f"accepted in R4 (default: {REVEALS})")
    parser.add_argument("--short", action="store_true", help="some three minutes, for CI")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="of what is asked, and of the network"
    )
    parser.add_argument(
        "--sqlite", action="store_true", help="on the embedded database instead of PostgreSQL"
    )
    parser.add_argument("--json", type=Path, help="write the report there, too")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
