"""The database of a web process or a worker, whose sessions carry the operator's keys and rules."""

from __future__ import annotations

from app.engine.contacts import hidden_values, purpose_rules
from app.engine.contacts.suppressions import suppression_journal
from app.engine.matching import reverse_lookups
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.settings import Settings


def create(settings: Settings, keys: DigestKeys) -> Database:
    """Return the database of these settings; it connects when it is used."""
    return Database(
        settings.database_url,
        keys=keys,
        session_info=suppression_journal.session_info(settings.suppression_journal)
        | hidden_values.session_info(settings.regional_rules)
        | purpose_rules.session_info(settings.purpose_rule)
        | reverse_lookups.session_info(settings.reverse_lookup_limits),
    )
