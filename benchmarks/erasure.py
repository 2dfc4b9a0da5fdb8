"""Measure how long an erasure takes with a growing number of jobs: `python -m benchmarks.erasure`.

It starts a throw-away PostgreSQL server, fills one database for each number of jobs, and erases people who
were revealed once: before the jobs are indexed, which reads all of them, and after. Durations are medians.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import sys
import tempfile
import time
from pathlib import Path

from alembic import command
from rich.console import Console
from sqlalchemy import create_engine, text

from app import settings as app_settings
from app.engine.contacts.suppressions import suppressions
from app.engine.mentions import mentions
from app.engine.privacy import erasure
from app.engine.privacy.holdings import all_sources
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from benchmarks.comparison import servers
from benchmarks.growth import fill
from benchmarks.growth.fill import Size
from cli import database as commands

PEOPLE = 15
MENTION_TABLES = "job_mentions"


def main(argv: list[str]) -> int:
    """Fill, index, erase and print a table."""
    options = _parser().parse_args(argv)
    keys = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    os.environ |= keys | {"DATABASE_URL": "sqlite://", "REDIS_URL": "redis://127.0.0.1:1/0"}
    digest_keys = DigestKeys.from_settings(app_settings.load())
    show = Console(soft_wrap=True, highlight=False, markup=False).print
    show("| jobs | erasure, not indexed | indexing | index, bytes per job | erasure, indexed |")
    show("| ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder)) as running:
        for jobs in map(int, options.jobs.split(",")):
            url = running.create_database(f"erasure_{jobs}").replace("postgresql", "postgresql+psycopg", 1)
            fill_database(url, Size(jobs, large=min(jobs // 20, 50_000), jobs=jobs))
            database = Database(url, keys=digest_keys)
            show(_row(database, jobs))
            database.close()
    return 0


def _row(database: Database, jobs: int) -> str:
    people = iter(range(jobs // 10, jobs, max(1, jobs // 100)))
    unindexed = _erase(database, next(people))
    rate = _index(database) if jobs else 0.0
    with database.reading() as session:
        size = session.scalar(text(f"SELECT pg_total_relation_size('{MENTION_TABLES}')")) or 0
    indexed = statistics.median(_erase(database, next(people)) for _ in range(PEOPLE))
    return (
        f"| {jobs:,} | {unindexed:.2f} s | {rate:,.0f} jobs a second | {size / jobs:.0f} "
        f"| {1000 * indexed:.0f} ms |"
    )


def fill_database(url: str, size: Size) -> None:
    """Create the tables in an empty database, and fill them."""
    engine = create_engine(url)
    with engine.connect() as connection:
        command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
        connection.commit()
    fill.fill(engine, DigestKeys.from_settings(app_settings.load()), size)
    engine.dispose()


def _index(database: Database) -> float:
    """Index everything; return how many rows a second."""
    started, total = time.perf_counter(), 0
    for source in all_sources():
        count = 1
        while count:
            with database.transaction(no_deadline=True) as session:
                count = mentions.index_next(session, source, now=database_clock.now())
            total += count
    return total / (time.perf_counter() - started)


def _erase(database: Database, person: int) -> float:
    """Erase a contact as `flask people erase` does; return the seconds it took."""
    started = time.perf_counter()
    with database.reading(no_deadline=True) as session:
        contacts = erasure.find_contacts(session, (), [fill.contact_id(person)])
        plan = erasure.plan(session, contacts, ())
    with database.transaction(no_deadline=True) as session:
        suppressions.suppress(session, plan.to_suppress, now=database_clock.now(), **suppressions.ERASURE)
    with database.transaction(no_deadline=True) as session:
        erasure.erase(session, plan, now=database_clock.value(session))
    duration = time.perf_counter() - started
    assert plan.counts["jobs"] == 1  # noqa: S101 -- each person was revealed once
    return duration


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.erasure", description=__doc__)
    parser.add_argument("--jobs", default="10000,1000000", help="numbers of jobs, separated by commas")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
