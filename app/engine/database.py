"""The database of a web process or a worker, whose sessions carry the operator's keys and rules."""

from __future__ import annotations

from pathlib import Path

from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import DataSettings
from app.settings import Settings


def create(settings: Settings, keys: DigestKeys) -> Database:
    """Return the database of these settings; it connects when it is used."""
    return Database(
        settings.database_url,
        keys=keys,
        settings=DataSettings(
            regional_rules=settings.regional_rules,
            purpose_rule=settings.purpose_rule,
            reverse_lookup_limits=settings.reverse_lookup_limits,
            suppression_journal=Path(settings.suppression_journal) if settings.suppression_journal else None,
        ),
    )
