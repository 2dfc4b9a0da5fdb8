"""Counts the addresses and numbers that a request looks up, before it is answered."""

from __future__ import annotations

from collections.abc import Sequence

from app.api.http import admission
from app.api.http.auth import caller
from app.api.http.services import services
from app.core.matching import reverse_lookups
from app.domain.records.subjects import Subject
from app.infra import database_clock


def count(subjects: Sequence[Subject]) -> None:
    """Count the values that the caller's workspace does not own, within its limits.

    Values that it owns or has tried today, and those above the limits, need no transaction.
    """
    workspace_id = caller().workspace_id
    with services().bulkhead.db_slot(workspace_id), services().database.reading() as session:
        if not reverse_lookups.any_admissible(session, workspace_id, subjects):
            return
    with admission.transaction() as session:
        reverse_lookups.admit(session, workspace_id, subjects, now=database_clock.now())
