"""The reading of a file into an address book: batch after batch, from where the last worker stopped.

The people of the file before are found until all of the new ones are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, func, select

from app.domain.errors import InvalidValue
from app.domain.messages import Figure, Message
from app.engine.work import turns
from app.engine.work.turns import LeaseLost, Turn
from app.features.address_books import books, people
from app.features.address_books.files import FILES
from app.features.address_books.people import BookPerson
from app.features.address_books.tables import AddressBook, AddressBookFile, BookStatus
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

PROCESSING_FAILED = "processing_failed"
FULL = Message(
    "The address books of the workspace have more than {max} people with this file. "
    "Delete a book, or send a shorter file.",
    max=Figure(books.MAX_PEOPLE),
)
GIVEN_UP = Message(
    "Reading the file failed {attempts} times. Send it in parts to find the entry that "
    "stops it, or ask your operator to find the cause in the log.",
    attempts=books.READING.max_attempts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A file that is to be read, and how many of its rows are done."""

    content: bytes = field(repr=False)
    country: str | None
    rows_read: int


def unread(session: Session, book_id: str) -> Unread | None:
    """Return the file of the book; None if it was deleted."""
    query = select(AddressBook, AddressBookFile.content).join(
        AddressBookFile, AddressBookFile.book_id == AddressBook.id
    )
    row = session.execute(query.where(AddressBook.id == book_id)).one_or_none()
    if row is None:
        return None
    book, content = row
    opened = FILES.decrypted(session, book_id, content)
    return Unread(content=opened, country=book.country, rows_read=book.rows_read)


def store(session: Session, turn: Turn, found: Sequence[BookPerson], rows: int, *, now: Moment) -> None:
    """Store the people of the next rows.

    Raises:
        InvalidValue: the workspace has no room for them.
        LeaseLost: the book was deleted or has another file, or another worker reads it.

    """
    book = _held(session, turn, now=now)
    others = select(func.sum(AddressBook.people)).where(
        AddressBook.workspace_id == book.workspace_id, AddressBook.id != book.id
    )
    if (session.scalar(others) or 0) + book.people_read + len(found) > books.MAX_PEOPLE:
        raise InvalidValue(FULL)
    book.people_read += people.store(session, book, book.revision + 1, found)
    book.rows_read += rows


def finish(session: Session, turn: Turn, *, now: Moment) -> None:
    """Show the people of the file in place of those before, and delete the file.

    Raises:
        LeaseLost: as in `store`.

    """
    book = _held(session, turn, now=now)
    book.revision += 1
    book.status, book.read_at = BookStatus.READY.value, database_clock.value(session, now)
    book.people, book.left_out = book.people_read, book.rows_read - book.people_read
    _end(session, book)
    turns.end(session, turn)


def fail(session: Session, turn: Turn, detail: str, *, now: Moment) -> None:
    """Store why the file cannot be read, and delete it with its people; those of the one before stay.

    Raises:
        LeaseLost: as in `store`.

    """
    book = _held(session, turn, now=now)
    book.status, book.detail, book.file_digest = BookStatus.FAILED.value, detail, None
    _end(session, book)


def await_writers(session: Session) -> None:
    """Wait until the people whom workers are storing are committed; they lock their book first.

    Those that begin later know who was suppressed before this was called.
    """
    reading = select(AddressBook.id).where(AddressBook.status == BookStatus.READING)
    session.execute(reading.order_by(AddressBook.id).with_for_update()).all()


def _held(session: Session, turn: Turn, *, now: Moment) -> AddressBook:
    query = select(AddressBook).where(AddressBook.id == turn.id).with_for_update()
    book = session.scalar(query.execution_options(populate_existing=True))
    if book is None:
        raise LeaseLost
    turns.renew(session, turn, now=now, progressed=True)
    return book


def _end(session: Session, book: AddressBook) -> None:
    """Delete the file, and the people of other revisions than the one that is found."""
    book.rows_read = book.people_read = 0
    session.flush()
    people.keep_only(session, book.id, book.revision)
    session.execute(delete(AddressBookFile).where(AddressBookFile.book_id == book.id))
