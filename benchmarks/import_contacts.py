"""Measure the throughput and peak memory of `contacts import` and `contacts export`.

    python benchmarks/import_contacts.py [--sqlite] [rows ...]

Every row is a generated person with a name (half of them with accents), title, company with domain, profile,
e-mail with status, phone, location and date. For each size, one process imports the list into an empty
database on a throw-away PostgreSQL server, imports it again, and exports it. The floor is to copy the rows of
the tables that the import filled, as they are, into empty tables with COPY. Another process imports the same
list into another empty database as a worker does, from the import folder in turns.
"""

from __future__ import annotations

import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from benchmarks._people import write_list  # noqa: E402 -- after the path is set
from tools.services import postgres  # noqa: E402 -- likewise

SIZES = (10_000, 100_000)
SETTINGS = ("full_page_writes=off", "fsync=off")
COPIED = ("companies", "contacts", "emails", "phones")
BLOCK = 1 << 20  # bytes
DIRECT, QUEUED = "--direct", "--queued"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one step took: seconds, processor seconds of the product and the database server, peak memory."""

    step: str
    rows: int
    seconds: float
    product_cpu: float
    server_cpu: float
    peak_mb: float


def measure(rows: int, *, on_sqlite: bool, steps: str) -> list[Measurement]:
    """Run the steps in a separate process with an empty database; return the measurements."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        environment = _environment(f"sqlite:///{folder}/data.sqlite3")
        if not on_sqlite:
            server = stack.enter_context(postgres.server(SETTINGS))
            server_pid = server.process.pid if server.process else 0
            environment |= {"DATABASE_URL": f"postgresql://{server.address}", "SERVER_PID": str(server_pid)}
        write_list(Path(folder) / "people.csv", rows)
        completed = subprocess.run(  # noqa: S603 -- this file
            [sys.executable, __file__, steps, folder], check=True, capture_output=True, env=environment
        )
    return [Measurement(**step) for step in json.loads(completed.stdout)]


def _environment(url: str) -> dict[str, str]:
    keys = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    keys |= {"REDIS_URL": "redis://127.0.0.1:1/0", "LOG_LEVEL": "error", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **keys, "DATABASE_URL": url}


def _run_queued(folder: Path) -> None:
    """Import the list as a worker does, in this process, and print the measurement as JSON."""
    from app.factory import create_app  # noqa: PLC0415 -- the parent process has no settings
    from app.features.imports import queued_imports, work  # noqa: PLC0415
    from app.infra.broker.job_notifications import JobNotifier  # noqa: PLC0415
    from app.infra.broker.queue import JobPublisher  # noqa: PLC0415
    from app.infra.database.db import Base  # noqa: PLC0415
    from workers.execution.worker_services import WorkerServices  # noqa: PLC0415

    api = create_app().extensions["services"]
    Base.metadata.create_all(api.database.engine)
    (folder / "lists").mkdir()
    (folder / "people.csv").rename(folder / "lists" / "people.csv")
    settings = replace(api.settings, import_folder=str(folder / "lists"))
    nowhere = settings.redis_url
    services = WorkerServices(settings, api.database, JobPublisher(nowhere), JobNotifier(nowhere))

    def import_list() -> int:
        row = None
        while row is None or row.finished_at is None:
            work.discover(services)
            with api.database.reading() as session:
                (row,) = queued_imports.latest(session, limit=1)
            work.run_import(row.id, services)
            with api.database.reading() as session:
                (row,) = queued_imports.latest(session, limit=1)
        return row.rows_done

    queued_imports.SETTLE = timedelta(0)
    json.dump([asdict(_measured("first import, queued", import_list))], sys.stdout)


