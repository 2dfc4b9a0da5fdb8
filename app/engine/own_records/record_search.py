"""Searches records for people; while no workspace has a system with records, without a statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from app.engine.lookups.lookup_parts import LookedUp
from app.infra.database.session import Session

CHECK_SECONDS = 5.0
"""For how long a process remembers that no workspace has a system; its people are read later still."""

Match = TypeVar("Match")


class RecordSearch(Generic[Match]):
    """Finds the records of people in the systems of their workspaces; `system_id` is the id of a system."""

    def __init__(
        self,
        system_id: InstrumentedAttribute[str],
        find: Callable[[Session, Sequence[LookedUp]], list[list[Match]]],
    ) -> None:
        self._any = select(system_id).limit(1)
        self._find = find
        self._has_any = False
        self._checked_at = -CHECK_SECONDS

    def __call__(self, session: Session, people: Sequence[LookedUp]) -> list[list[Match]]:
        """Return the records of each person, the most certain first."""
        return self._find(session, people) if self._is_any(session) else [[] for _ in people]

    def _is_any(self, session: Session) -> bool:
        now = time.monotonic()
        if not self._has_any and now - self._checked_at >= CHECK_SECONDS:
            self._has_any = session.scalar(self._any) is not None
            self._checked_at = now
        return self._has_any
