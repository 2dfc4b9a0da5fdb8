"""Helpers for tests of the index of mentions."""

from __future__ import annotations

from datetime import timedelta

from app.engine.mentions import mentions
from app.engine.privacy.holdings import all_sources
from app.infra.database import database_clock
from app.infra.database.session import Session


def index_all(session: Session) -> int:
    """Index everything, as if it were changed an hour ago; return how many rows there were."""
    now = database_clock.value(session) + timedelta(hours=1)
    total = 0
    for source in all_sources():
        while count := mentions.index_next(session, source, now=now):
            total += count
    return total
