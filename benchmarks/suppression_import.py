"""Measure `flask suppressions import` of a list of hashes: `python -m benchmarks.suppression_import`.

It starts a throw-away PostgreSQL server and writes a list of random SHA-256 hashes. The list is imported into
an empty database, and once more, which adds nothing; then into another database, by a process that is killed
several times and started again. Each run is the command itself, with its own peak memory; processor time
includes the database server's. At the end, the rows are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from rich.console import Console

from benchmarks.comparison import servers
from benchmarks.comparison.servers import Servers

KILLS = 3
_FLASK = [sys.executable, "-m", "flask", "--app", "cli.application:create_app"]
_COUNT = "SELECT count(*), count(DISTINCT digest) FROM suppressions"


@dataclass(frozen=True, slots=True)
class Run:
    """What one command took, processor seconds with the server's, and what it printed."""

    seconds: float
    processor: float
    peak_mb: float
    printed: dict[str, int]


def main(argv: list[str]) -> int:
    """Import, import again, kill and resume; print a table. Return 1 if a row is missing or there twice."""
    rows = _parser().parse_args(argv).rows
    show = Console(soft_wrap=True, highlight=False, markup=False).print
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder)) as running:
        file = Path(folder) / "hashes.csv"
        _write(file, rows)
        show(f"{rows:,} hashes, {file.stat().st_size / 1e6:.0f} MB")
        show("| run | seconds | rows per processor second | peak MB | added | listed already |")
        show("| --- | ---: | ---: | ---: | ---: | ---: |")
        environment = _environment(running, "whole")
        for name in ("first", "the same list again"):
            show(_row(name, rows, _import(running, environment, file)))
        kept = [_count(running, "whole")]
        environment = _environment(running, "killed")
        for number in range(1, KILLS + 1):
            found = _kill(running, environment, file, rows * number // (KILLS + 1))
            show(f"| killed with SIGKILL | | | | {found:,} | |")
        show(_row("resumed", rows, _import(running, environment, file)))
        kept.append(_count(running, "killed"))
    show(f"rows, distinct rows: {kept}")
    return 0 if kept == [(rows, rows)] * 2 else 1


def _write(file: Path, rows: int) -> None:
    with file.open("w", encoding="ascii") as target:
        target.write("email_sha256\n")
        target.writelines(f"{secrets.token_hex(32)}\n" for _ in range(rows))


def _environment(running: Servers, name: str) -> dict[str, str]:
    """Return the settings of a service with an empty database of this name."""
    keys = {key: secrets.token_urlsafe(48) for key in ("SECRET_KEY", "SUPPRESSION_KEY")}
    url = running.create_database(name)
    environment = (
        os.environ | keys | {"DATABASE_URL": url, "REDIS_URL": running.redis_url, "LOG_LEVEL": "error"}
    )
    subprocess.run([*_FLASK, "database", "upgrade"], env=environment, check=True, capture_output=True)  # noqa: S603 -- our own command
    return environment


def _import(running: Servers, environment: dict[str, str], file: Path) -> Run:
    """Run the command to its end."""
    server, started = _server_seconds(running), time.perf_counter()
    process = _start(environment, file)
    printed = process.stdout.read() if process.stdout else b""
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0  # noqa: S101 -- the command has printed why
    seconds = time.perf_counter() - started
    processor = used.ru_utime + used.ru_stime + _server_seconds(running) - server
    return Run(seconds, processor, used.ru_maxrss / 1024, json.loads(printed))


def _kill(running: Servers, environment: dict[str, str], file: Path, at: int) -> int:
    """Start the command, and kill it once so many rows are stored; return how many are then."""
    with _start(environment, file) as process:
        while _count(running, "killed")[0] < at and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    return _count(running, "killed")[0]


def _start(environment: dict[str, str], file: Path) -> subprocess.Popen[bytes]:
    command = [
        *_FLASK,
        "suppressions",
        "import",
        str(file),
        "--format",
        "hashed",
        "--list",
        "partner",
        "--json",
    ]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)  # noqa: S603 -- our own command


def _count(running: Servers, name: str) -> tuple[int, int]:
    with psycopg.connect(running.database_url(name)) as connection:
        total, distinct = connection.execute(_COUNT).fetchone() or (0, 0)
    return int(total), int(distinct)


def _server_seconds(running: Servers) -> float:
    server = psutil.Process(running.postgres_pid)
    times = server.cpu_times()
    children = [child.cpu_times() for child in server.children(recursive=True)]
    own = times.user + times.system + times.children_user + times.children_system
    return float(own + sum(child.user + child.system for child in children))


def _row(name: str, rows: int, run: Run) -> str:
    return (
        f"| {name} | {run.seconds:.0f} | {rows / run.processor:,.0f} | {run.peak_mb:.0f} "
        f"| {run.printed['added']:,} | {run.printed['known']:,} |"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suppression_import", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="number of hashes")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
