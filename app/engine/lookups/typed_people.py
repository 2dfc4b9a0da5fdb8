"""Finds stored people by what somebody types into one box: a name, a part of one, a company, or both.

Each part of the query is a range of an index that ends after `MAX_FOUND` rows, so its time depends on what is
found, not on how many people are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal, or_, select, text, union_all

from app.domain.errors import InvalidValue
from app.domain.normal.names.name_keys import name_key
from app.domain.normal.websites import normal_website
from app.domain.records.subjects import Subject
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.seniorities import RANK_SQL
from app.engine.lookups.typed_words import MIN_LETTERS, Word, company_beginnings, splits_of, words_of
from app.engine.matching import contact_matching
from app.engine.matching.candidates import end_of
from app.infra.database.session import Session

MAX_FOUND = 100
MAX_COMPANIES = 20
"""Companies whose name begins as typed. If there are more, a longer text is needed."""
MAX_READ = 20_000
"""People with a common given name who are read to find those with the other words of a name."""
_MAX_RANGES = 40
_MAX_SPLITS = 4
_Condition = ColumnElement[bool]
_IS_NAMED = Contact.full_name.is_not(None)


@dataclass(frozen=True, slots=True)
class NamedCompany:
    """A company that the text names."""

    id: str
    name: str | None
    domain: str | None


@dataclass(frozen=True, slots=True)
class Typed:
    """The ids of the people whom a text may mean, the most probable first; whether there are more of them.

    `companies` are those that the whole text names, by their beginning.
    """

    people: list[str]
    is_more: bool
    companies: list[NamedCompany]


def find(session: Session, typed: str) -> Typed:
    """Return what a text may mean: people at a company in it, people of the name, people of a company."""
    at_companies = _at_companies(session, typed)
    companies = _companies(session, typed)
    names = _named(session, typed)
    staff = _staff(session, companies)
    people = list(dict.fromkeys([*at_companies, *names, *staff]))
    is_more = max(len(at_companies), len(names), len(staff), len(people)) > MAX_FOUND
    return Typed(people[:MAX_FOUND], is_more, companies)


def _named(session: Session, typed: str) -> list[str]:
    """Return people whose names have all words, those who have exactly this name first."""
    words = words_of(typed)
    if not words or sum(len(word.beginnings[0]) for word in words) < MIN_LETTERS:
        return []
    has_all = [_has_word(word) for word in words]
    found = (
        select(Contact.id, Contact.name_key)
        .where(_IS_NAMED, within, *has_all)
        .limit(MAX_FOUND + 1)
        .subquery()
        for within in islice(_ranges(words), _MAX_RANGES)
    )
    rows = session.execute(union_all(*(select(part) for part in found))).all()
    if not rows and len(words) > 1:
        rows = session.execute(_among_namesakes(words)).all()
    whole = {name_key(typed), " ".join(word.beginnings[0] for word in reversed(words))}
    ordered = sorted({(row.name_key not in whole, row.name_key, row.id) for row in rows})
    return [contact_id for _, _, contact_id in ordered]


def _among_namesakes(words: Sequence[Word]) -> Select[Any]:
    """Return people with all words among the first with one of them for a given name: José García Márquez."""
    given = or_(*(_begins(Contact.name_key, f"{word.beginnings[0]} ") for word in words))
    read = select(Contact.id, Contact.name_key).where(_IS_NAMED, given).limit(MAX_READ).subquery()
    return select(read).where(*(_has_word(word, read.c.name_key) for word in words)).limit(MAX_FOUND + 1)


def _ranges(words: Sequence[Word]) -> Iterator[_Condition]:
    """Yield ranges of the indexes of names: full names that begin so, and family names with a given name."""
    for order in ((*words,), (words[-1], *words[:-1]), (*words[1:], words[0])):
        for parts in product(*(word.beginnings for word in order)):
            yield _begins(Contact.name_key, " ".join(parts))
    for parts in product(*(word.beginnings for word in words)):
        yield _begins(Contact.last_key, " ".join(parts))
    if len(words) == 1:
        yield from (_begins(Contact.name_key, f"{name} ") for name in words[0].equivalents)
    for family, given in permutations(words, 2):
        for last in family.beginnings:
            firsts = [*given.beginnings, *(f"{name} " for name in given.equivalents)]
            yield from (
                and_(_begins(Contact.last_key, last), _begins(Contact.name_key, one)) for one in firsts
            )


def _begins(column: Any, beginning: str) -> _Condition:  # noqa: ANN401 -- a column
    """Return the condition for an index: a range, because LIKE uses an index only in some collations."""
    return and_(column.between(beginning, end_of(beginning)), column.startswith(beginning, autoescape=True))


def _has_word(word: Word, key: Any = Contact.name_key) -> _Condition:  # noqa: ANN401 -- a column
    """Return whether a word of the name begins so, or is an equivalent name."""
    padded = literal(" ") + key + literal(" ")
    beginnings = (*word.beginnings, *(f"{name} " for name in word.equivalents))
    return or_(*(padded.contains(f" {beginning}", autoescape=True) for beginning in beginnings))


def _companies(session: Session, typed: str) -> list[NamedCompany]:
    """Return the companies with this website, or whose names begin so; the one of exactly this name first."""
    beginnings = company_beginnings(typed)
    domain = _website(typed)
    columns = (Company.id, Company.name, Company.domain, Company.name_key)
    conditions = [Company.domain == domain] if domain else []
    conditions += (_begins(Company.name_key, beginning) for beginning in beginnings)
    conditions += (_begins(Company.domain, f"{one}.") for one in beginnings if " " not in one)
    parts = [select(*columns).where(condition).limit(MAX_COMPANIES).subquery() for condition in conditions]
    if not parts:
        return []
    rows = {row.id: row for row in session.execute(union_all(*(select(part) for part in parts)))}
    ordered = sorted(
        rows.values(),
        key=lambda row: (row.domain != domain, row.name_key not in beginnings, row.name_key or "", row.id),
    )
    return [NamedCompany(row.id, row.name, row.domain) for row in ordered[:MAX_COMPANIES]]


def _website(typed: str) -> str | None:
    if "." not in typed or " " in typed.strip():
        return None
    try:
        return normal_website(typed)
    except InvalidValue:
        return None


def _staff(session: Session, companies: Sequence[NamedCompany]) -> list[str]:
    """Return people of the companies, the most senior first, the companies in their order."""
    order = text(f"({RANK_SQL})"), func.coalesce(Contact.last_key, "")
    found: list[str] = []
    for company in companies:
        people = select(Contact.id).where(Contact.company_id == company.id, _IS_NAMED).order_by(*order)
        found += session.scalars(people.limit(MAX_FOUND + 1 - len(found)))
        if len(found) > MAX_FOUND:
            break
    return found


def _at_companies(session: Session, typed: str) -> list[str]:
    """Return people of companies whose names are the other part of the text.

    They have the name by the rules of lookups, which know nicknames and misspellings, or its beginnings.
    """
    found: dict[str, None] = {}
    named = ((split, _companies_at(session, split.company)) for split in splits_of(typed))
    for split, companies in islice(((split, ids) for split, ids in named if ids), _MAX_SPLITS):
        match = contact_matching.find(
            session, Subject(full_name=split.name, **_employer(split.company)).with_plain_names()
        )
        matched = [match.contact] if match.contact else [one.contact for one in match.candidates]
        found |= dict.fromkeys(contact.id for contact in matched if contact.full_name)
        has_all = [_has_word(word) for word in words_of(split.name)]
        people = select(Contact.id).where(Contact.company_id.in_(companies), _IS_NAMED, *has_all)
        found |= dict.fromkeys(session.scalars(people.order_by(Contact.name_key).limit(MAX_FOUND + 1)))
    return list(found)


def _companies_at(session: Session, typed: str) -> list[str]:
    return [company.id for company in _companies(session, typed)]


def _employer(typed: str) -> Mapping[str, str]:
    domain = _website(typed)
    return {"company_domain": domain} if domain else {"company_name": typed}
