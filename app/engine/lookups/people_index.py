"""How PostgreSQL finds people who meet criteria, in a time that does not depend on how many are stored.

It reads

- the people at the companies that meet the criteria, if these are at most `MAX_COMPANIES`;
- many people from a sample of some thousand rows, on random pages of the table, which also shows about how
  many there are;
- few people by the index of `search_terms`. It does not have the industry and the headcount of companies:
  these are read for `MAX_READ` people at most.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from math import ceil, log2, prod
from types import MappingProxyType
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    FromClause,
    and_,
    cast,
    func,
    literal,
    literal_column,
    or_,
    select,
    tablesample,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from app.domain.normal.texts.title_words import TitleWord
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.search_terms import TERMS_SQL, term_of, term_of_company
from app.engine.lookups import people_conditions
from app.engine.lookups.people_conditions import MAX_FOUND, Conditions, columns_of
from app.infra.database.session import Session
from app.infra.database.statements import any_of

SAMPLE = 60_000
"""The rows of a sample, at most."""
MAX_READ = 20_000
"""People who are read to find those who meet the rest of the criteria."""
MAX_COMPANIES = 1_000
MAX_INDEXED_COMPANIES = 10
"""People with some title are found at so many companies by the index of terms, however large these are."""
MIN_SAMPLED = 100
"""So many people of a sample are enough. Fewer are one in three hundred of all, whom the index finds fast."""
MIN_ESTIMATED = 20
"""With so many people of a sample, it is known about how many there are."""
MAX_COMBINATIONS = 200
"""Values of country, seniority and department together that are searched for by one term each."""

_Row: TypeAlias = Sequence[Any]
"""The values of `people_conditions.COLUMNS`, and others behind them."""
_CONTACTS, _COMPANIES = Contact.__table__, Company.__table__
_TERMS: ColumnElement[Any] = literal_column(TERMS_SQL, TSVECTOR())
_STORED = text("SELECT reltuples FROM pg_class WHERE oid = to_regclass('contacts')")
"""The number of contacts when PostgreSQL counted them last."""


def find(  # only on PostgreSQL
    session: Session, criteria: PeopleCriteria
) -> tuple[Sequence[_Row], bool, int | None]:
    """Return people, whether they are all, and about how many there are, None if it is not known."""
    about_company, terms = people_conditions.of_company(criteria), _terms(criteria)
    if about_company:
        query = select(_COMPANIES.c.id).where(*about_company).limit(MAX_COMPANIES + 1)
        companies = list(session.scalars(query))
        if not companies:
            return (), True, None
        if terms and len(companies) <= MAX_INDEXED_COMPANIES:
            rows, are_all = _read(session, _have([*terms, _any_term(map(term_of_company, companies))]))
            return rows, are_all, None
        if len(companies) <= MAX_COMPANIES or not terms:
            rows, are_all = _at_these(session, criteria, companies)
            return rows, are_all, None
    sampled, estimate = _sampled(session, criteria)
    if len(sampled) >= MIN_SAMPLED:
        return sampled, False, estimate
    rows, are_all = _read(session, _have(terms), partial(people_conditions.at_company, criteria=criteria))
    return rows, are_all, estimate


def _at_these(  # only on PostgreSQL
    session: Session, criteria: PeopleCriteria, companies: Sequence[str]
) -> tuple[Sequence[_Row], bool]:
    """Return people at the first of these companies, and whether they are all."""
    at_these = any_of("postgresql", _CONTACTS.c.company_id, "companies")
    values = {"companies": companies[:MAX_COMPANIES]}
    rows, are_all = _read(
        session, [at_these], partial(people_conditions.of_person, criteria=criteria), values
    )
    return rows, are_all and len(companies) <= MAX_COMPANIES


def _sampled(  # only on PostgreSQL
    session: Session, criteria: PeopleCriteria
) -> tuple[Sequence[_Row], int | None]:
    """Return people of a sample, the same one in each search, and about how many there are of all.

    There is no sample if so few people are stored that none is needed.
    """
    stored = session.scalar(_STORED) or 0
    if stored <= 2 * SAMPLE:
        return (), None
    share = 0.5 ** ceil(log2(stored / SAMPLE))
    sample = tablesample(_CONTACTS, func.system(100 * share), seed=literal(1))
    conditions = [
        people_conditions.is_named(sample),
        *people_conditions.of_person(sample, criteria),
        *people_conditions.at_company(sample, criteria),
    ]
    query = (
        select(*columns_of(sample), func.count().over().label("found")).where(*conditions).limit(MAX_FOUND)
    )
    rows = session.execute(query).all()
    found = rows[0].found if rows else 0
    return rows, _rounded(found / share) if found >= MIN_ESTIMATED else None


def _rounded(number: float) -> int:  # only on PostgreSQL
    """Return the number with two significant digits."""
    return int(float(f"{number:.1e}"))


def _read(  # only on PostgreSQL
    session: Session,
    first: Sequence[ColumnElement[bool]],
    then: Callable[[FromClause], Conditions] = lambda _table: [],
    values: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Sequence[_Row], bool]:
    """Return people who meet the conditions, the others among `MAX_READ` who meet the first ones.

    Also return whether they are all: the one behind these is read whatever they meet.
    """
    columns = [*columns_of(_CONTACTS), _CONTACTS.c.title_terms, func.row_number().over().label("number")]
    is_named = people_conditions.is_named(_CONTACTS)
    read = select(*columns).where(is_named, *first).limit(MAX_READ + 1).subquery("read")
    is_beyond = read.c.number > MAX_READ
    query = select(*columns_of(read), is_beyond.label("is_beyond"))
    met = or_(and_(true(), *then(read)), is_beyond)
    rows = session.execute(query.where(met).limit(MAX_FOUND + 1), values).all()
    people = [row for row in rows if not row.is_beyond]
    return people, len(people) == len(rows) <= MAX_FOUND


def _terms(criteria: PeopleCriteria) -> list[str]:  # only on PostgreSQL
    """Return queries for the index; a person matches all of them who meets `people_conditions.of_person`."""
    titles = [[_word_query(word) for word in words] for words in people_conditions.titles_of(criteria)]
    queries = titles[0] if len(titles) == 1 else [" | ".join(f"({' & '.join(words)})" for words in titles)]
    fields = {"c": criteria.countries, "s": criteria.seniorities, "d": criteria.departments}
    chosen = {letter: values for letter, values in fields.items() if values}
    if prod(map(len, chosen.values())) <= MAX_COMBINATIONS:
        groups = [chosen]
    else:
        groups = [{letter: values} for letter, values in chosen.items()]
    return list(filter(None, [*queries, *map(_group_query, groups)]))


def _word_query(word: TitleWord) -> str:  # only on PostgreSQL
    terms = " & ".join(f"'{term}'{':*' if word.is_prefix else ''}" for term in word.terms)
    fields = {"s": word.seniority, "d": word.department}
    values = (_quoted(term_of({letter: value})) for letter, value in fields.items() if value)
    return f"({' | '.join((f'({terms})', *values))})"


def _group_query(group: Mapping[str, Collection[str]]) -> str:  # only on PostgreSQL
    """Return the query for any combination of the values of these fields."""
    if not group:
        return ""
    combinations = product(*(sorted(values) for values in group.values()))
    return _any_term(term_of(dict(zip(group, values, strict=True))) for values in combinations)


def _any_term(terms: Iterable[str]) -> str:  # only on PostgreSQL
    return " | ".join(map(_quoted, terms))


def _have(terms: Iterable[str]) -> Conditions:  # only on PostgreSQL
    """Return the conditions that people match the queries for the index.

    A subquery hides each from PostgreSQL's planner: where it expects many people, it would read the table
    until it has them, and it expects too many of terms that exclude one another.
    """
    return [_TERMS.op("@@")(cast(select(literal(query)).scalar_subquery(), TSQUERY)) for query in terms]


def _quoted(term: str) -> str:  # only on PostgreSQL
    """Return the term as a word of a query."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
