"""Measure an import through the queue whose worker is killed: `python -m benchmarks.queued_import`.

It starts throw-away PostgreSQL and Redis servers, Celery beat and a worker of the queue `upkeep`, and queues
a list of generated people with `flask contacts import --queue`. The worker is killed with SIGKILL several
times on the way and started again; the import continues when its lease of a minute has ended. At the end, the
contacts are counted: each row once, and the counts of the import.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
from rich.console import Console

from benchmarks._people import write_list
from benchmarks.comparison import servers
from tools.services.supervisor import procfile_commands

POLL_SECONDS = 0.5
_FLASK = [sys.executable, "-m", "flask", "--app", "cli.application:create_app"]
_PROGRESS = "SELECT status, rows_done, result FROM queued_imports"
_STORED = "SELECT count(*), count(DISTINCT linkedin_url) FROM contacts"


@dataclass(slots=True)
class Watch:
    """The rows at each kill, the peak memory of each process in MB, and the processor seconds of all."""

    killed_at: list[int] = field(default_factory=list)
    peaks: list[float] = field(default_factory=lambda: [0.0])
    processor: float = 0.0


def main(argv: list[str]) -> int:
    """Import and kill; print the figures. Return 1 if a row is missing, there twice, or counted wrongly."""
    options = _parser().parse_args(argv)
    show = Console(soft_wrap=True, highlight=False, markup=False).print
    with tempfile.TemporaryDirectory() as name, servers.running(Path(name)) as running:
        folder, url = Path(name), running.create_database("queued")
        environment = _environment(folder, url, running.redis_url)
        _run(environment, "database", "upgrade")
        write_list(folder / "people.csv", options.rows)
        _run(environment, "contacts", "import", str(folder / "people.csv"), "--queue")
        started = time.perf_counter()
        watch = _import(environment, url, options.rows, options.kills)
        seconds = time.perf_counter() - started
        with psycopg.connect(url) as connection:
            status, rows, result = connection.execute(_PROGRESS).fetchone() or ("", 0, {})
            stored = connection.execute(_STORED).fetchone()
    show(f"{options.rows:,} rows in {seconds:,.0f} s, {watch.processor:,.0f} s of them on a processor")
    show(f"killed with SIGKILL after {', '.join(f'{at:,}' for at in watch.killed_at) or 'no'} rows")
    show(f"peak memory of each process: {', '.join(f'{peak:.0f}' for peak in watch.peaks)} MB")
    show(f"{status}: {rows:,} rows; {result['counts']}; contacts and distinct profiles: {stored}")
    is_right = stored == (options.rows,) * 2 and result["counts"].get("new") == options.rows == rows
    return 0 if is_right else 1


def _environment(folder: Path, url: str, redis_url: str) -> dict[str, str]:
    keys = {key: secrets.token_urlsafe(48) for key in ("SECRET_KEY", "SUPPRESSION_KEY")}
    (folder / "lists").mkdir()
    settings = {
        "DATABASE_URL": url,
        "REDIS_URL": redis_url,
        "IMPORT_FOLDER": str(folder / "lists"),
        "BEAT_SCHEDULE": str(folder / "schedule"),
        "LOG_LEVEL": "error",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return os.environ | keys | settings


def _run(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run([*_FLASK, *arguments], env=environment, check=True, capture_output=True)  # noqa: S603 -- our own command


def _import(environment: dict[str, str], url: str, rows: int, kills: int) -> Watch:
    """Let a worker import the list, and kill it at equal distances; return what was seen."""
    watch = Watch()
    stops: list[int | None] = [rows * number // (kills + 1) for number in range(1, kills + 1)]
    with psycopg.connect(url, autocommit=True) as connection, _running(environment, "beat"):
        for stop in (*stops, None):
            with _running(environment, "worker_upkeep") as worker:
                _wait(connection, worker, watch, stop)
            if stop is not None:
                watch.killed_at.append(_progress(connection)[1])
                watch.peaks.append(0.0)
    return watch


def _wait(
    connection: psycopg.Connection[Any], worker: psutil.Process, watch: Watch, stop: int | None
) -> None:
    """Wait until so many rows are imported, or without a number until the import has ended."""
    before = watch.processor
    while True:
        memory, processor = _used(worker)
        watch.peaks[-1] = max(watch.peaks[-1], memory)
        watch.processor = before + processor
        status, done = _progress(connection)
        if status in {"finished", "rejected"} or (stop is not None and done >= stop):
            return
        time.sleep(POLL_SECONDS)


def _progress(connection: psycopg.Connection[Any]) -> tuple[str, int]:
    status, rows, _result = connection.execute(_PROGRESS).fetchone()
    return str(status), int(rows)


def _used(worker: psutil.Process) -> tuple[float, float]:
    """Return the memory in MB and the processor seconds of a process."""
    times = worker.cpu_times()
    return worker.memory_info().rss / 1e6, times.user + times.system


@contextmanager
def _running(environment: dict[str, str], name: str) -> Iterator[psutil.Process]:
    """Run a process of the Procfile, and kill it with SIGKILL at the end of the block."""
    command = ["/bin/sh", "-c", procfile_commands()[name]]
    process = subprocess.Popen(command, env=environment, start_new_session=True)  # noqa: S603 -- of the Procfile
    try:
        yield psutil.Process(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queued_import", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="number of people")
    parser.add_argument("--kills", type=int, default=3, help="how often the worker is killed")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
