"""Queries for people of a company whose names are near the requested one: misspelt, or in another script.

The keys of many people are read and compared, and only the nearest people are read whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from rapidfuzz import fuzz, process
from sqlalchemy import Select, and_, bindparam, func, or_, select

from app.domain.normal.names.generations import generation_of
from app.domain.normal.names.latin_names import family_key, latin_key, script_of
from app.domain.normal.names.name_keys import name_key
from app.domain.normal.names.names import PersonName
from app.domain.records.similarity.sound_similarity import initials, skeleton, turned
from app.engine.contacts.contacts import Contact
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.matching.candidates import AFTER_LATIN, AT_COMPANIES, ContactRow, at_companies, end_of
from app.infra.database.session import Session
from app.infra.database.statements import columns_of

MAX_COMPARED = 5_000
"""How many people's keys are compared, of each kind of name; those at a company of 100,000 are fewer."""
MAX_NEAREST = 20
_ARTICLE = "l"
"""The first letter of a family name with the Arabic article, as it is transliterated."""

_KEYS: Select[*tuple[Any, ...]] = select(Contact.id, Contact.name_key)
_HAS_INITIAL = or_(
    Contact.name_key.like(bindparam("given_initial")), Contact.name_key.like(bindparam("family_initial"))
)
_SAME_SCRIPT = _KEYS.where(  # the companies in every part, so that SQLite uses the index of each
    or_(
        and_(AT_COMPANIES, Contact.last_key == bindparam("family")),
        and_(AT_COMPANIES, Contact.last_key.between(bindparam("two"), bindparam("two_end")), _HAS_INITIAL),
        and_(
            AT_COMPANIES,
            Contact.name_key.between(bindparam("given"), bindparam("given_end")),
            Contact.last_key.between(bindparam("one"), bindparam("one_end")),
        ),
    )
).limit(MAX_COMPARED)
"""People with the family name, or with the beginnings of both names: two letters of one, one of the other."""
_NOT_IN_LATIN = _KEYS.where(
    AT_COMPANIES,
    Contact.name_key > AFTER_LATIN,
    func.substr(Contact.last_key, 1, 1).in_(bindparam("letters", expanding=True)),
).limit(MAX_COMPARED)
_HAS_ID = Contact.id.in_(bindparam("ids", expanding=True))
_BY_IDS = select(*columns_of(Contact, StoredContact._fields)).where(_HAS_ID)


def nearest_named_at(
    session: Session, name: PersonName, companies: Sequence[StoredCompany]
) -> tuple[ContactRow, ...]:
    """Return the people of these companies with the most similar names, in this script and in others."""
    full = generation_of(name.full).name
    family, words = family_key(name.last, name.full), latin_key(full).split()
    if not (family and words):
        return ()
    employers = {"companies": [company.id for company in companies]}
    alike = session.execute(_SAME_SCRIPT, employers | _beginnings(name_key(full).split(), family)).all()
    letters = sorted(frozenset({_ARTICLE}).union(*map(initials, words)))
    statement = _with_initials(letters) if script_of(full) else _NOT_IN_LATIN
    sounding = session.execute(statement, employers | {"letters": letters}).all()
    near = _nearest([name_key(full)], alike, name_key, fuzz.token_sort_ratio)
    near |= _nearest(turned(skeleton(" ".join(words))), sounding, _skeleton_of, fuzz.ratio)
    rows = session.execute(_BY_IDS, {"ids": sorted(near)}).all() if near else ()
    return at_companies(companies, rows)


def _beginnings(words: Sequence[str], family: str) -> dict[str, str]:
    """Return the values of `_SAME_SCRIPT`."""
    given, one, two = words[0][:2], family[:1], family[:2]
    return {
        "family": family,
        "given_initial": f"{words[0][:1]}%",
        "family_initial": f"{words[-1][:1]}%",
        "given": given,
        "given_end": end_of(given),
        "one": one,
        "one_end": end_of(one),
        "two": two,
        "two_end": end_of(two),
    }


def _with_initials(letters: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """Return the query for people in whose scripts the family name begins with one of the letters."""
    ranges = (and_(AT_COMPANIES, Contact.last_key.between(letter, end_of(letter))) for letter in letters)
    return _KEYS.where(or_(*ranges)).limit(MAX_COMPARED)


def _nearest(
    forms: Sequence[str], rows: Sequence[Any], form: Callable[[str], str], scorer: Callable[..., float]
) -> set[str]:
    """Return the ids of the people whose names in this form are the most similar to one of `forms`."""
    names = [form(row.name_key) for row in rows]
    found = [process.extract(asked, names, scorer=scorer, limit=MAX_NEAREST) for asked in forms]
    nearest = sorted(chain.from_iterable(found), key=lambda hit: -hit[1])
    indexes = dict.fromkeys(index for _name, _score, index in nearest)
    return {rows[index].id for index in islice(indexes, MAX_NEAREST)}


@lru_cache(maxsize=16384)
def _skeleton_of(key: str) -> str:
    return skeleton(latin_key(key)).replace(" ", "")
