"""Slices: consecutive ranges of ids with a fixed number of rows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import InstrumentedAttribute

from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class Slice:
    """The ids after one and up to another; `is_last` if none follow."""

    after: str
    upto: str
    is_last: bool

    @property
    def position(self) -> str:
        """Return the id after which the next slice begins."""
        return "" if self.is_last else self.upto


def following(session: Session, column: InstrumentedAttribute[str], after: str, end: str, size: int) -> Slice:
    """Return the next `size` ids after one, up to `end`."""
    query = select(column).where(column > after, column <= end).order_by(column).offset(size - 1).limit(2)
    ids = session.scalars(query).all()
    is_last = len(ids) < 2  # noqa: PLR2004 -- the last of the slice, and the next
    return Slice(after, end if is_last else ids[0], is_last)


def plan_for_slices(session: Session) -> None:
    """Configure PostgreSQL's planner for slices until the transaction ends; do nothing on SQLite.

    The rows of a slice are stored close together, so reading them by an index costs less than the planner
    expects. Starting parallel processes would take longer than reading a slice.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SET LOCAL max_parallel_workers_per_gather = 0"))
        session.execute(text("SET LOCAL random_page_cost = 1.1"))
