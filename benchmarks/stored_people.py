"""Measure the search for stored people on PostgreSQL.

    python -m benchmarks.stored_people --contacts 1000000

It starts a throw-away PostgreSQL server, fills it with people of many titles (`_titled_people`), and searches
in this process as the API does: for the people, the counts, and a page of 25 with masked values. Kinds of
searches take turns, each with other values every time. The figures are milliseconds: those that passed, and
those on processors, of this process and of PostgreSQL, which count where other programs run, too. `floor` is
the median of the SQL alone that reads the people of the page by their ids.
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
from dataclasses import dataclass, field
from pathlib import Path

from alembic import command
from rich.console import Console
from sqlalchemy import Engine, create_engine, text

from app import settings as app_settings
from app.domain.people_criteria import PeopleCriteria
from app.engine.lookups import people_search
from app.engine.lookups.people_search import StoredPeople
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from benchmarks import _titled_people
from benchmarks._titled_people import COUNTRIES, DEPARTMENTS, HEADCOUNTS, INDUSTRIES, SENIORITIES, WORDS
from benchmarks.comparison.servers import SETTINGS
from cli import database as commands
from tools.services import postgres

AIM = 300.0
PAGE = 25
PRICES = {"reveal.email": 1, "reveal.phone": 5}
_DEEP = "page 10 of the entries in a country"
_RANKS, _FIELDS = tuple(filter(None, SENIORITIES)), tuple(filter(None, DEPARTMENTS))
_LANDS, _BRANCHES, _SIZES = tuple(COUNTRIES), tuple(INDUSTRIES), tuple(HEADCOUNTS)
_TITLES = (
    "VP Sales", "vice president of marketing", "Head of Eng", "CTO", "sales manager", "Leiter Vertrieb",
    "finance director", "HR manager", "founder",
)  # fmt: skip
_FLOOR = text("SELECT id, full_name, title, company_id FROM contacts WHERE id = ANY(:ids)")
_SIZE = text("SELECT pg_size_pretty(pg_relation_size(to_regclass(:name)))")

KINDS: dict[str, Callable[[random.Random], PeopleCriteria]] = {
    "no criteria": lambda _: PeopleCriteria(),
    "a common seniority": lambda pick: PeopleCriteria(
        seniorities=(pick.choice(("entry", "manager", "senior")),)
    ),
    "any seniority": lambda pick: PeopleCriteria(seniorities=(pick.choice(_RANKS),)),
    "any country": lambda pick: PeopleCriteria(countries=(pick.choice(_LANDS),)),
    "the country of the newest import": lambda _: PeopleCriteria(countries=("JP",)),
    "a title": lambda pick: PeopleCriteria(titles=(pick.choice(_TITLES),)),
    "a title, a country": lambda pick: PeopleCriteria(
        titles=(pick.choice(_TITLES),), countries=(pick.choice(_LANDS),)
    ),
    "a rare word, a common country": lambda pick: PeopleCriteria(
        titles=(f"word{pick.randrange(WORDS // 2, WORDS)}",), countries=("US",)
    ),
    "a common word that nobody of a seniority has": lambda _: PeopleCriteria(
        titles=("manager",), seniorities=("entry",)
    ),
    "three seniorities, departments, countries": lambda pick: PeopleCriteria(
        seniorities=tuple(pick.sample(_RANKS, 3)),
        departments=tuple(pick.sample(_FIELDS, 3)),
        countries=tuple(pick.sample(_LANDS, 3)),
    ),
    "an industry": lambda pick: PeopleCriteria(industries=(pick.choice(_BRANCHES),)),
    "a title, an industry, a size, a country": lambda pick: PeopleCriteria(
        titles=(pick.choice(_TITLES),),
        industries=(pick.choice(_BRANCHES),),
        headcounts=(pick.choice(_SIZES),),
        countries=(pick.choice(_LANDS[:10]),),
    ),
    "a title at a company of 50,000 people": lambda pick: PeopleCriteria(
        titles=(pick.choice(_TITLES),), company_domain="company-0.example"
    ),
    "a company": lambda pick: PeopleCriteria(company_domain=f"company-{pick.randrange(1, 1_000)}.example"),
    _DEEP: lambda pick: PeopleCriteria(seniorities=("entry",), countries=(pick.choice(_LANDS[:10]),)),
}


@dataclass(slots=True)
class Times:
    """The milliseconds of the searches of a kind, those of them on processors, and those of the floor."""

    search: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)

    def row(self, kind: str) -> str:
        """Return the figures as a row of Markdown."""
        figures = (*_percentiles(self.search), *_percentiles(self.processor), statistics.median(self.floor))
        return f"| {kind} | {' | '.join(f'{figure:.0f}' for figure in figures)} |"


def main(argv: list[str]) -> int:
    """Fill and measure; return 1 if the 99th percentile of all searches exceeds AIM."""
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
        for index in ("ix_contacts_search", "ix_companies_industry", "contacts"):
            with engine.connect() as connection:
                console.print(f"{index}: {connection.scalar(_SIZE, {'name': index})}")
        database.close()
        engine.dispose()
    everything = _all(times)
    console.print(f"{options.contacts:,} contacts, {len(everything.search):,} searches\n")
    console.print("| ms | p50 | p99 | slowest | processor p50 | p99 | highest | floor |")
    console.print(f"| --- |{' --: |' * 7}")
    for kind, by_kind in times.items():
        console.print(by_kind.row(kind))
    console.print(everything.row("all"))
    return int(_percentiles(everything.search)[1] > AIM)


def _fill(engine: Engine, keys: DigestKeys, contacts: int, console: Console) -> None:
    started = time.monotonic()
    with engine.connect() as connection:
        command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
        connection.commit()
    _titled_people.fill(
        engine,
        keys,
        contacts,
        report=lambda step: console.print(f"{time.monotonic() - started:.0f} s: {step}"),
    )
    console.print(f"filled in {time.monotonic() - started:.0f} s")


def _measure(database: Database, pick: random.Random, rounds: int) -> dict[str, Times]:
    times: dict[str, Times] = defaultdict(Times)
    for number in range(rounds + 1):
        for kind, make in KINDS.items():
            criteria, cursor = make(pick), None
            if kind == _DEEP:
                cursor = _search(database, criteria, limit=9 * PAGE, cursor=None).next_cursor
            used, started = _processor_seconds(database), time.perf_counter()
            found = _search(database, criteria, limit=PAGE, cursor=cursor)
            seconds, on_processor = time.perf_counter() - started, _processor_seconds(database) - used
            if number == 0:  # the first has to compile and plan the statements
                continue
            times[kind].search.append(1000 * seconds)
            times[kind].processor.append(1000 * on_processor)
            times[kind].floor.append(1000 * _floor(database, found))
    return times


def _processor_seconds(database: Database) -> float:
    """Return the time that this process and its connection to PostgreSQL have spent on processors (Linux)."""
    with database.reading() as session:
        pid = session.scalar(text("SELECT pg_backend_pid()"))
    nanoseconds = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return time.process_time() + nanoseconds / 1e9


def _all(times: dict[str, Times]) -> Times:
    kinds = times.values()
    return Times(
        [one for kind in kinds for one in kind.search],
        [one for kind in kinds for one in kind.processor],
        [one for kind in kinds for one in kind.floor],
    )


def _search(database: Database, criteria: PeopleCriteria, *, limit: int, cursor: str | None) -> StoredPeople:
    with database.reading() as session:
        return people_search.search(session, "wks_1", criteria, limit=limit, cursor=cursor, prices=PRICES)


def _floor(database: Database, found: StoredPeople) -> float:
    ids = [person["contact_id"] for person in found.people]
    started = time.perf_counter()
    with database.reading() as session:
        session.execute(_FLOOR, {"ids": ids}).all()
    return time.perf_counter() - started


def _percentiles(milliseconds: list[float]) -> tuple[float, float, float]:
    """Return the 50th and the 99th percentile and the highest."""
    ordered = sorted(milliseconds)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.99)], ordered[-1]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stored_people", description=__doc__)
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100, help="searches of each kind")
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
