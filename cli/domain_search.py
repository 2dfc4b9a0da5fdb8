"""`flask providers people`: who works at a domain, as a provider lists them; kept like an import.

Their addresses show how the domain writes them, so that its other people's can be guessed for nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import click

from app import settings as app_settings
from app.core.lists import ingest
from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.kinds import TraceOutcome
from app.domain.lists.people_rows import ParsedPerson
from app.domain.normal.websites import normal_website
from app.infra import database_clock
from app.infra.db import Database
from workers.providers.base import ProviderTimeout, UnexpectedAnswer
from workers.providers.hunter import DomainSearch, Hunter

TIMEOUT_SECONDS = 20.0
MAX_CONTACTS = 100


@click.command()
@click.argument("domain")
@click.option(
    "--limit", type=click.IntRange(1, MAX_CONTACTS), default=10, show_default=True, help="People at most."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in one line of JSON.")
def people(domain: str, *, limit: int, as_json: bool) -> None:
    """Ask Hunter who works at DOMAIN, and keep them; every ten people cost one of its credits."""
    settings = app_settings.load()
    access = settings.access(Hunter.name)
    if not access.api_key:
        raise click.ClickException("HUNTER_API_KEY is not set: a domain can be searched with Hunter only.")
    try:
        found = Hunter(access).domain_search(normal_website(domain), seconds=TIMEOUT_SECONDS, limit=limit)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except (ProviderTimeout, UnexpectedAnswer) as error:
        raise click.ClickException(
            "Hunter cannot be reached, or answers with an error. Try later."
        ) from error
    if found.reply.outcome not in {TraceOutcome.HIT, TraceOutcome.MISS}:
        raise click.ClickException(f"Hunter did not answer: {found.reply.outcome.value}. Nothing was kept.")
    _tell(found, _keep(settings.database_url, found.contacts), as_json=as_json)


def _keep(database_url: str, told: Sequence[FoundContact]) -> Counter[str]:
    """Take them in by the importer's door, where suppressed people stay out."""
    database = Database(database_url, seconds=None)
    try:
        with database.transaction() as session:
            return ingest.ingest_contacts(
                session, [ParsedPerson(one) for one in told], now=database_clock.value(session)
            )
    finally:
        database.engine.dispose()


def _tell(found: DomainSearch, counts: Counter[str], *, as_json: bool) -> None:
    kept = {name: counts[name] for name in ("new", "updated", "unchanged", "suppressed")}
    if as_json:
        click.echo(
            json.dumps(
                {"found": len(found.contacts), **kept, "pattern": found.pattern, "cost": found.reply.cost}
            )
        )
        return
    counted = ", ".join(f"{count} {name}" for name, count in kept.items())
    click.echo(f"{len(found.contacts)} people: {counted}. It cost {found.reply.cost:g} of Hunter's credits.")
    if found.pattern:
        click.echo(f"Their addresses follow {found.pattern}.")
