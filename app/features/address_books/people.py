"""The people of address books: stored with their values encrypted, and found by the keys of a lookup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, delete, select

from app.engine.contacts.bulk import new_ids
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import record_keys, record_matches
from app.engine.own_records.record_suppressions import without_suppressed
from app.engine.own_records.recorded_people import RecordedPerson
from app.features.address_books.tables import AddressBook, AddressBookKey, AddressBookPerson
from app.infra.database.bulk_statements import insert_all
from app.infra.database.encrypted_columns import encrypted
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BookPerson(RecordedPerson):
    """A person in an address book; `changed_at` is when the entry was changed, None if it is not known."""

    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookMatch:
    """A person in an address book, and what they were recognized by, the most certain first.

    `read_at` is when the file of the book was read.
    """

    book_id: str
    title: str
    read_at: datetime | None
    person: BookPerson = field(repr=False)
    matched_on: Sequence[str]


class _Found(NamedTuple):
    workspace_id: str
    digest: bytes
    matched_on: str
    id: str
    changed_at: datetime | None
    person: dict[str, Any]
    book_id: str
    title: str
    read_at: datetime | None


def person_of(changed_at: datetime | None, values: Mapping[str, Any]) -> BookPerson:
    """Return the person of a stored row; `values` is its column `person`."""
    return BookPerson(changed_at=changed_at, **values)


def store(session: Session, book: AddressBook, revision: int, people: Sequence[BookPerson]) -> int:
    """Store the people who are not suppressed in a revision of the book; return how many they are."""
    allowed = without_suppressed(session, people, lambda person: person)
    ids = new_ids("adp", len(allowed))
    rows, keys = [], []
    for person in allowed:
        row_id, workspace_id = next(ids), book.workspace_id
        rows.append(
            {
                "id": row_id,
                "book_id": book.id,
                "workspace_id": workspace_id,
                "revision": revision,
                "changed_at": person.changed_at,
                "person": encrypted(
                    session,
                    AddressBookPerson.person,
                    row_id,
                    person.stored_values(without={"changed_at"}),
                ),
            }
        )
        keys += record_keys.rows(session.keys, workspace_id, row_id, person)
    insert_all(session, AddressBookPerson, rows)
    insert_all(session, AddressBookKey, keys)
    return len(allowed)


def keep_only(session: Session, book_id: str, revision: int) -> None:
    """Delete the people of the other revisions of the book; their keys are deleted with them."""
    _delete(session, AddressBookPerson.book_id == book_id, AddressBookPerson.revision != revision)


def forget(session: Session, ids: Sequence[str]) -> None:
    """Delete people by the ids of their rows."""
    _delete(session, AddressBookPerson.id.in_(ids))


def find(session: Session, people: Sequence[LookedUp]) -> list[list[BookMatch]]:
    """Return for each person the entries in the workspace's address books (see `record_matches.find`)."""
    return record_matches.find(session, people, _FOUND.all, _match, lambda match: match.person)


def _match(row: _Found, matched_on: Sequence[str]) -> BookMatch:
    person = person_of(row.changed_at, row.person)
    return BookMatch(
        book_id=row.book_id, title=row.title, read_at=row.read_at, person=person, matched_on=matched_on
    )


def _find(dialect: str) -> Select[Any]:
    key, person, book = AddressBookKey.__table__.c, AddressBookPerson.__table__.c, AddressBook.__table__.c
    return (
        select(
            key.workspace_id,
            key.digest,
            key.matched_on,
            *(person[name] for name in ("id", "changed_at", "person", "book_id")),
            book.title,
            book.read_at,
        )
        .join(AddressBookPerson.__table__, person.id == key.record_id)
        .join(AddressBook.__table__, book.id == person.book_id)
        .where(
            any_of(dialect, key.workspace_id, "workspace_ids"),
            any_of(dialect, key.digest, "digests"),
            person.workspace_id == key.workspace_id,
            person.revision == book.revision,
        )
    )


_FOUND = Statement(_Found, _find, replanned=True)


def _delete(session: Session, *conditions: ColumnElement[bool]) -> None:
    session.execute(delete(AddressBookPerson).where(*conditions))
