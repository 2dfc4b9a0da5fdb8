"""Import runs: the time of the last imported data, so that earlier job results are not reused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session


class ImportRun(Base):
    """One `flask contacts import` or `flask companies import`; every batch updates `touched_at`."""

    __tablename__ = "import_runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    entity: Mapped[str]
    rows: Mapped[int]
    started_at: Mapped[datetime]
    touched_at: Mapped[datetime] = mapped_column(index=True)


def start(session: Session, *, entity: str, now: Moment) -> ImportRun:
    """Insert a run for `contacts` or `companies`."""
    run = ImportRun(entity=entity, rows=0, started_at=now, touched_at=now)
    session.add(run)
    session.flush()
    return run


def touch(session: Session, run_id: int, *, rows: int, now: Moment) -> None:
    """Add the rows of a batch to the run and update `touched_at`."""
    run = update(ImportRun).where(ImportRun.id == run_id)
    session.execute(run.values(rows=ImportRun.rows + rows, touched_at=now))


def latest(session: Session, *, limit: int) -> Sequence[ImportRun]:
    """Return the latest runs, newest first."""
    return session.scalars(select(ImportRun).order_by(ImportRun.id.desc()).limit(limit)).all()


LATEST = select(func.max(ImportRun.touched_at)).scalar_subquery()
"""The time of the last imported batch, or NULL."""
