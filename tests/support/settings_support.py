"""Helpers that change the settings of an application under test."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import partial
from typing import Any

from apiflask import APIFlask

from app.domain.regional_rules import parse_places
from app.engine.jobs.submitter import JobSubmitter
from app.engine.lookups import lookup_parts
from app.engine.lookups.lookups import Lookups
from app.engine.own_records import own_records
from app.infra.broker.rate_limiter import Limiter


def change_settings(app: APIFlask, **changes: Any) -> None:
    """Replace the given settings of the running application."""
    services = app.extensions["services"]
    settings = dataclasses.replace(services.settings, **changes)
    slot = services.bulkhead.db_slot
    app.extensions["services"] = dataclasses.replace(
        services,
        settings=settings,
        limiter=Limiter(settings.redis_url, settings.web_concurrency),
        lookups=Lookups(services.database, settings.prices, slot, lookup_parts.load_all(settings)),
        own_records=own_records.load_all(settings),
        submitter=JobSubmitter(services.database, services.publisher, settings, partial(slot, to_write=True)),
    )


def require_purpose(app: APIFlask, *places: str) -> None:
    """Require a purpose for people in these places, for the application and the sessions of its database."""
    change_settings(app, require_purpose_in=parse_places(places))
    services = app.extensions["services"]
    database = services.database
    database.settings = replace(database.settings, purpose_rule=services.settings.purpose_rule)
