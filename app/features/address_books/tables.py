"""The tables of address books: the book, its file until it is read, its people, and the keys to them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.tables import Tables
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedJson


class BookStatus(StrEnum):
    """What became of the file that was sent last; `failed`: the people of the one before stay."""

    READING = "reading"
    READY = "ready"
    FAILED = "failed"


class AddressBook(Base):
    """An address book of a workspace.

    `file_digest` identifies the file that was sent last, null if it could not be read; `country` is the one
    of its national numbers, if it was named, and `detail` the sentence for a failure. People of the
    `revision` are found; those of the next one are being read: `rows_read` rows of the file, `people_read` of
    which are stored. `people` and `left_out` count what the revision has and has not of its file.
    """

    __tablename__ = "address_books"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    title: Mapped[str]
    country: Mapped[str | None]
    file_digest: Mapped[bytes | None]
    status: Mapped[str]
    detail: Mapped[str | None]
    revision: Mapped[int]
    people: Mapped[int]
    left_out: Mapped[int]
    rows_read: Mapped[int]
    people_read: Mapped[int]
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    read_at: Mapped[datetime | None]


class AddressBookFile(Base):
    """The bytes of a file, until its people are stored."""

    __tablename__ = "address_book_files"

    book_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("address_books.id", ondelete="CASCADE"), primary_key=True
    )
    content: Mapped[bytes]


class AddressBookPerson(Base):
    """A person in a revision of an address book; `changed_at` is when the entry was changed, if known."""

    __tablename__ = "address_book_people"
    __table_args__ = (Index("ix_address_book_people_book_id", "book_id", "revision"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    book_id: Mapped[str] = mapped_column(ForeignKey("address_books.id", ondelete="CASCADE"))
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    revision: Mapped[int]
    changed_at: Mapped[datetime | None]
    person: Mapped[dict[str, Any]] = mapped_column(EncryptedJson("address_book_people.person"))


class AddressBookKey(Base):
    """A digest by which a person is found, and what it is of."""

    __tablename__ = "address_book_keys"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    record_id: Mapped[str] = mapped_column(
        ForeignKey("address_book_people.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    matched_on: Mapped[str]


TABLES = Tables(created=((AddressBook.__tablename__, "adb"),))
