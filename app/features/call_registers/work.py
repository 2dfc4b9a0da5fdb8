"""Deletes the numbers of editions that were replaced, or whose load was interrupted."""

from __future__ import annotations

from functools import partial

from app.engine.call_registers.registers import purge_editions
from app.features.call_registers.loading import LOADING
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.feature import BatchPurge, WorkPart


def _purges(_settings: Settings, now: Moment) -> tuple[BatchPurge, ...]:
    return (partial(_purge, now=now),)


def _purge(session: Session, *, now: Moment) -> int:
    """Delete a part of the numbers that no register has; return how many blocks."""
    return purge_editions(session, before=database_clock.value(session, now - LOADING))


WORK = WorkPart(purges_in_batches=_purges)
