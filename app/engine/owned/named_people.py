"""The condition for people of a workspace whose names have words that begin as typed.

PostgreSQL finds the names by an index (`name_words`) before it reads the people: the time depends on how many
have the name, not on how many people the workspace has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    cast,
    false,
    func,
    inspect,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import aliased
from sqlalchemy.sql.elements import SQLColumnExpression

from app.engine.contacts import name_words
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger.reveals import Reveal
from app.engine.lookups.typed_words import Word, words_of
from app.engine.owned import owned_people
from app.engine.owned.owned_people import WORKSPACE, Branch

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
"""Letters of scripts that do not separate the given name from the family name."""


def named(dialect: str, branch: Branch, text: str) -> ColumnElement[bool]:
    """Return whether the stored or the saved name of the person has words that begin so."""
    contact, saved = aliased(Contact, name="named_contact"), aliased(SavedProfile, name="named_saved")
    has_words = partial(_has_words, text, by_index=dialect != "sqlite")
    is_stored = has_words(inspect(contact).selectable)
    is_saved = and_(saved.workspace_id == WORKSPACE, has_words(inspect(saved).selectable))
    if branch.is_revealed:
        reveal = aliased(Reveal)
        is_own = and_(
            reveal.contact_id == contact.id, reveal.workspace_id == WORKSPACE, reveal.refunded_at.is_(None)
        )
        of_url = select(contact.id).where(contact.linkedin_url == saved.linkedin_url).scalar_subquery()
        return is_among(
            dialect,
            Reveal.contact_id,
            select(contact.id).join(reveal, is_own).where(is_stored),
            select(func.coalesce(saved.contact_id, of_url)).where(is_saved),
        )
    return is_among(
        dialect,
        SavedProfile.id,
        select(saved.id).where(is_saved),
        select(owned_people.saved_id_of(contact)).select_from(contact).where(is_stored),
    )


def is_named(text: str) -> ColumnElement[bool]:
    """Return whether a row of people has the name, without the index: for rows that are read in order."""
    return or_(*(_has_words(text, model.__table__, by_index=False) for model in (Contact, SavedProfile)))


def is_among(dialect: str, column: SQLColumnExpression[str], *rows: Select[Any]) -> ColumnElement[bool]:
    """Return whether the column is in the rows; PostgreSQL starts with an array, not with a subquery."""
    found = union_all(*(query.correlate(None) for query in rows))
    if dialect == "sqlite":
        return column.in_(found)
    return column == func.any(func.array(found.scalar_subquery()))  # only on PostgreSQL


def _has_words(typed: str, table: Any, *, by_index: bool) -> ColumnElement[bool]:  # noqa: ANN401 -- or alias
    """Return whether the `name_key` of a row has a word that begins so for each of the words.

    Of scripts without spaces, any part of a word is found, without the index.
    """
    words = words_of(typed)
    parts = [word for word in words if _WITHOUT_SPACES.search(word.beginnings[0])]
    beginnings = [word for word in words if word not in parts]
    if not words:
        return false()
    conditions = [table.c.name_key.contains(word.beginnings[0], autoescape=True) for word in parts]
    if not by_index:
        conditions += [_begins(table.c.name_key, word) for word in beginnings]
    elif beginnings:  # only on PostgreSQL
        vector: ColumnElement[Any] = literal_column(name_words.words_sql(table.name))
        conditions.append(vector.op("@@")(cast(literal(_query(beginnings)), TSQUERY)))
    return and_(*conditions)


def _begins(key: ColumnElement[str], word: Word) -> ColumnElement[bool]:
    padded = literal(" ") + key
    return or_(*(padded.contains(f" {beginning}", autoescape=True) for beginning in word.beginnings))


def _query(words: Sequence[Word]) -> str:  # only on PostgreSQL
    """Return the query for names with all words; the keys of names have no signs that need an escape."""
    return " & ".join(f"({' | '.join(map(_beginning, word.beginnings))})" for word in words)


def _beginning(letters: str) -> str:  # only on PostgreSQL
    return f"'{letters}':*"
