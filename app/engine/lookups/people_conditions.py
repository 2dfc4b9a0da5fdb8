"""The criteria of a search for people as conditions of SQL, for any table with columns of contacts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, FromClause, and_, func, or_, select

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.texts.title_words import TitleWord, searched_words
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.companies import Company

Conditions: TypeAlias = list[ColumnElement[bool]]
MAX_FOUND = 1_000
"""People who are found at most."""
COLUMNS = ("id", "seniority", "last_key", "department", "country", "company_id")
"""The columns of contacts that are read of them."""
_COMPANIES = Company.__table__


def columns_of(table: FromClause) -> list[ColumnElement[Any]]:
    """Return these columns of a table."""
    return [table.c[name] for name in COLUMNS]


def is_named(table: FromClause) -> ColumnElement[bool]:
    """Return the condition that providers or imports named the person.

    A person without a name may be known only because a workspace asked for it.
    """
    return table.c.full_name.is_not(None)


def of_person(table: FromClause, criteria: PeopleCriteria) -> Conditions:
    """Return the conditions for the title, the seniority, the department and the country of a person."""
    titles = [and_(*(_has_word(table, word) for word in words)) for words in titles_of(criteria)]
    return [
        *([or_(*titles)] if titles else []),
        *_any_of(table.c.seniority, criteria.seniorities),
        *_any_of(table.c.department, criteria.departments),
        *_any_of(table.c.country, criteria.countries),
    ]


def titles_of(criteria: PeopleCriteria) -> list[tuple[TitleWord, ...]]:
    """Return the words of each title; a text without words is no title."""
    return [words for title in criteria.titles if (words := searched_words(title))]


def _has_word(table: FromClause, word: TitleWord) -> ColumnElement[bool]:
    end = "" if word.is_prefix else " "
    terms = and_(*(table.c.title_terms.like(f"% {term}{end}%") for term in word.terms))
    fields = ((table.c.seniority, word.seniority), (table.c.department, word.department))
    return or_(terms, *(column == value for column, value in fields if value))


def _any_of(column: ColumnElement[Any], values: Collection[str]) -> Conditions:
    return [column.in_(sorted(values))] if values else []


def at_company(table: FromClause, criteria: PeopleCriteria) -> Conditions:
    """Return the condition that the person's company meets the criteria, if they are about companies."""
    if not (conditions := of_company(criteria)):
        return []
    met = select(_COMPANIES.c.id).where(_COMPANIES.c.id == table.c.company_id, *conditions)
    return [met.correlate(table).scalar_subquery().is_not(None)]  # EXISTS could read all companies


def of_company(criteria: PeopleCriteria) -> Conditions:
    """Return the conditions for a company."""
    columns = _COMPANIES.c
    conditions = [
        *_any_of(func.lower(columns.industry), [industry.lower() for industry in criteria.industries]),
        *_any_of(columns.headcount, criteria.headcounts),
    ]
    if criteria.company_domain is not None:
        conditions.append(columns.domain == criteria.company_domain)
    elif criteria.company_name is not None:
        conditions.append(columns.name_key == company_key(criteria.company_name))
    return conditions
