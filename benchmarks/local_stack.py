"""Measure `dev.py up`: the seconds until it answers, and its processor time and memory at rest.

    python benchmarks/local_stack.py --starts 5 --windows 3

The database of the first start is migrated and filled; the starts after it are measured, from the command to
the first answer. At rest, each window lasts a minute; the share is of one processor. Memory is the
proportional set size, in which a page that several processes share is divided among them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
WINDOW_SECONDS = 60
SETTLING_SECONDS = 20


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--windows", type=int, default=3)
    options = parser.parse_args()
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        seconds = [_start_once(Path(folder)) for _ in range(options.starts + 1)][1:]
        median = statistics.median(seconds)
        console.print(f"seconds until the first answer: {_list(seconds)}; median {median:.1f}")
        with _running(Path(folder)) as process:
            time.sleep(SETTLING_SECONDS)
            shares = [_share_of_processor(process) for _ in range(options.windows)]
            memory = sum(each.memory_full_info().pss for each in _processes(process)) / 1e6
    console.print(f"processor time at rest in %: {_list(shares)}")
    console.print(f"memory at rest: {memory:.0f} MB")


def _start_once(folder: Path) -> float:
    started = time.monotonic()
    with _running(folder):
        return time.monotonic() - started


@contextmanager
def _running(folder: Path) -> Iterator[psutil.Process]:
    """Run `dev.py up` with this data directory; the block begins once the API has answered."""
    env = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_KEY"))}
    command = [sys.executable, str(ROOT / "dev.py"), "up", "--json"]
    with subprocess.Popen(  # noqa: S603 -- our own command
        command, env=env | {"DEV_DATA_DIR": str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            access = json.loads(process.stdout.readline() if process.stdout else "")
            with urllib.request.urlopen(access["base_url"] + "/healthz") as response:  # noqa: S310 -- our own address
                response.read()
            yield psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGINT)


def _share_of_processor(process: psutil.Process) -> float:
    """Return the processor time of all processes in one window, in per cent of it."""
    before = _processor_seconds(process)
    time.sleep(WINDOW_SECONDS)
    return 100 * (_processor_seconds(process) - before) / WINDOW_SECONDS


def _processor_seconds(process: psutil.Process) -> float:
    times = [each.cpu_times() for each in _processes(process)]
    return sum(each.user + each.system for each in times)


def _processes(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _list(figures: list[float]) -> str:
    return ", ".join(f"{figure:.1f}" for figure in figures)


if __name__ == "__main__":
    main()
