"""Measure each operation of the service on databases of growing size: `python -m benchmarks.growth`.

It starts a throw-away PostgreSQL server and a Redis-protocol server, fills one database for each number of
contacts, and runs the API and a worker in this process. The databases take turns, operation by operation, so
that a busy machine slows all of them. The figures are medians in milliseconds; read the ratios. The pages are
those that PostgreSQL read from the disk, because they were not in memory.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import psutil
from alembic import command
from redis import Redis
from rich.console import Console
from sqlalchemy import create_engine

from app import settings as app_settings
from app.infra.crypto.digest_keys import DigestKeys
from benchmarks.comparison import charts, servers
from benchmarks.comparison.charts import Mark, Row
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.servers import Servers
from benchmarks.growth import fill, report
from benchmarks.growth.fill import Size
from benchmarks.growth.operations import READ_EVERYTHING, WARM_UP, Service
from benchmarks.growth.report import Growth
from cli import database as commands

SHARE_IN_LARGE = 20
"""The large company has a twentieth of all people, at most LARGE."""
LARGE = 50_000
AIM = 1.3
PAGE = 8192
"""The bytes of a page of PostgreSQL."""


def main(argv: list[str]) -> int:
    """Fill, measure and report; return 1 if an operation grew more than AIM allows."""
    options = _parser().parse_args(argv)
    os.environ |= {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    os.environ |= {"DATABASE_URL": "sqlite://", "REDIS_URL": "redis://127.0.0.1:1/0", "LOG_LEVEL": "error"}
    os.environ |= {"PROVIDERS_EMAIL": "sandbox", "PROVIDERS_PHONE": "sandbox"}
    sizes = [size_of(int(contacts)) for contacts in options.contacts.split(",")]
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder)) as running:
        growth = _measure(running, sizes, rounds=options.rounds)
    Console(soft_wrap=True, highlight=False, markup=False).print(report.markdown(growth))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "growth.md").write_text(report.markdown(growth))
    (options.output / "growth.svg").write_text(_chart(growth))
    return int(any(ratio > AIM for name, ratio in growth.ratios().items() if name not in READ_EVERYTHING))


def size_of(contacts: int) -> Size:
    """Return the number of rows for so many contacts."""
    return Size(contacts, large=min(LARGE, contacts // SHARE_IN_LARGE), jobs=contacts)


def _measure(running: Servers, sizes: list[Size], *, rounds: int) -> Growth:
    """Fill a database for each size, and measure every operation on each."""
    growth = Growth([size.contacts for size in sizes])
    services = []
    with Progress(len(sizes)) as progress:
        for number, size in enumerate(sizes):
            started = time.monotonic()
            url = running.create_database(f"growth_{size.contacts}")
            show = partial(_show, progress, size)
            growth.bytes_per_row.append(create_filled(url, size, report=show))
            services.append(Service(url, running.redis_database(number), size))
            progress.advance(f"filled in {time.monotonic() - started:.0f} s")
        progress.show("lookups of other people")
        for service in services:
            service.answer_others()
    names = list(services[0].operations())
    with Progress(len(names)) as progress, closing(Redis.from_url(running.redis_url)) as redis:
        for name in names:
            progress.show(name)
            count = 1 if name in READ_EVERYTHING else rounds
            growth.milliseconds[name], growth.pages[name] = _time(running, services, name, count)
            redis.flushall()
            progress.advance(" ".join(f"{ms:.1f}" for ms in growth.milliseconds[name]) + " ms")
    for service in services:
        service.close()
    return growth


def create_filled(
    url: str, size: Size, *, report: Callable[[str], None] = lambda _table: None
) -> dict[str, tuple[float, float]]:
    """Create the tables in an empty database, and fill them; return the bytes per row, by table."""
    engine = create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
    with engine.connect() as connection:
        command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
        connection.commit()
    fill.fill(engine, DigestKeys.from_settings(app_settings.load()), size, report=report)
    sizes = fill.bytes_per_row(engine)
    engine.dispose()
    return sizes


def _show(progress: Progress, size: Size, table: str) -> None:
    progress.show(f"{size.contacts:,} contacts: {table}")


def _time(
    running: Servers, services: list[Service], name: str, rounds: int
) -> tuple[list[float], list[float]]:
    """Return by database the median duration in milliseconds, and the pages read from the disk per execution.

    The databases take turns.
    """
    durations: list[list[float]] = [[] for _ in services]
    pages: list[list[float]] = [[] for _ in services]
    for number in range(rounds + (WARM_UP if rounds > 1 else 0)):
        for index, service in enumerate(services):
            service.prepare(name)
            read, started = _pages_read(running), time.perf_counter()
            service.operations()[name]()
            if number >= WARM_UP or rounds == 1:
                durations[index].append(1000 * (time.perf_counter() - started))
                pages[index].append(_pages_read(running) - read)
    return list(map(statistics.median, durations)), list(map(statistics.fmean, pages))


def _pages_read(running: Servers) -> float:
    """Return how many pages the connections have read from the disk; 0 if the system does not count them."""
    if not hasattr(psutil.Process, "io_counters"):
        return 0
    pages = 0.0
    for process in psutil.Process(running.postgres_pid).children():
        with suppress(psutil.NoSuchProcess):  # such as that of autovacuum, which ends at any time
            if "autovacuum" not in " ".join(process.cmdline()):
                pages += process.io_counters().read_bytes / PAGE
    return pages


def _chart(growth: Growth) -> str:
    """Return a chart of the ratio of the largest to the smallest database."""
    ratios = {name: ratio for name, ratio in growth.ratios().items() if name not in READ_EVERYTHING}
    top = max(2.0, *ratios.values())
    rows = [
        Row(name, (Mark(0, ratio / top, charts.PRODUCT_COLOUR),), f"{ratio:.2f}")
        for name, ratio in ratios.items()
    ]
    sizes = f"{growth.contacts[-1]:,} contacts ÷ {growth.contacts[0]:,}"
    return charts.svg(f"Time with {sizes}; the aim is at most {AIM}", rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--contacts", default="10000,1000000", help="numbers of contacts, smallest first")
    parser.add_argument("--rounds", type=int, default=40, help="measurements of each operation")
    parser.add_argument(
        "--output", type=Path, default=Path(".data/growth"), help="folder of report and chart"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
