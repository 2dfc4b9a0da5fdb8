"""Measure the search by name among the people of one workspace on PostgreSQL, and changes of all it finds.

    python -m benchmarks.contact_search --contacts 1000000

It starts a throw-away PostgreSQL server with people whom one workspace has revealed, and a fifth as many who
are saved, half of them without a contact. The figures are milliseconds of a page of the search, as the page
/contacts reads it, and of a round of `/lists/matching` for 10,000 people: those on processors, of
this process and of its connection to PostgreSQL, which count where other programs run, and those that passed.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from alembic import command
from rich.console import Console
from sqlalchemy import Engine, create_engine, text

from app import settings as app_settings
from app.engine.contacts.saved import contact_lists
from app.engine.owned import common_names, owned_contacts, owned_edits
from app.engine.owned.owned_edits import Edit
from app.engine.owned.owned_filters import Cursor, Order, Selection, Sort
from app.features.lists.matching import BATCH, MAX_READ
from app.infra import clock
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import Session
from benchmarks import _titled_people
from benchmarks.comparison.servers import SETTINGS
from cli import database as commands
from tools.services import postgres

AIM = 300.0
PAGE = 50
MATCHING = 10_000
WORKSPACE, ACCOUNT = "wks_" + "0" * 24, "acc_" + "0" * 24

KINDS: dict[str, Callable[[random.Random], str]] = {
    "a family name": lambda pick: f"Last{pick.randrange(7919)}",
    "a given name": lambda pick: f"First{pick.randrange(499)}",
    "both": lambda pick: f"First{pick.randrange(499)} Last{pick.randrange(7919)}",
    "the beginning of a family name": lambda pick: f"last{pick.randrange(10, 79)}",
    "the beginning of a given name that a fifth has": lambda pick: f"First{pick.randrange(1, 4)}",
    "a name that nobody has": lambda pick: f"Nobody{pick.randrange(7919)}",
    "a saved person": lambda pick: f"Saved{pick.randrange(7919)}",
    "everybody": lambda _pick: "",
}
_ID = "'{0}_' || lpad(to_hex(n), 24, '0')"
_ROWS = (
    f"""
    INSERT INTO workspaces (id, name, available, held, spent, created_at)
    VALUES ('{WORKSPACE}', 'One', 0, 0, 0, now())
    """,
    f"""
    INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, created_at)
    SELECT '{WORKSPACE}', {_ID.format("con")}, 'email', {_ID.format("job")}, 1,
           now() - n * interval '1 second'
    FROM generate_series(0, :contacts - 1) n
    """,
    f"""
    INSERT INTO saved_profiles (id, workspace_id, linkedin_url, full_name, name_key, tags, captured,
                                created_at, updated_at)
    SELECT {_ID.format("prf")}, '{WORKSPACE}', 'https://www.linkedin.com/in/' ||
               CASE WHEN n % 2 = 0 THEN 'person-' ELSE 'saved-' END || n,
           'Saved' || n % 7919 || ' Last' || n % 7907, 'saved' || n % 7919 || ' last' || n % 7907,
           '[]', '{{}}', now() - n * interval '1 second', now()
    FROM generate_series(0, :contacts / 5 - 1) n
    """,
)


class Time(NamedTuple):
    """Milliseconds on processors, and those that passed."""

    processor: float
    passed: float


def main(argv: list[str]) -> int:
    """Fill and measure; return 1 if the median of all searches on processors exceeds AIM."""
    options = _parser().parse_args(argv)
    os.environ |= {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    os.environ |= {"DATABASE_URL": "sqlite://", "REDIS_URL": "redis://127.0.0.1:1/0", "LOG_LEVEL": "error"}
    console = Console(soft_wrap=True, highlight=False, markup=False)
    with postgres.server(SETTINGS) as server:
        engine = create_engine(server.url)
        keys = DigestKeys.from_settings(app_settings.load())
        _fill(engine, keys, options.contacts, console)
        database = Database(server.url, keys=keys, seconds=None)
        times = _measure(database, random.Random(options.seed), options.rounds)  # noqa: S311 -- not secret
        bulk = _change_all(database)
        database.close()
        engine.dispose()
    everything = [one for of_kind in times.values() for one in of_kind]
    console.print(f"{options.contacts:,} contacts, {len(everything):,} searches\n")
    console.print("| ms | processor p50 | p99 | highest | p50 | p99 | slowest |")
    console.print(f"| --- |{' --: |' * 6}")
    for kind, of_kind in (*times.items(), ("all", everything)):
        console.print(_row(kind, of_kind))
    console.print(_row(f"{BATCH} people of {MATCHING:,} found by name, put on a list", bulk))
    on_processors, passed = (sum(column) / 1000 for column in zip(*bulk, strict=True))
    console.print(
        f"{MATCHING:,} people put on a list in {on_processors:.1f} s on processors, {passed:.1f} s passed"
    )
    return int(_percentiles([one.processor for one in everything])[0] > AIM)


def _fill(engine: Engine, keys: DigestKeys, contacts: int, console: Console) -> None:
    started = time.monotonic()

    def report(step: str) -> None:
        console.print(f"{time.monotonic() - started:.0f} s: {step}")

    with engine.connect() as connection:
        command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
        connection.commit()
    _titled_people.fill(engine, keys, contacts, report=report)
    report("people of the workspace")
    with engine.begin() as connection:
        # The rows are consistent: checking the foreign keys would take half of the time.
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        for sql in _ROWS:
            connection.execute(text(sql), {"contacts": contacts} if ":contacts" in sql else {})
        connection.execute(text("CREATE UNIQUE INDEX of_profiles ON contacts (linkedin_url)"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    report("filled")


def _measure(database: Database, pick: random.Random, rounds: int) -> dict[str, list[Time]]:
    times: dict[str, list[Time]] = defaultdict(list)
    for number in range(rounds + 1):
        for kind, make in KINDS.items():
            name = make(pick)
            started = _now(database)
            with database.reading() as session:
                _read(session, name)
            if number:  # the first has to compile and plan the statements
                times[kind].append(_since(database, started))
    return times


def _read(session: Session, name: str) -> None:
    """Read what the page /contacts shows of a name, or of everybody."""
    selection = common_names.first_people(session, WORKSPACE, name, limit=PAGE) if name else Selection()
    owned_contacts.page(session, WORKSPACE, selection, limit=PAGE)


def _change_all(database: Database) -> list[Time]:
    """Put the first 10,000 people of a name on a list, as `/lists/matching` does; return the times."""
    edit = Edit(workspace_id=WORKSPACE, account_id=ACCOUNT, now=clock.now())
    selection = Selection(name="First1", sort=Sort.REVEALED_AT, order=Order.ASCENDING)
    with database.transaction() as session:
        list_id = contact_lists.ensure(session, WORKSPACE, "All", now=edit.now)[0].id
    times = []
    after: Cursor | None = None
    for _read in range(MATCHING // MAX_READ):
        started = _now(database)
        with database.reading() as session:
            places = owned_contacts.places(session, WORKSPACE, selection, after=after, limit=MAX_READ)
        after = places[-1]
        for start in range(0, MAX_READ, BATCH):
            people = [place.person_id for place in places[start : start + BATCH]]
            with database.transaction() as session:
                owned_edits.change_list(session, edit, list_id, add=people, remove=(), are_all_needed=False)
            times.append(_since(database, started))
            started = _now(database)
    return times


def _now(database: Database) -> Time:
    """Return the time in milliseconds, and that of this process and its connection on processors (Linux)."""
    with database.reading() as session:
        pid = session.scalar(text("SELECT pg_backend_pid()"))
    nanoseconds = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return Time(1000 * time.process_time() + nanoseconds / 1e6, 1000 * time.perf_counter())


def _since(database: Database, started: Time) -> Time:
    passed = time.perf_counter()
    return Time(_now(database).processor - started.processor, 1000 * passed - started.passed)


def _row(kind: str, times: list[Time]) -> str:
    figures = [figure for column in zip(*times, strict=True) for figure in _percentiles(list(column))]
    return f"| {kind} | {' | '.join(f'{figure:.0f}' for figure in figures)} |"


def _percentiles(milliseconds: list[float]) -> tuple[float, float, float]:
    """Return the 50th and the 99th percentile and the highest."""
    ordered = sorted(milliseconds)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.99)], ordered[-1]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contact_search", description=__doc__)
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20, help="searches of each kind")
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
