"""Counts the addresses and numbers that a request looks up, before it is answered."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.records.subjects import Subject
from app.domain.reverse_lookups import values_in
from app.engine.matching import reverse_lookups
from app.infra.database import database_clock
from app.web import admission
from app.web.services import services
from app.web.sign_in.auth import caller


def count(subjects: Sequence[Subject]) -> None:
    """Count the values that the caller's workspace does not own, within its limits.

    Values that it owns or has tried today, and those above the limits, need no transaction; subjects without
    values need no database.
    """
    if not any(map(values_in, subjects)):
        return
    workspace_id = caller().workspace_id
    with services().bulkhead.db_slot(workspace_id), services().database.reading() as session:
        if not reverse_lookups.any_admissible(session, workspace_id, subjects):
            return
    with admission.transaction() as session:
        reverse_lookups.admit(session, workspace_id, subjects, now=database_clock.now())
