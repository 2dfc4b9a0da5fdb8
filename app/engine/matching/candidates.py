"""Queries for the contacts that may match a subject: by exact keys, or by name and company."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from sqlalchemy import BindParameter, Select, and_, bindparam, case, func, or_, select

from app.domain.normal.names import name_keys, nicknames
from app.domain.normal.names.generations import generation_of
from app.domain.normal.names.latin_names import latin_key
from app.domain.normal.names.names import PersonName
from app.domain.normal.profiles.member_ids import is_member_url
from app.domain.records.profile_links import spellings, urls_of
from app.domain.records.subjects import Subject
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, columns_of

KEYS = ("contact_id", "linkedin_url", "email", "phone")  # strongest first
_INDEXED = ("email", "phone")
MAX_CONTACTS = 100
MAX_NAMESAKES = 20
"""How many people with the given or the family name are compared.

Those with both are preferred, in either order, then those with the same initial.
"""
MIN_NAME_LENGTH = 3
AFTER_LATIN = "zzzz"
_AFTER_ANY = "\uffff"
"""Appended to a prefix, these sort after the strings with that prefix; the second not in every collation."""


@dataclass(frozen=True, slots=True)
class ContactRow:
    """A stored contact and its company."""

    contact: StoredContact
    company: StoredCompany | None


# Statements are built once: building them is most of the cost of a short query.
_CONTACT, _COMPANY = columns_of(Contact, StoredContact._fields), columns_of(Company, StoredCompany._fields)
_EMPLOYER = "employer_"  # before the names of the company's columns


def _by_key(key: str, dialect: str, further: str = "") -> Select[Any]:
    """Return the query for contacts with their companies by one of `KEYS`; `value` is the matching one.

    With `further`, contacts with the value in that column are found too, and `value` may be another one.
    """
    contacts, companies = Contact.__table__, Company.__table__
    employer = (column.label(f"{_EMPLOYER}{column.key}") for column in _COMPANY)
    joined = contacts.outerjoin(companies, companies.c.id == contacts.c.company_id)
    value: Any
    if key == "email":
        value, joined = Email.email_index, joined.join(Email.__table__, Email.contact_id == contacts.c.id)
    elif key == "phone":
        value, joined = Phone.e164_index, joined.join(Phone.__table__, Phone.contact_id == contacts.c.id)
    else:
        value = contacts.c["id" if key == "contact_id" else key]
    query = select(*_CONTACT, *employer, value.label("value")).select_from(joined)
    found = any_of(dialect, value, "values")
    if further:
        found = or_(found, any_of(dialect, contacts.c[further], "values"))
    return query.where(found).limit(MAX_CONTACTS)


_BY_KEY = {key: Statement(tuple, partial(_by_key, key)) for key in KEYS}
_BY_MEMBER = Statement(tuple, partial(_by_key, "linkedin_url", further="member_url"))
# The next ones are planned for their values: a company may have two people or fifty thousand.
_COMPANY_IDS: BindParameter[Any] = bindparam("companies", expanding=True)
AT_COMPANIES = Contact.company_id.in_(_COMPANY_IDS)
_HAS_FAMILY_NAME = Contact.last_key.in_(bindparam("last_keys", expanding=True))
_HAS_WHOLE_NAME = Contact.name_key == bindparam("whole")
# Ranges, because LIKE uses an index only in some collations.
_BEGINS_WITH_FIRST, _BEGINS_WITH_LAST = (
    Contact.name_key.between(bindparam(word), bindparam(word + "_end")) for word in ("first", "last")
)
_HAS_NICKNAME = func.lower(Contact.first_name).in_(bindparam("nicknames", expanding=True))
_HAS_INITIAL = Contact.name_key.like(bindparam("initial"))
_HAS_BOTH_NAMES = or_(
    and_(_HAS_FAMILY_NAME, or_(_BEGINS_WITH_FIRST, _BEGINS_WITH_LAST, _HAS_NICKNAME)),
    and_(_BEGINS_WITH_FIRST, Contact.name_key.like(bindparam("last_inside"))),  # of two family names
)
_WHOLE_NAME, _BOTH_NAMES, _SAME_INITIAL, _ONE_NAME = range(4)
_RANK = case(
    (_HAS_WHOLE_NAME, _WHOLE_NAME),
    (_HAS_BOTH_NAMES, _BOTH_NAMES),
    (_HAS_INITIAL, _SAME_INITIAL),
    else_=_ONE_NAME,
)
# Whether somebody has the whole name is known only when all namesakes have been read, so the best rank is a
# window over them, and `_BY_NAME` excludes by it outside. Too many people of a large company have the given
# name: another of their names must begin with the letter of the family name, and the other way round.
_NAMED = (
    select(*_CONTACT, _RANK.label("rank"), func.min(_RANK).over().label("best"))
    .where(  # the companies in every part, so that SQLite uses the index of each
        or_(
            and_(AT_COMPANIES, _HAS_FAMILY_NAME),
            and_(AT_COMPANIES, _HAS_WHOLE_NAME),
            and_(AT_COMPANIES, _BEGINS_WITH_FIRST, Contact.name_key.like(bindparam("last_letter"))),
            and_(AT_COMPANIES, _BEGINS_WITH_LAST, Contact.name_key.like(bindparam("first_letter"))),
        )
    )
    .subquery()
)
_BY_NAME = (
    select(*(_NAMED.c[name] for name in StoredContact._fields))
    .where(or_(_NAMED.c.best > _WHOLE_NAME, _NAMED.c.rank <= _BOTH_NAMES))
    .order_by(_NAMED.c.rank, _NAMED.c.id)
    .limit(MAX_NAMESAKES)
)
"""If a person has exactly the requested name, people who share only one name with it are excluded."""


def by_keys(session: Session, subjects: Sequence[Subject]) -> list[dict[str, tuple[ContactRow, ...]]]:
    """Return for each subject the contacts by exact key, with one query per kind of key."""
    people_by_key = {}
    for key in KEYS:
        values = {value for subject in subjects for value in _values(subject, key)}
        people_by_key[key] = _with_key(session, key, sorted(values))
    return [
        {key: people for key in KEYS if (people := _first(people_by_key[key], _values(subject, key)))}
        for subject in subjects
    ]


def _values(subject: Subject, key: str) -> tuple[str, ...]:
    if key == "linkedin_url":
        return urls_of(subject)
    value = getattr(subject, key)
    return (value,) if value else ()


def _first(
    people_by_value: Mapping[str, tuple[ContactRow, ...]], values: Sequence[str]
) -> tuple[ContactRow, ...] | None:
    return next((people_by_value[value] for value in values if value in people_by_value), None)


def by_ids(session: Session, contact_ids: Collection[str]) -> dict[str, ContactRow]:
    """Return the existing contacts by id."""
    people_by_id = _with_key(session, "contact_id", sorted(contact_ids))
    return {contact_id: people[0] for contact_id, people in people_by_id.items()}


def _with_key(session: Session, key: str, values: Sequence[str]) -> Mapping[str, tuple[ContactRow, ...]]:
    if not values:
        return {}
    forms = _forms(session, key, values)
    is_of_member = key == "linkedin_url" and any(map(is_member_url, values))
    rows = (_BY_MEMBER if is_of_member else _BY_KEY[key]).all(session, {"values": list(forms)})
    if len(rows) == MAX_CONTACTS and len(values) > 1:  # one common value must not hide the others
        middle = len(values) // 2
        halves = (values[:middle], values[middle:])
        return dict(pair for half in halves for pair in _with_key(session, key, half).items())
    people: dict[str, list[ContactRow]] = defaultdict(list)
    for row in rows:
        person, found = _contact_row(row)
        stored = {found, person.contact.member_url} if is_of_member else {found}
        for value in {forms[form] for form in stored if form is not None and form in forms}:
            people[value].append(person)
    return {value: tuple(sorted(rows, key=lambda row: row.contact.id)) for value, rows in people.items()}


def _forms(session: Session, key: str, values: Sequence[str]) -> Mapping[str, str]:
    """Return the values by the forms in which they may be stored."""
    if key in _INDEXED:
        return stored_forms(session, key, values)
    return {form: value for value in values for form in spellings(value)}


def _contact_row(row: Sequence[Any]) -> tuple[ContactRow, str]:
    """Return the contact and the company in a row of the query by key, and the matching value."""
    end = len(_CONTACT)
    company = StoredCompany._make(row[end:-1])
    return ContactRow(StoredContact._make(row[:end]), company if company.id else None), row[-1]


def contacts_named_at(
    session: Session, name: PersonName, companies: Sequence[StoredCompany]
) -> tuple[ContactRow, ...]:
    """Return people of these companies by family or given name.

    The stored family name may be any word of the name, or two: Cindy Hyde Smith is stored as Hyde-Smith. The
    stored given name may be the first or the last word, if another one starts with the letter of the family
    name: Mario Balart is stored as Mario Diaz-Balart.
    """
    full = generation_of(name.full).name
    words = name_keys.name_key(full).split() or [""]
    texts = full.replace("-", " ").split()
    parts = [name.last, name.first, *texts, *map(" ".join, pairwise(texts))]
    last_keys = {key for part in parts for key in (*name_keys.spellings(part), latin_key(part)) if key}
    if len(words) == 1:
        last_keys |= _endings(words[0])
    values = {
        "companies": [company.id for company in companies],
        "last_keys": sorted(last_keys),
        "nicknames": sorted(nicknames.equivalents(name_keys.name_key(name.first))),
        "whole": name_keys.person_key(name.full),
        "first": words[0] + " ",
        "first_end": end_of(f"{words[0]} "),
        "first_letter": f"% {words[0][:1]}%",
        "initial": f"{words[0][:1]}%",
        "last": words[-1] + " ",
        "last_end": end_of(f"{words[-1]} "),
        "last_letter": f"% {words[-1][:1]}%",
        "last_inside": f"% {words[-1]}%",
    }
    return at_companies(companies, session.execute(_BY_NAME, values).all())


def end_of(prefix: str) -> str:
    """Return the end of the range of the strings with this prefix."""
    return prefix + (AFTER_LATIN if prefix.isascii() else _AFTER_ANY)


def _endings(word: str) -> set[str]:
    """Return the words that may be the family name at the end of a name without spaces (SergeiLavrov)."""
    return {word[start:] for start in range(MIN_NAME_LENGTH, len(word) - MIN_NAME_LENGTH + 1)}


def at_companies(companies: Sequence[StoredCompany], rows: Sequence[Sequence[Any]]) -> tuple[ContactRow, ...]:
    """Return the contacts in these rows, with the one of these companies at which each works."""
    by_id = {company.id: company for company in companies}
    contacts = map(StoredContact._make, rows)
    return tuple(ContactRow(contact, by_id[contact.company_id or ""]) for contact in contacts)
