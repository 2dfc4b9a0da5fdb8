"""Checks of a keyed company filter: the setting is used, and the stored file is keyed with it."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.errors import Unavailable
from app.features.company_filter import filters
from app.infra.crypto import oprf
from app.infra.database.db import Database
from app.settings import Settings
from cli.checks.findings import Finding, note, ok

SETTING = "COMPANY_FILTER_OPRF_KEY"


def findings(settings: Settings) -> Iterator[Finding]:
    """Check the stored file against the setting; nothing if no file is keyed. The tables must exist."""
    key = oprf.from_settings(settings)
    database = Database(settings.database_url)
    try:
        with database.reading() as session:
            stored = filters.oprf_key(session)
    except Unavailable:
        return
    finally:
        database.close()
    if key is not None and not settings.company_filter_seconds:
        remedy = "set COMPANY_FILTER_SECONDS, or remove the key"
        yield note(SETTING, "set, but COMPANY_FILTER_SECONDS is 0: no file is built", remedy)
    elif stored != (key.public if key else None):
        yield note(
            SETTING,
            "the stored company filter is not the one of this setting",
            "flask companies filter --build",
        )
    elif key is not None:
        yield ok(SETTING, "set, and the stored company filter is keyed with it")
