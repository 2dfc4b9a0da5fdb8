"""The address books of workspaces: sent, replaced, listed and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256

from sqlalchemy import delete, func, select

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.ids import is_id, new_id
from app.domain.kinds import READ_ADDRESS_BOOK
from app.domain.messages import Message
from app.engine.accounts import workspaces
from app.engine.audit_log import entries as audit_log
from app.engine.work import items, specs
from app.engine.work.items import NewItem
from app.engine.work.specs import WorkSpec
from app.features.address_books import people
from app.features.address_books.files import FILES
from app.features.address_books.tables import AddressBook, AddressBookFile, BookStatus
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

MAX_BOOKS = 20
"""The address books of a workspace."""
MAX_PEOPLE = 100_000
"""The people in all address books of a workspace."""
MAX_TITLE = 100
UNKNOWN = Message("The workspace has no such address book. List them with GET /api/address-books.")
SAME_FILE = Message(
    "This file is the address book '{title}' of the workspace. Send another file, or delete that book."
)
READING = specs.register(
    WorkSpec(
        task=READ_ADDRESS_BOOK,
        label="address_book",
        lease=timedelta(seconds=30),
        republish_after=timedelta(seconds=10),
        max_attempts=5,
        per_key=1,
    )
)
"""Every batch of people renews the lease."""
_PURPOSE = "address_book_file"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file with contacts; `country` is the one of its phone numbers without a country code, if known."""

    content: bytes = field(repr=False)
    country: str | None = None


def of_workspace(session: Session, workspace_id: str) -> Sequence[AddressBook]:
    """Return the workspace's address books, oldest first."""
    query = select(AddressBook).where(AddressBook.workspace_id == workspace_id)
    return session.scalars(query.order_by(AddressBook.id)).all()


def get(session: Session, workspace_id: str, book_id: str, *, lock: bool = False) -> AddressBook:
    """Return the workspace's address book, optionally locked until the transaction ends.

    Raises:
        NotFound: the workspace has no address book with this id.

    """
    query = select(AddressBook).where(AddressBook.id == book_id, AddressBook.workspace_id == workspace_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    book = session.scalar(query) if is_id(book_id, "adb") else None
    if book is None:
        raise NotFound(UNKNOWN)
    return book


def create(
    session: Session, workspace_id: str, title: str, file: SentFile, *, account_id: str, now: Moment
) -> tuple[AddressBook, bool]:
    """Return the book of a file, which a worker reads next, and whether it is new: the same file is one book.

    Raises:
        ValidationFailed: the workspace has too many.

    """
    workspaces.lock(session, [workspace_id])
    digest = _digest(session, workspace_id, file)
    found = _with_file(session, workspace_id, digest)
    if found is not None:
        return found, False
    mine = select(func.count()).where(AddressBook.workspace_id == workspace_id)
    if session.scalars(mine).one() >= MAX_BOOKS:
        detail = Message(
            "The workspace has {count} address books. Delete one, or replace its file.", count=MAX_BOOKS
        )
        raise ValidationFailed(detail, errors=(FieldError("/file", detail),))
    book = AddressBook(
        id=new_id("adb"),
        workspace_id=workspace_id,
        title=title,
        status=BookStatus.READING.value,
        revision=0,
        people=0,
        left_out=0,
        rows_read=0,
        people_read=0,
        created_by=account_id,
        created_at=now,
    )
    session.add(book)
    _send(session, book, file, digest, now=now)
    _record(session, Action.ADDRESS_BOOK_CREATE, book)
    return book, True


def replace(session: Session, workspace_id: str, book_id: str, file: SentFile, *, now: Moment) -> bool:
    """Have a new file of the book read, in place of the one before; return whether it is another one.

    Raises:
        NotFound: as in `get`.
        ValidationFailed: another address book of the workspace has this file.

    """
    workspaces.lock(session, [workspace_id])
    book = get(session, workspace_id, book_id, lock=True)
    digest = _digest(session, workspace_id, file)
    found = _with_file(session, workspace_id, digest)
    if found is not None and found.id != book.id:
        detail = SAME_FILE.format(title=found.title)
        raise ValidationFailed(detail, errors=(FieldError("/file", detail),))
    if found is not None:
        return False
    people.keep_only(session, book.id, book.revision)  # of a file that was being read
    session.execute(delete(AddressBookFile).where(AddressBookFile.book_id == book.id))
    _send(session, book, file, digest, now=now)
    _record(session, Action.ADDRESS_BOOK_REPLACE, book)
    return True


def remove(session: Session, workspace_id: str, book_id: str) -> None:
    """Delete the book with its file and its people.

    Raises:
        NotFound: as in `get`.

    """
    book = get(session, workspace_id, book_id, lock=True)
    session.delete(book)
    session.flush()
    items.remove(session, [book.id])
    _record(session, Action.ADDRESS_BOOK_DELETE, book)


def _with_file(session: Session, workspace_id: str, digest: bytes) -> AddressBook | None:
    mine = (AddressBook.workspace_id == workspace_id, AddressBook.file_digest == digest)
    return session.scalar(select(AddressBook).where(*mine))


def _send(session: Session, book: AddressBook, file: SentFile, digest: bytes, *, now: Moment) -> None:
    book.status, book.detail = BookStatus.READING.value, None
    book.file_digest, book.country = digest, file.country
    book.rows_read = book.people_read = 0
    session.flush()
    content = FILES.encrypted(session, book.id, file.content)
    session.add(AddressBookFile(book_id=book.id, content=content))
    session.flush()
    items.add(session, READING, NewItem(book.id, book.workspace_id, now))


def _digest(session: Session, workspace_id: str, file: SentFile) -> bytes:
    """Return the digest of a file as it is to be read, which differs in each workspace."""
    parts = (workspace_id, file.country or "", sha256(file.content).hexdigest())
    return session.keys.digest(_PURPOSE, "\0".join(parts))


def _record(session: Session, action: Action, book: AddressBook) -> None:
    audit_log.record(session, action, object_id=book.id, workspace_id=book.workspace_id)
