"""Runs of the importer: when data last came in, so that answers from before it are not reused."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.infra.database_clock import Moment
from app.infra.db import Base


class ImportRun(Base):
    """One `flask contacts import` or `flask companies import`; `touched_at` moves with every batch."""

    __tablename__ = "import_runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    entity: Mapped[str]
    rows: Mapped[int]
    started_at: Mapped[datetime]
    touched_at: Mapped[datetime] = mapped_column(index=True)


def start(session: Session, *, entity: str, now: Moment) -> ImportRun:
    """Begin a run over `contacts` or `companies`."""
    run = ImportRun(entity=entity, rows=0, started_at=now, touched_at=now)
    session.add(run)
    session.flush()
    return run


def touch(session: Session, run_id: int, *, rows: int, now: Moment) -> None:
    """Say that the run has written so many more rows."""
    run = session.get_one(ImportRun, run_id)
    run.rows += rows
    run.touched_at = now


def latest(session: Session) -> datetime | None:
    """Give when imported data last came in; None if it never did."""
    return session.scalar(select(func.max(ImportRun.touched_at)))
