"""Measure how reveals grow with processes and processors: `python -m benchmarks.process_scaling`.

Each cell has as many web processes as workers of the interactive queue, and everything in it is pinned to a
number of processors: PostgreSQL, Redis and the callers, too. The cells of one number of processors share
their servers and take turns, so that what disturbs the machine disturbs all of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from rich.console import Console

from benchmarks.comparison import checks, servers
from benchmarks.comparison.cells import Cell, Session, run_cell
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.report import table
from benchmarks.comparison.rounds import FULL
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Part, Running, Workload, started
from tools.console import echo
from tools.services import environment, processes
from tools.services.processes import ServiceError
from tools.services.supervisor import procfile_commands
from tools.state import ROOT, State

WORKER = "worker_interactive"
CALLERS = (16, 100)
WARM_UP_SECONDS = 2.0
START_SECONDS = 90.0
PARTS = (Part.WEB, Part.WORKER, Part.POSTGRES, Part.REDIS)
HEADER = ("processors", "web and worker processes", "callers", "reveals/s", "p99", "CPU", *PARTS)


def main(argv: list[str]) -> int:
    """Measure and print; return 1 if an answer or a balance was wrong."""
    options = _parser().parse_args(argv)
    levels = [count for count in options.processors if count <= (os.cpu_count() or 1)]
    turns = len(levels) * len(options.processes) * options.rounds
    folder = Path(tempfile.mkdtemp(prefix="process-scaling-"))
    wrong: list[str] = []
    rows: list[list[str]] = []
    with processes.interruptible(), Progress(turns) as progress:
        try:
            for count in levels:
                psutil.Process().cpu_affinity(list(range(count)))  # the servers and all else inherit it
                with servers.running(folder / str(count)) as shared:
                    cells = _measure(shared, options, progress, wrong)
                rows += [_row(count, *key, found) for key, found in cells.items()]
        except (ServiceError, KeyboardInterrupt) as error:
            echo(f"{str(error) or 'Interrupted.'}\nLogs: {folder}")
            return 1
    text = "\n\n".join(["# Processes and processors", table(HEADER, rows), *wrong])
    Console(soft_wrap=True, highlight=False, markup=False).print(text)
    shutil.rmtree(folder, ignore_errors=True)
    return int(bool(wrong))


def _measure(
    shared: Servers, options: argparse.Namespace, progress: Progress, wrong: list[str]
) -> dict[tuple[int, int], list[Cell]]:
    """Return the cells by the number of processes and callers."""
    product = Product(workloads=(Workload.REVEAL,))
    cells: dict[tuple[int, int], list[Cell]] = {}
    progress.show("create the data")
    session = Session(product, product.prepare(shared, FULL.scale), FULL.scale)
    for number in range(options.rounds):
        for count in options.processes:
            product.env["WEB_CONCURRENCY"] = str(count)
            with (
                started(product, shared) as alone,
                _further_workers(shared, product, alone, count) as running,
            ):
                run_cell(shared, running, session, Cell(product.name, Workload.REVEAL, 16), WARM_UP_SECONDS)
                shared.collect_statistics(product.name)
                for callers in CALLERS:
                    progress.show(f"{count} and {count} processes, {callers} callers")
                    cell = Cell(product.name, Workload.REVEAL, callers, number)
                    run_cell(shared, running, session, cell, options.seconds)
                    cells.setdefault((count, callers), []).append(cell)
                    wrong += cell.examples
            progress.advance(f"{count} and {count} processes: {cell.rate:,.0f}/s with {cell.callers} callers")
    wrong += checks.violations(shared, session)
    return cells


@contextmanager
def _further_workers(shared: Servers, product: Product, running: Running, count: int) -> Iterator[Running]:
    """Run further workers of the interactive queue beside the one that the product has."""
    state = State.open(shared.folder / product.name)
    env = environment.for_children(state, product.env, redis_url=product.env["REDIS_URL"])
    command = procfile_commands()[WORKER]
    further = [
        shared.reaper.spawn(
            ["sh", "-c", command.replace("interactive@", f"interactive{number}@")],
            state.logs / f"{WORKER}{number}.log",
            env,
        )
        for number in range(2, count + 1)
    ]
    try:
        _wait(state, env, count)
        pids = {**running.pids, Part.WORKER: [*running.pids[Part.WORKER], *(one.pid for one in further)]}
        yield Running(running.port, pids, running.env)
    finally:
        shared.reaper.stop(further, grace=START_SECONDS)


def _wait(state: State, env: dict[str, str], count: int) -> None:
    """Return once so many workers of the interactive queue answer."""
    names = ",".join(
        f"interactive{number if number > 1 else ''}@{os.uname().nodename}" for number in range(1, count + 1)
    )
    ping = ["-A", "workers.application", "inspect", "ping", "-d", names, "-t", "5"]
    for _ in range(int(START_SECONDS / 5)):
        command = [sys.executable, "-m", "celery", "-q", *ping]
        found = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - arguments from this file
        if found.stdout.count("pong") >= count:
            return
    raise ServiceError(f"The workers do not answer. Logs: {state.logs}")


def _row(processors: int, count: int, callers: int, cells: Sequence[Cell]) -> list[str]:
    def median(values: Iterator[float], form: str) -> str:
        return format(statistics.median(values), form)

    used = [median((1000 * cell.cpu[part] for cell in cells), ".2f") + " ms" for part in PARTS]
    return [
        str(processors),
        str(count),
        str(callers),
        median((cell.rate for cell in cells), ",.0f"),
        median((1000 * cell.p99 for cell in cells), ",.0f") + " ms",
        median((1000 * sum(cell.cpu.values()) for cell in cells), ".2f") + " ms",
        *used,
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.process_scaling", description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4], help="of each kind")
    parser.add_argument("--processors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
