"""Address books of tests: their files, and people who are stored in them."""

from __future__ import annotations

from typing import Any

from jobs_support import NOW
from sqlalchemy import delete

from app.engine.work import items
from app.features.address_books import books, people
from app.features.address_books.books import SentFile
from app.features.address_books.people import BookPerson
from app.features.address_books.tables import AddressBook, AddressBookFile, BookStatus
from app.infra.database.session import Session


def a_book(
    session: Session, workspace_id: str, *entries: dict[str, Any], title: str = "Contacts"
) -> AddressBook:
    """Insert an address book that was read, whose entries have the fields of a `BookPerson`."""
    file = SentFile(content=f"{title} {entries}".encode())
    book, _is_new = books.create(session, workspace_id, title, file, account_id="acc_1", now=NOW)
    items.remove(session, [book.id])
    session.execute(delete(AddressBookFile).where(AddressBookFile.book_id == book.id))
    found = [BookPerson(**fields).normal() for fields in entries]
    book.status, book.people = BookStatus.READY.value, people.store(session, book, book.revision, found)
    book.read_at = NOW
    session.flush()
    return book


def cards(*names: str) -> bytes:
    """Return a file with a card for each name, whose address is the name at x.com."""
    lines = (f"BEGIN:VCARD\nFN:{name}\nEMAIL:{name.split()[0].lower()}@x.com\nEND:VCARD\n" for name in names)
    return "".join(lines).encode()
