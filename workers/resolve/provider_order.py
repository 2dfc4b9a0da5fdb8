"""The order in which providers are called: as configured, or by measured cost if `PROVIDERS_ORDER=auto`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias
from weakref import WeakKeyDictionary

from sqlalchemy.exc import SQLAlchemyError

from app.domain.errors import Unavailable
from app.domain.providers import provider_ranking
from app.domain.providers.provider_ranking import ProviderEstimate
from app.engine.providers import provider_stats
from app.engine.providers.provider_stats import ProviderStats
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.providers import registry
from workers.providers.base import Provider, ProviderField

STATS_WINDOW = timedelta(days=90)
"""Age up to which calls count."""
STATS_TTL_SECONDS = 60.0
MIN_CALLS = 10
"""Calls about a country below which a provider's worldwide statistics are used."""

_Counts: TypeAlias = Mapping[str, ProviderStats]


@dataclass(frozen=True, slots=True)
class _CachedStats:
    counts: _Counts
    expires_at: float


_counts: WeakKeyDictionary[Database, dict[tuple[ProviderField, str | None], _CachedStats]] = (
    WeakKeyDictionary()
)


def configured_order(
    settings: Settings, field: ProviderField, region: str | None = None
) -> tuple[Provider, ...]:
    """Return the configured providers of a field in call order; `region` is an ISO country or None."""
    known = registry.load(settings)
    names = settings.providers(field.value, region)
    return tuple(known[name] for name in names)


def providers_for(
    database: Database, settings: Settings, field: ProviderField, region: str | None = None
) -> tuple[Provider, ...]:
    """Return the providers of a field in call order; `region` is an ISO country or None.

    The configured order is used unless `PROVIDERS_ORDER=auto`, before anything was measured, and when the
    statistics cannot be read, so that a job never fails over them. Verifiers always keep it.
    """
    configured = configured_order(settings, field, region)
    if settings.providers_order != "auto" or field is ProviderField.VERIFICATION:
        return configured
    counts = _recent(database, field, region)
    return best(configured, field, counts) if counts else configured


def best(configured: Sequence[Provider], field: ProviderField, counts: _Counts) -> tuple[Provider, ...]:
    """Sort the providers by least expected cost; guessing providers keep their position."""
    by_name = {provider.name: provider for provider in configured}
    pinned = [
        provider.name for provider in configured if provider.guesses or field is ProviderField.VERIFICATION
    ]
    order = provider_ranking.best(list(by_name), stats(configured, field, counts), pinned)
    return tuple(by_name[name] for name in order)


def stats(
    providers: Sequence[Provider], field: ProviderField, counts: _Counts
) -> dict[str, ProviderEstimate]:
    """Return an estimate for each provider, in the operator's currency."""
    return {provider.name: _estimate(provider, field, counts.get(provider.name)) for provider in providers}


def refresh(
    session: Session, field: ProviderField, region: str | None, *, back: timedelta = STATS_WINDOW
) -> _Counts:
    """Count the providers' calls of the last `back`; regional counts where there are enough of them."""
    since = database_clock.value(session) - back
    worldwide = provider_stats.of_field(session, field.value, since=since)
    if region is None:
        return worldwide
    regional = provider_stats.of_field(session, field.value, since=since, country=region)
    return worldwide | {name: counted for name, counted in regional.items() if counted.asked >= MIN_CALLS}


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
    """Return the counts, cached for a minute; empty if they cannot be read."""
    by_field = _counts.setdefault(database, {})
    cached = by_field.get((field, region))
    now = time.monotonic()
    if cached is None or cached.expires_at <= now:
        cached = by_field[field, region] = _CachedStats(
            _read(database, field, region), now + STATS_TTL_SECONDS
        )
    return cached.counts


def _read(database: Database, field: ProviderField, region: str | None) -> _Counts:
    try:
        with database.reading() as session:
            return refresh(session, field, region)
    except (Unavailable, SQLAlchemyError) as error:
        log.warning(
            "provider statistics unavailable, using the configured order", field=field.value, exc_info=error
        )
        return {}