def _run_steps(folder: Path) -> None:
    """Run the steps in this process and print the measurements as JSON."""
    from app.domain.lists.headers.column_mapping import Entity  # noqa: PLC0415
    from app.engine.lists import importer  # noqa: PLC0415 -- the parent process has no settings
    from app.factory import create_app  # noqa: PLC0415
    from app.infra.database.db import Base  # noqa: PLC0415
    from cli.lists import import_files  # noqa: PLC0415

    database = create_app().extensions["services"].database
    Base.metadata.create_all(database.engine)
    options = importer.ImportOptions(entity=Entity.CONTACTS, source="people.csv")

    def import_list() -> int:
        with (folder / "people.csv").open("rb") as file:
            rejects = partial(import_files.rejects, None)
            summary = importer.run(database, options, file, rejects=rejects, advance=lambda: None)
        return summary.read

    steps = [_measured("first import", import_list), _measured("repeated import", import_list)]
    steps.append(_measured("export", partial(_export, database, folder / "exported.csv")))
    if not database.is_sqlite:
        _set_rows_aside(database, folder)
        steps.append(_measured("floor: COPY of these rows", partial(_copy, database, folder)))
    json.dump([asdict(step) for step in steps], sys.stdout)


def _measured(step: str, act: Callable[[], int]) -> Measurement:
    cpu, server_cpu, started = time.process_time(), _server_seconds(), time.perf_counter()
    rows = act()
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measurement(step, rows, seconds, time.process_time() - cpu, _server_seconds() - server_cpu, peak)


def _server_seconds() -> float:
    """Return the processor seconds of the PostgreSQL server and its processes, also those that have ended."""
    if (pid := os.environ.get("SERVER_PID")) is None:
        return 0.0
    server = psutil.Process(int(pid))
    times = server.cpu_times()
    children = [child.cpu_times() for child in server.children(recursive=True)]
    own = times.user + times.system + times.children_user + times.children_system
    return float(own + sum(child.user + child.system for child in children))


def _export(database: Any, path: Path) -> int:  # noqa: ANN401 -- the parent process has no settings
    from app.engine.lists import exports  # noqa: PLC0415 -- likewise
    from cli.lists.list_commands import export_list  # noqa: PLC0415

    with database.reading(no_deadline=True) as session, redirect_stdout(sys.stderr):
        columns, rows = exports.contact_columns(session), exports.contact_rows(session)
        export_list(str(path), columns, rows, as_json=False)
    with path.open(encoding="utf-8") as file:
        return sum(1 for _ in file) - 1


def _set_rows_aside(database: Any, folder: Path) -> None:  # noqa: ANN401 -- as above
    """Write the rows of the tables to files in the format of COPY, and empty the tables."""
    with database.engine.begin() as connection:
        cursor = connection.connection.cursor()
        for table in COPIED:
            with (folder / table).open("wb") as file, cursor.copy(f"COPY {table} TO STDOUT") as rows:
                file.writelines(rows)
        cursor.execute(f"TRUNCATE {', '.join(COPIED)} CASCADE")


def _copy(database: Any, folder: Path) -> int:  # noqa: ANN401 -- as above
    with database.engine.begin() as connection:
        cursor = connection.connection.cursor()
        for table in COPIED:
            with (folder / table).open("rb") as file, cursor.copy(f"COPY {table} FROM STDIN") as rows:
                while block := file.read(BLOCK):
                    rows.write(block)
        return int(cursor.execute("SELECT count(*) FROM contacts").fetchone()[0])


def main(arguments: list[str]) -> None:
    """Measure each size, and print a table."""
    on_sqlite = "--sqlite" in arguments
    title = f"contacts import and export, {'SQLite' if on_sqlite else 'PostgreSQL'}"
    table = Table("step", title=title)
    for name in ("rows", "rows/s", "rows per CPU s", "product µs/row", "database µs/row", "peak MB"):
        table.add_column(name, justify="right")
    for size in [int(argument) for argument in arguments if argument.isdigit()] or SIZES:
        for found in chain.from_iterable(
            measure(size, on_sqlite=on_sqlite, steps=steps) for steps in (DIRECT, QUEUED)
        ):
            rates = (found.rows / found.seconds, found.rows / (found.product_cpu + found.server_cpu))
            costs = (1e6 * cpu / found.rows for cpu in (found.product_cpu, found.server_cpu))
            figures = (found.rows, *rates, *costs, found.peak_mb)
            table.add_row(found.step, *(f"{figure:,.0f}" for figure in figures))
    Console(width=110).print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == [DIRECT]:
        _run_steps(Path(sys.argv[2]))
    elif sys.argv[1:2] == [QUEUED]:
        _run_queued(Path(sys.argv[2]))
    else:
        main(sys.argv[1:])
