"""Finds stored people who meet criteria: `MAX_FOUND` at most, in no particular order.

SQLite, which is for small databases, reads the table until it has them; for PostgreSQL see `people_index`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import select

from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.bulk import rows_in
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.seniorities import SENIORITIES
from app.engine.lookups import people_conditions, people_index
from app.engine.lookups.people_conditions import COLUMNS, MAX_FOUND
from app.infra.database.session import Session

_COMPANY = COLUMNS.index("company_id")
_RANKS = {name: rank for rank, name in enumerate(SENIORITIES)}


Position: TypeAlias = tuple[int, str, str]


class Found(NamedTuple):
    """A person who meets the criteria: what the order and the counts depend on."""

    id: str
    seniority: str | None
    last_key: str | None
    department: str | None
    country: str | None
    industry: str | None
    headcount: str | None

    @property
    def position(self) -> Position:
        """The place in the order."""
        return position(self.seniority, self.last_key, self.id)


@dataclass(frozen=True, slots=True)
class Finding:
    """The people in order. With `is_at_least` there are more, about `estimate`, None if it is not known."""

    people: list[Found]
    is_at_least: bool = False
    estimate: int | None = None


def find(session: Session, criteria: PeopleCriteria) -> Finding:
    """Return people who meet the criteria."""
    if criteria.titles and not people_conditions.titles_of(criteria):
        return Finding([])
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    rows, are_all, estimate = (_scan if is_sqlite else people_index.find)(session, criteria)
    rows = rows[:MAX_FOUND]
    fields = _fields_of_companies(session, {row[_COMPANY] for row in rows})
    people = [Found._make((*row[:_COMPANY], *fields.get(row[_COMPANY], (None, None)))) for row in rows]
    people.sort(key=attrgetter("position"))
    return Finding(people) if are_all else Finding(people, is_at_least=True, estimate=estimate)


def position(seniority: str | None, last_key: str | None, contact_id: str) -> Position:
    """Return the place of a person in the order of leads: the most senior first."""
    return _RANKS.get(seniority or "", len(_RANKS)), last_key or "", contact_id


def _scan(session: Session, criteria: PeopleCriteria) -> tuple[Sequence[Sequence[Any]], bool, None]:
    """Return people as `people_index.find` does, without an index."""
    table = Contact.__table__
    conditions = [
        people_conditions.is_named(table),
        *people_conditions.of_person(table, criteria),
        *people_conditions.at_company(table, criteria),
    ]
    query = select(*people_conditions.columns_of(table)).where(*conditions).limit(MAX_FOUND + 1)
    rows = session.execute(query).all()
    return rows, len(rows) <= MAX_FOUND, None


def _fields_of_companies(
    session: Session, ids: Collection[str | None]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the industry and the headcount of companies by their ids."""
    columns = Company.__table__.c
    query = select(columns.id, columns.industry, columns.headcount)
    return {row.id: (row.industry, row.headcount) for row in rows_in(session, query, columns.id, ids)}
