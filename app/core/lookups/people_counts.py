"""The number of a company's people by department, stored for an hour if the company is large."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    ScalarSelect,
    SQLColumnExpression,
    String,
    bindparam,
    delete,
    func,
    select,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.contacts.contacts import Contact
from app.core.lookups.company_people import Filter
from app.infra.database_clock import DatabaseNow, Moment, now
from app.infra.db import Base, insert
from app.infra.json_functions import JsonObject

LARGE = 1000
"""Counts are stored for companies with more people; those of the others are counted at each request."""
MAX_AGE = timedelta(hours=1)


class PeopleCount(Base):
    """The people of a large company who match a filter, by department.

    Counting them takes the longer the more people the company has. `filter` is `Filter.key`. People without a
    department are under "".
    """

    __tablename__ = "people_counts"

    company_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("companies.id", ondelete="CASCADE"), primary_key=True
    )
    filter: Mapped[str] = mapped_column(primary_key=True)
    departments: Mapped[dict[str, Any]]
    counted_at: Mapped[datetime]


IS_FRESH = PeopleCount.counted_at > DatabaseNow() - MAX_AGE


def by_department(company_id: SQLColumnExpression[str], criteria: Filter) -> ScalarSelect[dict[str, Any]]:
    """Select the counts as a JSON object, ignoring the filter's department."""
    name = func.coalesce(Contact.department, "")
    condition = criteria.conditions(company_id, any_department=True)
    counts = select(name.label("name"), func.count().label("people")).where(condition).group_by(name)
    rows = counts.correlate_except(Contact).subquery()
    return select(JsonObject(rows.c.name, rows.c.people)).scalar_subquery()


def is_large(company_id: SQLColumnExpression[str]) -> ColumnElement[bool]:
    """Return the condition that the company has more than `large` people, a parameter."""
    people = select(Contact.id).where(Contact.company_id == company_id).correlate_except(Contact)
    return people.offset(bindparam("large")).limit(1).exists()


def store(session: Session, company_id: str, criteria: Filter, departments: Mapping[str, int]) -> None:
    """Insert or replace the counts."""
    values = {"departments": dict(departments), "counted_at": now()}
    statement = insert(session, PeopleCount).values(company_id=company_id, filter=criteria.key, **values)
    session.execute(statement.on_conflict_do_update(index_elements=["company_id", "filter"], set_=values))


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete counts made before then."""
    session.execute(delete(PeopleCount).where(PeopleCount.counted_at < before))
