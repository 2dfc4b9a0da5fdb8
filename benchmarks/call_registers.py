"""Measure do-not-call registers: `python -m benchmarks.call_registers --numbers 50000000`.

It starts a throw-away PostgreSQL server (or, with --sqlite, uses a file), and writes a list of distinct
British numbers as TPS publishes them. `flask call-registers load` loads it as a process of its own, and then
again, which replaces it. A change list of 1 in 1,000 numbers is applied. Then this process asks the registers
about stored and about other numbers, one at a time and a thousand at a time, and counts wrong answers.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from sqlalchemy import text

from app.engine.call_registers import listings
from app.engine.call_registers.registers import CallRegisterBlock
from app.engine.tables import register as register_tables
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from benchmarks.comparison import servers

FIRST = 1_000_000_000
STEP = 178
"""Numbers are FIRST, FIRST + STEP and so on: fifty million of them are ten digits long."""
ASKED = 1_000
_FLASK = [sys.executable, "-m", "flask", "--app", "cli.application:create_app"]


@dataclass(frozen=True, slots=True)
class Run:
    """What one command took, without the database server, and what it printed."""

    seconds: float
    processor: float
    peak_mb: float
    printed: dict[str, Any]


def main(argv: list[str]) -> int:
    """Load, load again, change and ask; return 1 if an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numbers", type=int, default=2_000_000)
    parser.add_argument("--sqlite", action="store_true", help="use SQLite instead of PostgreSQL")
    options = parser.parse_args(argv)
    show = Console(soft_wrap=True, highlight=False, markup=False).print
    with tempfile.TemporaryDirectory() as name, _database_url(Path(name), sqlite=options.sqlite) as url:
        folder = Path(name)
        environment = os.environ | _settings(url)
        subprocess.run([*_FLASK, "database", "upgrade"], env=environment, check=True, capture_output=True)  # noqa: S603 -- our own command
        list_, changes = folder / "tps.txt", folder / "changes.txt"
        _write(list_, changes, options.numbers)
        show(f"{options.numbers:,} numbers, {list_.stat().st_size / 1e6:.0f} MB")
        show("| run | seconds | processor seconds of the command | peak MB | numbers |")
        show("| --- | ---: | ---: | ---: | ---: |")
        load = ["call-registers", "load", "uk-tps", str(list_), "--date", "2026-11-01"]
        for label in ("load", "load again"):
            show(_row(label, _run(environment, load)))
        change = ["call-registers", "change", "uk-tps", str(changes), "--date", "2026-11-02"]
        show(_row("change 1 in 1,000", _run(environment, change)))
        return _ask(environment, options.numbers, show)


@contextmanager
def _database_url(folder: Path, *, sqlite: bool) -> Iterator[str]:
    if sqlite:
        yield f"sqlite:///{folder / 'registers.db'}"
        return
    with servers.running(folder) as running:
        yield running.create_database("registers")


def _settings(url: str) -> dict[str, str]:
    keys = {key: secrets.token_urlsafe(48) for key in ("SECRET_KEY", "SUPPRESSION_KEY")}
    return keys | {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0", "LOG_LEVEL": "error"}


def _write(list_: Path, changes: Path, numbers: int) -> None:
    """Write the list, and changes that delete every thousandth number and add the one after it."""
    with list_.open("w", encoding="ascii") as target:
        target.writelines(f"0{FIRST + STEP * number}\r\n" for number in range(numbers))
    with changes.open("w", encoding="ascii") as target:
        for number in range(0, numbers, 1_000):
            phone = FIRST + STEP * number
            target.write(f"0{phone},2026-11-02,D\n0{phone + 1},2026-11-02,A\n")


def _run(environment: dict[str, str], arguments: list[str]) -> Run:
    started = time.monotonic()
    command = [*_FLASK, *arguments, "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)  # noqa: S603 -- our own command
    printed = process.stdout.read() if process.stdout else b""
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(printed.decode())
    seconds = time.monotonic() - started
    return Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, json.loads(printed))


def _row(label: str, run: Run) -> str:
    times = f"{run.seconds:.1f} | {run.processor:.1f}"
    return f"| {label} | {times} | {run.peak_mb:.0f} | {run.printed['numbers']:,} |"


def _ask(environment: dict[str, str], numbers: int, show: Callable[[str], object]) -> int:
    """Ask about stored and other numbers; return 1 if an answer is wrong."""
    register_tables()
    keys = DigestKeys(environment["SECRET_KEY"].encode(), environment["SUPPRESSION_KEY"].encode())
    database = Database(environment["DATABASE_URL"], keys=keys)
    stored = [f"+44{FIRST + STEP * number}" for number in range(1, numbers, max(numbers // ASKED, 1))]
    stored = [phone for phone in stored if (int(phone[3:]) - FIRST) // STEP % 1_000]
    others = [f"+44{int(phone[3:]) + 2}" for phone in stored]
    with database.reading() as session:
        is_wrong = False
        for label, asked, is_listed in (("registered", stored, True), ("not registered", others, False)):
            started = time.monotonic()
            found = listings.find(session, "", asked)
            seconds = time.monotonic() - started
            wrong = sum(found[phone][0].is_listed is not is_listed for phone in asked)
            is_wrong = is_wrong or bool(wrong)
            show(f"{len(asked)} {label} numbers at once: {seconds * 1000:.0f} ms, {wrong} wrong answers")
        times = []
        for phone in stored[:200]:
            started = time.monotonic()
            listings.find(session, "", [phone])
            times.append(time.monotonic() - started)
        show(f"one number: {median(times) * 1000:.2f} ms (median)")
        if not database.is_sqlite:
            name = CallRegisterBlock.__tablename__
            size = session.execute(text(f"SELECT pg_total_relation_size('{name}')")).scalar_one()
            show(f"table: {size / 1e6:.0f} MB (with the replaced editions that are not vacuumed yet)")
    database.close()
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
