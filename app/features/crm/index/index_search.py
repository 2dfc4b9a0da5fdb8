"""Searches the index of CRMs for people; while no workspace has connected a CRM, without a statement."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import select

from app.domain.records.profile_links import are_two_people
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records.record_keys import NAME
from app.features.crm.connections import CrmConnection
from app.features.crm.index import index_matches
from app.features.crm.index.index_matches import IndexMatch
from app.infra.database.session import Session

CHECK_SECONDS = 5.0
"""For how long a process remembers that no workspace has connected a CRM; its people are read later still."""


class IndexSearch:
    """Finds the records of people in the CRMs of their workspaces."""

    def __init__(self) -> None:
        self._is_connected = False
        self._checked_at = -CHECK_SECONDS

    def __call__(self, session: Session, people: Sequence[LookedUp]) -> list[list[IndexMatch]]:
        """Return the records of each person, as `index_matches.find` does."""
        if not self._is_any_connected(session):
            return [[] for _ in people]
        return index_matches.find(session, people)

    def _is_any_connected(self, session: Session) -> bool:
        now = time.monotonic()
        if not self._is_connected and now - self._checked_at >= CHECK_SECONDS:
            self._is_connected = session.scalar(select(CrmConnection.id).limit(1)) is not None
            self._checked_at = now
        return self._is_connected


def is_namesake(match: IndexMatch, person: LookedUp) -> bool:
    """Return whether the record has only the name and the company in common, and another person's profile."""
    return list(match.matched_on) == [NAME] and are_two_people(person.profiles, match.person.profiles)
