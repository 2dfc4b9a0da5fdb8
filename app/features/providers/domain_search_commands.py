"""`flask providers people`: imports the people whom the providers find at a company, in their order.

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
from app.domain.normal.websites import normal_website
from app.domain.people_criteria import PeopleCriteria
from app.domain.records.subjects import Subject
from app.engine.contacts import learned_patterns
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.providers.base import (
    PeopleQuery,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    UnexpectedResponse,
)
from workers.resolve import found_people, provider_order

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
    """Import people of the company with this website; the providers charge as for a search.

    They are asked in the order of PROVIDERS_PEOPLE until one finds somebody.
    """
    settings = app_settings.load()
    try:
        criteria = PeopleCriteria(company_domain=normal_website(domain))
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    providers = provider_order.configured_order(settings, ProviderField.PEOPLE)
    if not providers:
        raise click.ClickException(
            "No provider that can search has its key set. Set one, such as HUNTER_API_KEY."
        )
    provider, reply = _search(providers, PeopleQuery(criteria=criteria, limit=limit))
    found = found_people.fitting(reply.people, criteria)
    counts, pattern = _import(settings, found, str(criteria.company_domain))
    counted = {name: counts[name] for name in ("new", "updated", "unchanged", "suppressed")}
    if as_json:
        summary = {"provider": provider.name, "found": len(found), **counted}
        click.echo(json.dumps(summary | {"pattern": pattern, "cost": reply.cost}))
        return
    listed = ", ".join(f"{count} {name}" for name, count in counted.items())
    click.echo(f"{len(found)} people: {listed}. Cost: {reply.cost:g} credits of {provider.name}.")
    if pattern:
        click.echo(f"Their addresses follow {pattern}.")


def _search(providers: Sequence[Provider], query: PeopleQuery) -> tuple[Provider, ProviderResponse]:
    """Return the first response with people, or else the first of a provider that knows of nobody."""
    replies = []
    for provider in providers:
        reply = _reply(provider, query)
        if reply.outcome is TraceOutcome.HIT:
            return provider, reply
        replies.append((provider, reply))
    missed = [one for one in replies if one[1].outcome is TraceOutcome.MISS]
    if missed:
        return missed[0]
    reasons = ", ".join(f"{provider.name}: {reply.outcome.value}" for provider, reply in replies)
    raise click.ClickException(f"No provider returned a result ({reasons}). Nothing was imported.")


def _reply(provider: Provider, query: PeopleQuery) -> ProviderResponse:
    subject = Subject(company_domain=query.criteria.company_domain)
    request = ProviderRequest(field=ProviderField.PEOPLE, subject=subject, query=query)
    if (refusal := provider.unavailability(request)) is not None:
        return ProviderResponse(outcome=refusal)
    try:
        reply = provider.call(request, seconds=TIMEOUT_SECONDS)
    except ProviderTimeout:
        return ProviderResponse(outcome=TraceOutcome.TIMEOUT)
    except UnexpectedResponse:
        return ProviderResponse(outcome=TraceOutcome.ERROR)
    return reply if isinstance(reply, ProviderResponse) else ProviderResponse(outcome=TraceOutcome.ERROR)


def _import(
    settings: Settings, found: Sequence[FoundContact], domain: str
) -> tuple[Counter[str], str | None]:
    """Store the people, without those who are suppressed; return the counts and the domain's pattern."""
    database = Database(settings.database_url, keys=DigestKeys.from_settings(settings), seconds=None)
    try:
        with database.transaction() as session:
            counts = found_people.store(session, found, now=database_clock.value(session)).counts
            patterns = learned_patterns.pattern_counts(session, domain)
            return counts, patterns[0].form if patterns else None
    finally:
        database.close()
