"""`flask providers people`: imports the people whom a provider lists for a domain.

Their addresses teach the e-mail pattern of the domain, so that other addresses can be guessed without cost.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import click

from app import settings as app_settings
from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.kinds import TraceOutcome
from app.domain.lists.people_rows import ParsedPerson
from app.domain.normal.websites import normal_website
from app.engine.lists import ingest
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.providers.base import ProviderTimeout, UnexpectedResponse
from workers.providers.hunter import DomainSearch, Hunter

TIMEOUT_SECONDS = 20.0
MAX_CONTACTS = 100


@click.command()
@click.argument("domain")
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_CONTACTS),
    default=10,
    show_default=True,
    help="Maximum number of people.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def people(domain: str, *, limit: int, as_json: bool) -> None:
    """Import the people whom Hunter lists for DOMAIN; ten people cost one Hunter credit."""
    settings = app_settings.load()
    access = settings.access(Hunter.name)
    if not access.api_key:
        raise click.ClickException("HUNTER_API_KEY is not set: only Hunter can search a domain.")
    try:
        result = Hunter(access).domain_search(normal_website(domain), seconds=TIMEOUT_SECONDS, limit=limit)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except (ProviderTimeout, UnexpectedResponse) as error:
        raise click.ClickException("Hunter is unreachable or returned an error. Try again later.") from error
    if result.reply.outcome not in {TraceOutcome.HIT, TraceOutcome.MISS}:
        raise click.ClickException(
            f"Hunter returned no result: {result.reply.outcome.value}. Nothing was imported."
        )
    _print(result, _import(settings, result.contacts), as_json=as_json)


def _import(settings: Settings, contacts: Sequence[FoundContact]) -> Counter[str]:
    """Store the contacts as an import does: suppressed people are left out."""
    keys = DigestKeys.from_settings(settings)
    database = Database(settings.database_url, keys=keys, seconds=None)
    try:
        with database.transaction() as session:
            people = [ParsedPerson(contact) for contact in contacts]
            return ingest.ingest_contacts(session, people, now=database_clock.value(session)).counts
    finally:
        database.close()


def _print(result: DomainSearch, counts: Counter[str], *, as_json: bool) -> None:
    imported = {name: counts[name] for name in ("new", "updated", "unchanged", "suppressed")}
    if as_json:
        click.echo(
            json.dumps(
                {
                    "found": len(result.contacts),
                    **imported,
                    "pattern": result.pattern,
                    "cost": result.reply.cost,
                }
            )
        )
        return
    counted = ", ".join(f"{count} {name}" for name, count in imported.items())
    click.echo(f"{len(result.contacts)} people: {counted}. Cost: {result.reply.cost:g} Hunter credits.")
    if result.pattern:
        click.echo(f"Their addresses follow {result.pattern}.")
