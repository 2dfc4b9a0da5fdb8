"""Who may use the endpoints and the page of address books."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, AccessRule, Maker, requires
from sqlalchemy import delete
from users_support import SignedInUser

from app.domain.callers import Scope
from app.domain.ids import new_id
from app.features.address_books import books
from app.features.address_books.books import SentFile
from app.features.address_books.tables import AddressBook
from app.infra import clock

FILE = b"E-mail\r\nada@acme.com\r\n"


def of_a_book(status: int, file: bytes | None = None) -> AccessRule:
    return requires(Scope.SAVE, status, owned_by="the workspace's", file=file)


ACCESS_RULES = {
    "GET /api/address-books": requires(Scope.SAVE, 200),
    "POST /api/address-books": requires(Scope.SAVE, 201, 200, file=FILE),
    "GET /api/address-books/<book_id>": of_a_book(200),
    "PUT /api/address-books/<book_id>/file": of_a_book(200, FILE),
    "DELETE /api/address-books/<book_id>": of_a_book(204),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID = ("GET /api/address-books/<book_id>", "DELETE /api/address-books/<book_id>")
PAGES = {
    "GET /address-books": MEMBER,
    "POST /address-books": MEMBER,
    "POST /address-books/<book_id>/file": MEMBER,
    "POST /address-books/<book_id>/delete": MEMBER,
}
RECORDED: tuple[Any, ...] = (
    (
        ("DELETE /api/address-books/{book_id}", None),
        ("POST /address-books/{book_id}/delete", {}),
        "address_book.delete",
    ),
)
"""An endpoint and a page that do alike, and what both record in the audit log."""


def a_book(owner: SignedInUser, _contact_id: str) -> str:
    """Create the only address book of the owner's workspace, of which there may be twenty; return its id."""
    with owner.database.transaction() as session:
        session.execute(delete(AddressBook).where(AddressBook.workspace_id == owner.workspace_id))
        book, _is_new = books.create(
            session,
            owner.workspace_id,
            "Contacts",
            SentFile(content=new_id("adb").encode()),
            account_id=owner.account_id,
            now=clock.now(),
        )
        return book.id


MAKERS: dict[str, Maker] = {"book_id": a_book}
