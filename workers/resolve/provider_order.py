"""Who is asked, and in which order: the configured one, or with `PROVIDERS_ORDER=auto` the measured one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias
from weakref import WeakKeyDictionary

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core.providers import provider_stats
from app.core.providers.provider_stats import ProviderStats
from app.domain.errors import Unavailable
from app.domain.providers import provider_ranking
from app.domain.providers.provider_ranking import ProviderEstimate
from app.infra import database_clock
from app.infra.db import Database
from app.infra.log import log
from app.settings import Settings
from workers.providers.base import Provider, ProviderField
from workers.providers.registry import in_order

STATS_WINDOW = timedelta(days=90)
"""How far back the calls count."""
STATS_TTL_SECONDS = 60.0
MIN_CALLS = 10
"""Questions about a country below which a provider is judged by what it did everywhere."""

_Counts: TypeAlias = Mapping[str, ProviderStats]


@dataclass(frozen=True, slots=True)
class _CachedStats:
    counts: _Counts
    until: float


_counts: WeakKeyDictionary[Database, dict[tuple[ProviderField, str | None], _CachedStats]] = (
    WeakKeyDictionary()
)


def providers_for(
    database: Database, settings: Settings, field: ProviderField, region: str | None = None
) -> tuple[Provider, ...]:
    """Give the providers to ask for the field, first to last; `region` is an ISO country or None.

    The configured order stands if it is to be kept, if nothing was measured yet, or if the figures cannot be
    read; it is never a reason for a job to fail. Verifiers always keep it.
    """
    configured = in_order(settings, field, region)
    if settings.providers_order != "auto" or field is ProviderField.VERIFICATION:
        return configured
    counts = _recent(database, field, region)
    return best(configured, field, counts) if counts else configured


def best(configured: Sequence[Provider], field: ProviderField, counts: _Counts) -> tuple[Provider, ...]:
    """Put the providers in the order of least expected cost; guessers keep their place."""
    by_name = {provider.name: provider for provider in configured}
    pinned = [
        provider.name for provider in configured if provider.guesses or field is ProviderField.VERIFICATION
    ]
    order = provider_ranking.best(list(by_name), stats(configured, field, counts), pinned)
    return tuple(by_name[name] for name in order)


def stats(
    providers: Sequence[Provider], field: ProviderField, counts: _Counts
) -> dict[str, ProviderEstimate]:
    """Give what is known of each provider, in the operator's money."""
    return {provider.name: _estimate(provider, field, counts.get(provider.name)) for provider in providers}


def refresh(
    session: Session, field: ProviderField, region: str | None, *, back: timedelta = STATS_WINDOW
) -> _Counts:
    """Count what the providers did so far back, in the region if they were asked there often enough."""
    since = database_clock.value(session) - back
    everywhere = provider_stats.of_field(session, field.value, since=since)
    if region is None:
        return everywhere
    there = provider_stats.of_field(session, field.value, since=since, country=region)
    return everywhere | {name: one for name, one in there.items() if one.asked >= MIN_CALLS}


def _estimate(provider: Provider, field: ProviderField, counted: ProviderStats | None) -> ProviderEstimate:
    terms = provider.terms
    price = terms.prices.get(field, 0.0) * terms.credit_price
    if counted is None:
        return ProviderEstimate(price=price)
    return ProviderEstimate(
        price=price,
        asked=counted.asked,
        hits=counted.hits,
        bounces=counted.bounces,
        spent=counted.credits * terms.credit_price,
        latency_ms=counted.latency_ms,
    )


def _recent(database: Database, field: ProviderField, region: str | None) -> _Counts:
    """Give the counts as they were within the last minute; none if they cannot be read."""
    known = _counts.setdefault(database, {})
    remembered = known.get((field, region))
    now = time.monotonic()
    if remembered is None or remembered.until <= now:
        remembered = known[field, region] = _CachedStats(
            _read(database, field, region), now + STATS_TTL_SECONDS
        )
    return remembered.counts


def _read(database: Database, field: ProviderField, region: str | None) -> _Counts:
    try:
        with database.reading() as session:
            return refresh(session, field, region)
    except (Unavailable, SQLAlchemyError) as error:
        log.warning("providers are asked in the configured order", field=field.value, exc_info=error)
        return {}
