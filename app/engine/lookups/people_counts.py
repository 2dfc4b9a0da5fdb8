"""The number of a company's people by department, stored for up to an hour if the company is large."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    ScalarSelect,
    SQLColumnExpression,
    String,
    and_,
    bindparam,
    delete,
    func,
    select,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.contacts.bulk import batched
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppression_checks
from app.engine.lists import import_runs
from app.engine.lookups.company_people import Filter
from app.infra.database.database_clock import DatabaseNow, Moment, now
from app.infra.database.db import Base, insert
from app.infra.database.json_functions import JsonObject
from app.infra.database.session import Session

LARGE = 100
"""Counts are stored for companies with more people; the people of others are counted at each request."""
MAX_AGE = timedelta(hours=1)


class PeopleCount(Base):
    """The people of a large company who match a filter, by department.

    Counting them takes the longer the more people the company has. `filter_key` is `Filter.key`. People
    without a department are under "".
    """

    __tablename__ = "people_counts"

    company_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("companies.id", ondelete="CASCADE"), primary_key=True
    )
    filter_key: Mapped[str] = mapped_column(primary_key=True)
    departments: Mapped[dict[str, Any]]
    counted_at: Mapped[datetime]


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


def is_stored(company_id: SQLColumnExpression[str], criteria: Filter) -> ColumnElement[bool]:
    """Return the condition for the company's stored counts with this filter, if they can be used.

    They are not older than MAX_AGE, and younger than the latest import and the latest suppression.
    """
    return and_(
        PeopleCount.company_id == company_id,
        PeopleCount.filter_key == criteria.key,
        PeopleCount.counted_at > DatabaseNow() - MAX_AGE,
        func.coalesce(PeopleCount.counted_at > import_runs.LATEST, true()),
        func.coalesce(PeopleCount.counted_at > suppression_checks.LATEST, true()),
    )


def totals(session: Session, stored: Mapping[str, Mapping[str, int] | None]) -> dict[str, int]:
    """Return the number of people by company id; companies without people may be missing.

    `stored` has the stored counts of each company, or None. The others are counted, and stored for large
    companies.
    """
    counted = _count(session, [company_id for company_id, counts in stored.items() if counts is None])
    for company_id, counts in sorted(counted.items()):  # in order, so that transactions cannot deadlock
        if counts.total() > LARGE:
            store(session, company_id, Filter(), counts)
    known = {company_id: counts for company_id, counts in stored.items() if counts is not None}
    return {company_id: sum(counts.values()) for company_id, counts in (known | counted).items()}


def _count(session: Session, company_ids: Sequence[str]) -> dict[str, Counter[str]]:
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for part in batched(company_ids):
        name = func.coalesce(Contact.department, "")
        query = select(Contact.company_id, name, func.count()).where(Contact.company_id.in_(part))
        for company_id, department, people in session.execute(query.group_by(Contact.company_id, name)):
            counted[str(company_id)][department] = people
    return counted


def store(session: Session, company_id: str, criteria: Filter, departments: Mapping[str, int]) -> None:
    """Insert or replace the counts."""
    values = {"departments": dict(departments), "counted_at": now()}
    statement = insert(session, PeopleCount).values(company_id=company_id, filter_key=criteria.key, **values)
    session.execute(statement.on_conflict_do_update(index_elements=["company_id", "filter_key"], set_=values))


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete counts made before then."""
    session.execute(delete(PeopleCount).where(PeopleCount.counted_at < before))
