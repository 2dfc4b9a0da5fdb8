"""The stored company filters: signed files that say which websites and company pages are known.

With such a file a client finds out on its own that a website is unknown, and asks nothing about it.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select

from app.engine.lookups.company_filters import SIZES, CompanyFilter, last_built
from app.features.company_filter import card_keys, file_format, fuse_filter
from app.features.company_filter.fuse_filter import FuseFilter
from app.infra.crypto.oprf import OprfKey
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.db import Database, insert
from app.infra.database.session import Session

ROWS_AT_ONCE = 20_000
ETAG_DIGITS = 32


class StoredFilter(NamedTuple):
    """A file as it is listed: its number of entries and its size in bytes."""

    bits: int
    version: int
    entries: int
    size: int
    etag: str


def claim(session: Session, *, every: timedelta, now: Moment) -> bool:
    """Return whether the filters were last checked so long ago; if so, they count as checked from now on."""
    rows = [{"bits": bits, "checked_at": now} for bits in SIZES]
    statement = insert(session, CompanyFilter).values(rows)
    claimed = statement.on_conflict_do_update(
        index_elements=["bits"],
        set_={"checked_at": statement.excluded.checked_at},
        where=CompanyFilter.checked_at <= now - every,
    )
    return bool(session.scalars(claimed.returning(CompanyFilter.bits)).all())


def build(database: Database, key: Ed25519PrivateKey, oprf_key: OprfKey | None = None) -> bool:
    """Build and store the files; return whether anything they are built from has changed.

    With an OPRF key, the files have the outputs of the hashes instead of the hashes. `claim` has inserted the
    rows. No transaction is open while it computes, which takes about twelve seconds of processor time for a
    million entries, and with a new OPRF key a minute more.
    """
    public_keys = key.public_key().public_bytes_raw() + (oprf_key.public if oprf_key else b"")
    with database.reading(no_deadline=True) as session:
        keys = array("Q", sorted(map(file_format.key_of, _digests(session))))
        source = hashlib.sha256(public_keys + keys.tobytes()).digest()
        is_built = _is_built(session, source)
        seconds = int(database_clock.value(session).timestamp())
    if is_built:
        card_keys.delete_others(database, oprf_key)  # a build that was interrupted leaves them
        return False
    if oprf_key:
        keys = card_keys.update(database, oprf_key)
    for bits in SIZES:
        built = fuse_filter.build(keys, bits)
        with database.transaction() as session:
            row = session.get_one(CompanyFilter, bits, with_for_update=True)
            _store(row, built, max(seconds, row.version + 1), key, oprf_key)
            row.source_digest = source
    card_keys.delete_others(database, oprf_key)
    return True


def _is_built(session: Session, source: bytes) -> bool:
    """Return whether all files are built from this."""
    return set(session.scalars(select(CompanyFilter.source_digest))) == {source}


def _digests(session: Session) -> Iterator[bytes]:
    for column in card_keys.HASHES:
        last = b""
        page = select(column).order_by(column).limit(ROWS_AT_ONCE)
        while hashes := session.scalars(page.where(column > last)).all():
            yield from filter(None, hashes)
            last = hashes[-1] or b""


def _store(
    row: CompanyFilter, built: FuseFilter, version: int, key: Ed25519PrivateKey, oprf_key: OprfKey | None
) -> None:
    row.oprf_public_key = oprf_key.public if oprf_key else None
    unsigned = file_format.encode(built, version, row.oprf_public_key or b"")
    row.content = unsigned + key.sign(unsigned)
    row.etag = hashlib.sha256(row.content).hexdigest()[:ETAG_DIGITS]
    row.version, row.entries = version, built.entries


def etag(session: Session, bits: int) -> str | None:
    """Return the entity tag of the file, without quotation marks; None if there is none."""
    return session.scalar(select(CompanyFilter.etag).where(CompanyFilter.bits == bits))


def content(session: Session, bits: int) -> tuple[str, bytes] | None:
    """Return the entity tag and the file; None if there is none."""
    columns = select(CompanyFilter.etag, CompanyFilter.content).where(CompanyFilter.bits == bits)
    row = session.execute(columns).one_or_none()
    return None if row is None or row.content is None else (row.etag, row.content)


def oprf_key(session: Session) -> bytes | None:
    """Return the public OPRF key with which all entries have card keys; None if the file is not keyed."""
    key: bytes | None = session.scalar(last_built(CompanyFilter.oprf_public_key))
    return key


def stored(session: Session) -> list[StoredFilter]:
    """Return what is stored, in the order of the sizes of the fingerprints."""
    rows = session.scalars(select(CompanyFilter).order_by(CompanyFilter.bits))
    return [
        StoredFilter(row.bits, row.version, row.entries, len(row.content), row.etag)
        for row in rows
        if row.content is not None and row.etag is not None
    ]
