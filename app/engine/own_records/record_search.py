"""Searches records for people; for a workspace that has no system with records, without a statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from app.engine.lookups.lookup_parts import LookedUp
from app.infra.database.session import Session

CHECK_SECONDS = 5.0
"""For how long a process remembers that a workspace has no system; its people are read later still."""

Match = TypeVar("Match")


class RecordSearch(Generic[Match]):
    """Finds the records of people in systems of their workspaces; `owner` is the workspace of a system."""

    def __init__(
        self,
        owner: InstrumentedAttribute[str],
        find: Callable[[Session, Sequence[LookedUp]], list[list[Match]]],
    ) -> None:
        self._owners = select(owner).distinct()
        self._find = find
        self._workspaces: frozenset[str] = frozenset()
        self._checked_at = -CHECK_SECONDS

    def __call__(self, session: Session, people: Sequence[LookedUp]) -> list[list[Match]]:
        """Return the records of each person, the most certain first."""
        workspaces = self._having(session, {person.workspace_id for person in people})
        sought = [person for person in people if person.workspace_id in workspaces]
        found = iter(self._find(session, sought) if sought else ())
        return [next(found) if person.workspace_id in workspaces else [] for person in people]

    def _having(self, session: Session, workspaces: set[str]) -> frozenset[str]:
        """Return the workspaces that have a system, as far as these need it."""
        now = time.monotonic()
        if not workspaces <= self._workspaces and now - self._checked_at >= CHECK_SECONDS:
            self._workspaces = frozenset(session.scalars(self._owners))
            self._checked_at = now
        return self._workspaces
