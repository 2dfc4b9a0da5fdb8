"""How people with a very common name are read: in the order of time, until enough of them are found.

The index of names gives all who have a name, and each of them is read and sorted, which takes seconds if a
fifth of a million people has it. The order of time has an index of its own: the first fifty are found among
the first few hundred people.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, literal, select

from app.engine.ledger.reveals import OWNED, Reveal
from app.engine.owned import owned_people
from app.engine.owned.owned_filters import Cursor, Order, Selection, Sort
from app.infra.database.session import Session

READ_FOR_EACH = 50
"""A name is common if one in so many people has it."""
MAX_READ = 80_000
"""The people who are read in order, at most: of many who are wanted at once, more must have the name."""
MANY = 20_000
"""A workspace that has revealed no more people has no common names: all of them are sorted fast."""
_PROBE = 5
"""So many of the first 250 people show that a name is common."""


def first_people(session: Session, workspace_id: str, name: str, *, limit: int) -> Selection:
    """Return the selection of people with the name: by name, or the latest if sorting them takes seconds.

    A page of so many of the latest is found fast, because the selection has its `end`.
    """
    revealed = select(Reveal.contact_id).where(Reveal.workspace_id == workspace_id, OWNED)
    has_many = session.scalar(revealed.order_by(Reveal.created_at).offset(literal(MANY)).limit(literal(1)))
    latest = Selection(name=name)
    end = end_of(session, workspace_id, latest, after=None, limit=limit + 1) if has_many else None
    if end is None:
        return Selection(name=name, sort=Sort.NAME, order=Order.ASCENDING)
    return replace(latest, end=end)


def end_of(
    session: Session, workspace_id: str, selection: Selection, *, after: Cursor | None, limit: int
) -> datetime | None:
    """Return when so many of the people in the order have been revealed; None to find them by the index.

    Nobody behind that time is needed. It is None for rare names, other orders, and on SQLite.
    """
    if selection.end is not None:  # only on PostgreSQL
        return selection.end
    is_by_time = selection.name is not None and selection.sort is Sort.REVEALED_AT
    if session.get_bind().dialect.name == "sqlite" or not is_by_time or not selection.starts_with_revealed:
        return None
    if _time_of(session, workspace_id, selection, after, _PROBE) is None:  # only on PostgreSQL
        return None
    return _time_of(session, workspace_id, selection, after, limit)  # only on PostgreSQL


def _time_of(  # only on PostgreSQL
    session: Session, workspace_id: str, selection: Selection, after: Cursor | None, number: int
) -> datetime | None:
    """Return the time of the person with this number, unless it takes too many people to find them."""
    branch = owned_people.revealed()
    rules = session.settings.regional_rules
    is_found = and_(*selection.conditions(branch, "postgresql", rules, in_order=True))
    columns: tuple[ColumnElement[Any], ...] = (
        branch.added_at.label("at"),
        branch.person_id.label("person_id"),
        is_found.label("is_found"),
    )
    read = branch.query.with_only_columns(*columns)
    if after is not None:
        read = read.where(selection.after(branch, after))
    read = read.order_by(*selection.ordered(branch.added_at, branch.person_id))
    people = read.limit(literal(min(READ_FOR_EACH * number, MAX_READ))).subquery()
    found = select(people.c.at).where(people.c.is_found)
    ordered = found.order_by(*selection.ordered(people.c.at, people.c.person_id))
    return session.scalar(
        ordered.offset(literal(number - 1)).limit(literal(1)), {"workspace_id": workspace_id}
    )
