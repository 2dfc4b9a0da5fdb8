"""The ids and keys of company cards, stored once for each website and company page.

Computing one takes 0.05 ms of processor time, so the keys of a million companies take a minute. Only the keys
of new companies are computed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, and_, delete, exists, select

from app.engine.contacts.companies import Company
from app.engine.lookups.company_filters import CompanyCardKey
from app.features.company_filter.file_format import key_of
from app.infra.crypto import company_cards
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database, insert
from app.infra.database.session import Session

ROWS_AT_ONCE = 20_000
COMPUTED_AT_ONCE = 2_000
DELETED_AT_ONCE = 2_000
HASHES = (Company.domain_hash, Company.linkedin_hash)
_DIGEST_BYTES = 32


def update(database: Database, key: OprfKey) -> array[int]:
    """Compute missing card keys, delete the keys of removed companies, and return what a filter has of them.

    No transaction is open while it computes. What it has stored before it is interrupted is kept.
    """
    _delete_all(database, and_(CompanyCardKey.oprf_key_id == key.id, *_is_removed()))
    with database.reading(no_deadline=True) as session:
        missing = b"".join(_missing(session, key))
    for start in range(0, len(missing), COMPUTED_AT_ONCE * _DIGEST_BYTES):
        part = missing[start : start + COMPUTED_AT_ONCE * _DIGEST_BYTES]
        digests = (part[at : at + _DIGEST_BYTES] for at in range(0, len(part), _DIGEST_BYTES))
        rows = [_computed(digest, key) for digest in digests]
        with database.transaction() as session:
            session.execute(insert(session, CompanyCardKey).on_conflict_do_nothing(), rows)
    with database.reading(no_deadline=True) as session:
        return array("Q", map(key_of, _card_ids(session, key)))


def delete_others(database: Database, key: OprfKey | None) -> None:
    """Delete the card keys that were computed with other keys; all of them without a key."""
    _delete_all(database, CompanyCardKey.oprf_key_id != (key.id if key else b""))


def _computed(digest: bytes, key: OprfKey) -> dict[str, bytes]:
    card_id, card_key = company_cards.card_key(key.output(digest))
    wrapped_key = key.wrap(card_key, card_id)
    return {"card_id": card_id, "company_hash": digest, "oprf_key_id": key.id, "wrapped_key": wrapped_key}


def _missing(session: Session, key: OprfKey) -> Iterator[bytes]:
    for column in HASHES:
        is_known = exists().where(CompanyCardKey.company_hash == column, CompanyCardKey.oprf_key_id == key.id)
        page, last = select(column).where(~is_known).order_by(column).limit(ROWS_AT_ONCE), b""
        while hashes := session.scalars(page.where(column > last)).all():
            yield from filter(None, hashes)
            last = hashes[-1] or b""


def _card_ids(session: Session, key: OprfKey) -> Iterator[bytes]:
    column, last = CompanyCardKey.card_id, b""
    page = select(column).where(CompanyCardKey.oprf_key_id == key.id).order_by(column).limit(ROWS_AT_ONCE)
    while ids := session.scalars(page.where(column > last)).all():
        yield from ids
        last = ids[-1]


def _is_removed() -> Sequence[ColumnElement[bool]]:
    return [~exists().where(column == CompanyCardKey.company_hash) for column in HASHES]


def _delete_all(database: Database, condition: ColumnElement[bool]) -> None:
    """Delete the rows, which are searched without a time limit and without a lock, in short transactions."""
    column, last = CompanyCardKey.card_id, b""
    page = select(column).where(condition).order_by(column).limit(ROWS_AT_ONCE)
    while True:
        with database.reading(no_deadline=True) as session:
            ids = session.scalars(page.where(column > last)).all()
        for start in range(0, len(ids), DELETED_AT_ONCE):
            some = ids[start : start + DELETED_AT_ONCE]
            with database.transaction() as session:
                session.execute(delete(CompanyCardKey).where(column.in_(some)))
        if len(ids) < ROWS_AT_ONCE:
            return
        last = ids[-1]
