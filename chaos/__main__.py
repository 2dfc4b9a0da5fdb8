"""`dev.py chaos`: inject faults into the service under load, and check that its guarantees hold."""

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

from chaos.context import ScenarioContext
from chaos.live_table import LiveTable
from chaos.report import ReportLine, ScenarioResult, print_report, write_json
from chaos.scenarios.registry import SCENARIOS, Scenario
from chaos.system.launcher import running
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError

REVEALS = 2000
REPORT_WIDTH = 150  # characters, if stdout is not a terminal


def main(argv: list[str]) -> int:
    """Return 0 if every guarantee held, 130 after an interrupt, otherwise 1."""
    options = _parser().parse_args(argv)
    scenarios = _choose(options.only, short=options.short, sqlite=options.sqlite)
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    started, machine_load = time.monotonic(), f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    results: list[ScenarioResult] = []
    with processes.interruptible():
        try:
            _run_all(scenarios, folder, options, results)
        except ServiceError as error:
            echo(f"{error}\nLogs: {folder}")
            return 1
        except KeyboardInterrupt:
            echo(f"Interrupted; the results so far follow. Logs: {folder}")
    console = Console(width=None if sys.stdout.isatty() else REPORT_WIDTH)
    print_report(results, console)
    complete = len(results) == len(scenarios)
    passed = complete and all(result.holds for result in results)
    database = "SQLite" if options.sqlite else "PostgreSQL"
    if options.json:
        facts = {"seed": options.seed, "database": database, "short": options.short, "passed": passed}
        write_json(results, options.json, **facts, load_before=machine_load)
    console.print(_verdict(passed=passed, complete=complete), f"{database}, seed {options.seed}", end=", ")
    minutes = (time.monotonic() - started) / 60
    console.print(f"{minutes:.1f} minutes; load of the machine before: {machine_load}.", end=" ")
    console.print("" if passed else f"Logs: {folder}")
    if passed:
        shutil.rmtree(folder, ignore_errors=True)
    if complete:
        return 0 if passed else 1
    return 130


def _run_all(
    scenarios: list[Scenario], folder: Path, options: argparse.Namespace, results: list[ScenarioResult]
) -> None:
    """Run the scenarios one after the other on the same servers, and append their results."""
    titles = [(scenario.id, scenario.title) for scenario in scenarios]
    with running(folder, sqlite=options.sqlite) as service, LiveTable(titles) as table:
        for scenario in scenarios:
            context = ScenarioContext(
                service, table, options.reveals, options.short, options.seed, scenario.id
            )
            results.append(_run_scenario(scenario, context))


def _run_scenario(scenario: Scenario, context: ScenarioContext) -> ScenarioResult:
    """Run a scenario; return its result, in which an exception is a failure."""
    started = time.monotonic()
    try:
        scenario.run(context)
    except Exception as error:  # noqa: BLE001 - the other scenarios still run
        examples = (traceback.format_exc(),)
        context.lines.append(
            ReportLine(
                "the scenario itself", type(error).__name__, "completes", holds=False, examples=examples
            )
        )
    result = ScenarioResult(scenario.id, scenario.title, context.lines, time.monotonic() - started)
    context.show("ok" if result.holds else "FAILED")
    return result


def _choose(only: str, *, short: bool, sqlite: bool) -> list[Scenario]:
    """Return the scenarios named in `only`, or all, of those that fit the run."""
    ids = {name.strip().upper() for name in only.split(",") if name.strip()}
    unknown = ids - {scenario.id for scenario in SCENARIOS}
    if unknown:
        valid = ", ".join(scenario.id for scenario in SCENARIOS)
        sys.exit(f"There is no scenario {', '.join(sorted(unknown))}; choose from {valid}.")
    return [
        scenario
        for scenario in SCENARIOS
        if (scenario.id in ids if ids else scenario.short or not short) and (scenario.sqlite or not sqlite)
    ]


def _verdict(*, passed: bool, complete: bool) -> str:
    if not complete:
        return "[red]Not every scenario was run.[/]"
    return "[green]Every guarantee held.[/]" if passed else "[red]A guarantee did not hold.[/]"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py chaos", description=__doc__)
    parser.add_argument("--only", default="", help="scenarios by id, such as R1,R4 (default: all)")
    parser.add_argument("--reveals", type=int, default=REVEALS, help=f"accepted in R4 (default: {REVEALS})")
    parser.add_argument("--short", action="store_true", help="about three minutes, for CI")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="of the workload and the network faults"
    )
    parser.add_argument(
        "--sqlite", action="store_true", help="on the embedded database instead of PostgreSQL"
    )
    parser.add_argument("--json", type=Path, help="also write the report to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
