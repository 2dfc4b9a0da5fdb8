"""What members and programs do with address books; the API and the page share it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from app.domain.kinds import READ_ADDRESS_BOOK, Queue
from app.domain.messages import Message
from app.features.address_books import books
from app.features.address_books.books import SentFile
from app.features.address_books.tables import AddressBook
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish
from app.web.bodies.received_files import CSV, FileKind, received_file
from app.web.services import services
from app.web.sign_in.auth import caller

CONTACTS = FileKind(
    ("text/vcard", "text/x-vcard", "text/directory", CSV), Message("a vCard or CSV file of contacts")
)


class Sent(NamedTuple):
    """The representation of a book; whether it has a new file, and whether the request was a replay."""

    book: dict[str, Any]
    is_new: bool
    replayed: bool = False


def create(options: Mapping[str, Any]) -> Sent:
    """Have the file of this request read into a new address book; a file of a book changes nothing.

    Raises:
        ValidationFailed: the workspace has too many.

    """
    current, now = caller(), database_clock.now()
    with received_file(services().settings.upload_max_mb, CONTACTS) as received:
        file = SentFile(content=received.content, country=options.get("country"))
        title = options.get("title") or received.name.rpartition(".")[0] or received.name
        with admission.transaction() as session:
            same = {"sha256": sha256(file.content).hexdigest(), **options}
            if reference := begin(session, now=now, body=same):
                book = books.get(session, current.workspace_id, reference)
                return Sent(describe(book), is_new=False, replayed=True)
            book, is_new = books.create(
                session,
                current.workspace_id,
                title[: books.MAX_TITLE],
                file,
                account_id=current.account_id,
                now=now,
            )
            finish(session, book.id)
            session.refresh(book)
            shown = describe(book)
    _wake(shown["id"], len(file.content))
    return Sent(shown, is_new)


def replace(book_id: str, options: Mapping[str, Any]) -> Sent:
    """Have the file of this request read in place of the book's.

    Raises:
        NotFound: the workspace has no such address book.
        ValidationFailed: another address book of the workspace has this file.

    """
    current = caller()
    with services().database.reading() as session:
        books.get(session, current.workspace_id, book_id)  # before the file is received
    with received_file(services().settings.upload_max_mb, CONTACTS) as received:
        file = SentFile(content=received.content, country=options.get("country"))
        with admission.transaction() as session:
            now = database_clock.now()
            is_new = books.replace(session, current.workspace_id, book_id, file, now=now)
            shown = describe(books.get(session, current.workspace_id, book_id))
    _wake(book_id, len(file.content))
    return Sent(shown, is_new)


def remove(book_id: str) -> None:
    """Delete the book with its people.

    Raises:
        NotFound: the workspace has no such address book.

    """
    with admission.transaction() as session:
        books.remove(session, caller().workspace_id, book_id)
    log.info("address book deleted", book=book_id, account=caller().account_id)


def describe(book: AddressBook) -> dict[str, Any]:
    """Return the representation of an address book."""
    names = ("id", "title", "status", "detail", "people", "left_out", "rows_read", "created_by")
    times = {"created_at": rfc3339(book.created_at), "read_at": rfc3339(book.read_at)}
    return {name: getattr(book, name) for name in names} | times


def _wake(book_id: str, size: int) -> None:
    """Send the book to the workers; if Redis is away, the sweep does."""
    log.info("address book received", book=book_id, bytes=size)
    services().publisher.push(READ_ADDRESS_BOOK, Queue.UPKEEP, [book_id])
