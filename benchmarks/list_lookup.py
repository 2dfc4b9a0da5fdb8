"""Measure the lookup of a list of 50 people beside that of one: `python -m benchmarks.list_lookup`.

It starts a throw-away PostgreSQL server and a Redis-protocol server, fills a database, connects a CRM with
20,000 people, and runs the API in this process. The lists are those that a search page or a team page gives:
people with profiles, stored or not, and people with a name at a company, stored or not. Processor time is
that of the API and of the database server: on a machine that does nothing else, it is the whole time.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from rich.console import Console

from app.engine.accounts import accounts
from app.features.crm import connections
from app.features.crm.connections import ConnectionStatus, Credentials
from app.features.crm.index import crm_index
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.infra import clock
from benchmarks.comparison import servers
from benchmarks.comparison.servers import Servers
from benchmarks.growth import fill
from benchmarks.growth.__main__ import create_filled, size_of
from benchmarks.growth.operations import Service, profile

LIST = 50
IN_CRM = 20_000
WARM_UP = 3
_SEED = 1

Subject = dict[str, str]


def main(argv: list[str]) -> int:
    """Fill, measure and print; return 1 if a list took more than the aim at the 99th percentile."""
    options = _parser().parse_args(argv)
    os.environ |= {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    os.environ |= {"DATABASE_URL": "sqlite://", "REDIS_URL": "redis://127.0.0.1:1/0", "LOG_LEVEL": "error"}
    os.environ |= {"PROVIDERS_EMAIL": "sandbox", "PROVIDERS_PHONE": "sandbox"}
    show = Console(soft_wrap=True, highlight=False, markup=False).print
    size = size_of(options.contacts)
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder)) as running:
        url = running.create_database("lists")
        create_filled(url, size)
        service = Service(url, running.redis_database(0), size)
        _connect_crm(service)
        show(f"{size.contacts:,} contacts, {IN_CRM:,} people in the CRM; milliseconds")
        show("| people | one, p50 | 50, p50 | 50, p99 | 50, processor |")
        show("| --- | ---: | ---: | ---: | ---: |")
        slowest = 0.0
        for name, subject in _kinds(service, size.contacts).items():
            one = _time(service, subject, 1, options.rounds)
            before = _processor(running)
            many = _time(service, subject, LIST, options.rounds)
            processor = (_processor(running) - before) / (options.rounds + WARM_UP)
            slowest = max(slowest, _p99(many))
            figures = (statistics.median(one), statistics.median(many), _p99(many), processor)
            show(f"| {name} | " + " | ".join(f"{figure:.0f}" for figure in figures) + " |")
        service.close()
    return int(slowest > options.aim)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contacts", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--aim", type=float, default=200, help="milliseconds at p99")
    return parser


def _kinds(service: Service, contacts: int) -> dict[str, Callable[[], Subject]]:
    """Return a function for each kind of people, which returns another one at each call."""
    people = _shuffled(range(10, contacts))
    strangers = itertools.count()

    def stranger() -> Subject:
        number = next(strangers)
        return {"full_name": f"Nobody{number} Never{number}"}

    def company() -> Subject:
        return {"company_name": f"Company {next(people) % (contacts // 20)}"}

    def stored() -> Subject:
        person = next(people)
        return profile(person) | {"full_name": service.named(person)["full_name"]}

    def unknown() -> Subject:
        return {"linkedin_url": f"https://www.linkedin.com/in/stranger-{next(strangers)}"}

    return {
        "with a profile, stored": stored,
        "with a profile, in the CRM": lambda: profile(next(people) % IN_CRM),
        "with a profile and a company, not stored": lambda: unknown() | stranger() | company(),
        "with a name and a website, stored": lambda: service.named(next(people)),
        "with a name and a company, not stored": lambda: stranger() | company(),
    }


def _time(service: Service, subject: Callable[[], Subject], people: int, rounds: int) -> list[float]:
    """Return the milliseconds of each lookup of so many people."""
    durations = []
    for number in range(rounds + WARM_UP):
        subjects = [subject() for _ in range(people)]
        started = time.perf_counter()
        results = service.look_up_many(subjects)
        if number >= WARM_UP:
            durations.append(1000 * (time.perf_counter() - started))
        if len(results) != people:
            raise AssertionError(results)
    return durations


def _processor(running: Servers) -> float:
    """Return the processor time of this process and of the database server until now, in milliseconds."""
    server = psutil.Process(running.postgres_pid)
    times = [psutil.Process().cpu_times(), *(child.cpu_times() for child in server.children())]
    return 1000 * sum(one.user + one.system for one in times)


def _p99(durations: list[float]) -> float:
    return statistics.quantiles(durations, n=100)[-1] if len(durations) > 1 else durations[0]


def _shuffled(people: range) -> Iterator[int]:
    return itertools.cycle(random.Random(_SEED).sample(people, min(len(people), IN_CRM)))  # noqa: S311 -- not secret


def _connect_crm(service: Service) -> None:
    """Store a CRM of the workspace, as if it had been read."""
    now = clock.now()
    with service.api.database.transaction() as session:
        account = accounts.of_workspace(session, fill.WORKSPACE)[0]
        connection = connections.create(
            session,
            fill.WORKSPACE,
            vendor="hubspot",
            base_url=None,
            credentials=Credentials(token=secrets.token_hex()),
            mapping={},
            account_id=account.id,
            now=now,
        )
        connection.account, connection.status = "4242", ConnectionStatus.CONNECTED.value
        session.flush()
        people = [
            CrmPerson(
                crm_id=str(person),
                kind=RecordKind.CONTACT,
                profiles=[profile(person)["linkedin_url"]],
                changed_at=now,
            ).normal()
            for person in range(IN_CRM)
        ]
        crm_index.store(session, connection, people, now=now)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
