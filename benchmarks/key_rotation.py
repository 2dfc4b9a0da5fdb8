"""Measure how long it takes to encrypt everything under a new key: `python -m benchmarks.key_rotation`.

It starts a throw-away PostgreSQL server and fills a database with contacts, which are encrypted again under
a new key. Meanwhile another thread looks people up by their address, one after the other.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from sqlalchemy import select

from app import settings as app_settings
from app.domain.records.subjects import Subject
from app.engine.contacts.emails import Email
from app.engine.matching import candidates
from app.engine.privacy import reencryption
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from benchmarks.comparison import servers
from benchmarks.erasure import fill_database
from benchmarks.growth.fill import Size


@dataclass(slots=True)
class Lookups:
    """What the lookups during a run took, in seconds, and how many found nobody."""

    seconds: list[float] = field(default_factory=list)
    missed: int = 0


def main(argv: list[str]) -> int:
    """Fill, rotate and print a table."""
    contacts = _parser().parse_args(argv).contacts
    keys = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    os.environ |= keys | {"DATABASE_URL": "sqlite://", "REDIS_URL": "redis://127.0.0.1:1/0"}
    derived = DigestKeys.from_settings(app_settings.load())
    show = Console(soft_wrap=True, highlight=False, markup=False).print
    show(f"{contacts:,} contacts with an address each, half of them with a number, and as many jobs")
    show("| rows | seconds | rows a second | lookups | found nobody | slowest lookup |")
    show("| ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder)) as running:
        url = running.create_database("keys").replace("postgresql", "postgresql+psycopg", 1)
        fill_database(url, Size(contacts, large=min(contacts // 20, 50_000), jobs=contacts))
        rotated = replace(derived, encryption=((1, secrets.token_bytes(32)),))
        database = Database(url, keys=rotated)
        show(_row(database))
        database.close()
    return 0


def _row(database: Database) -> str:
    subjects = [Subject(email=address) for address in _addresses(database)]
    started = time.perf_counter()
    with _looking_up(database, subjects) as lookups:
        rows = _encrypt(database)
    seconds = time.perf_counter() - started
    return (
        f"| {rows:,} | {seconds:.1f} | {rows / seconds:,.0f} | {len(lookups.seconds):,} | {lookups.missed} "
        f"| {1000 * max(lookups.seconds):.0f} ms |"
    )


def _addresses(database: Database) -> list[str]:
    """Return every hundredth address."""
    with database.reading(no_deadline=True) as session:
        return list(session.scalars(select(Email.email).order_by(Email.id)))[::100]


def _encrypt(database: Database) -> int:
    for name in reencryption.names():
        is_finished = False
        while not is_finished:
            with database.transaction(no_deadline=True) as session:
                is_finished = reencryption.encrypt_next(session, name, now=database_clock.value(session))
    with database.reading() as session:
        return sum(row.rows for row in reencryption.progress(session))


@contextmanager
def _looking_up(database: Database, subjects: list[Subject]) -> Iterator[Lookups]:
    """Look people up in another thread until the block ends."""
    lookups, is_over = Lookups(), threading.Event()

    def run() -> None:
        while not is_over.is_set():
            subject = secrets.choice(subjects)
            started = time.perf_counter()
            with database.reading() as session:
                [people] = candidates.by_keys(session, [subject])
            lookups.seconds.append(time.perf_counter() - started)
            lookups.missed += not people
            is_over.wait(0.01)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield lookups
    finally:
        is_over.set()
        thread.join()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.key_rotation", description=__doc__)
    parser.add_argument("--contacts", type=int, default=100_000, help="number of contacts")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
