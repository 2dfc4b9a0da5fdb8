"""Companies whose hash, or the id of whose card, begins with a prefix, in a response of rounded size.

Neither the number of matches nor the number of bytes reveals the number of companies: matches are a multiple
of 16 and at least 32, the JSON is a multiple of 4096 bytes and at least 8192. The padding is random, so that
compression does not remove it.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.errors import FilterKeyUnknown
from app.domain.normal.hashes import HASH_DIGITS, prefix_bounds
from app.engine.contacts.bulk import batched
from app.engine.contacts.companies import Company
from app.engine.lookups import company_filters, people_counts
from app.engine.lookups.company_filters import CompanyCardKey, CompanyFilter
from app.engine.lookups.company_overviews import COLUMNS, HashKind
from app.engine.lookups.company_people import Filter
from app.engine.lookups.people_counts import PeopleCount
from app.infra.crypto import company_cards
from app.infra.crypto.company_cards import ID_BYTES, OVERHEAD_BYTES, CardKey
from app.infra.crypto.oprf import OprfKey
from app.infra.database.bulk_statements import is_among
from app.infra.database.session import Session

MIN_MATCHES = 32
MATCHES_STEP = 16
MIN_BYTES = 8192
BYTES_STEP = 4096
MIN_CARD_BYTES = 192
CARD_BYTES_STEP = 64
_EVERYONE = Filter()


def by_hash(session: Session, kind: HashKind, prefix: str) -> dict[str, Any]:
    """Return every company whose hash has the prefix, among random suffixes."""
    column = COLUMNS[kind]
    rows = session.execute(_companies(column).where(column.between(*prefix_bounds(prefix)))).all()
    cards = zip(rows, _cards(session, rows), strict=True)
    matches = {row.digest.hex(): {"company": card} for row, card in cards}
    return _padded(_response(prefix, matches, HASH_DIGITS, lambda: {"company": None}))


def by_card_id(session: Session, kind: HashKind, prefix: str, key: OprfKey) -> dict[str, Any]:
    """Return the sealed card of every company the id of whose card has the prefix, among random ones.

    All cards of a response have the same length, and the random ones look like the others.
    """
    keys, column = _card_keys(session, prefix, key), COLUMNS[kind]
    pages = (_companies(column).where(is_among(session, column.expression, part)) for part in batched(keys))
    rows = [row for page in pages for row in session.execute(page)]
    texts = _texts_of_one_length(_cards(session, rows))
    matches = {
        keys[row.digest].id.hex(): _sealed(company_cards.seal(keys[row.digest], key.public, text))
        for row, text in zip(rows, texts, strict=True)
    }
    size = OVERHEAD_BYTES + (len(texts[0]) if texts else MIN_CARD_BYTES)
    response = _response(prefix, matches, 2 * ID_BYTES, lambda: _sealed(secrets.token_bytes(size)))
    return _padded({"key": key.public.hex()} | response)


def _card_keys(session: Session, prefix: str, key: OprfKey) -> dict[bytes, CardKey]:
    """Return the card keys in the range by hash.

    One statement reads them and the key of the stored filter, because a build may replace both. The companies
    are not joined: PostgreSQL plans without knowing the range, and could read all of them.
    """
    low, high = (bound[:ID_BYTES] for bound in prefix_bounds(prefix))
    in_range = and_(CompanyCardKey.card_id.between(low, high), CompanyCardKey.oprf_key_id == key.id)
    columns = (CompanyCardKey.company_hash, CompanyCardKey.card_id, CompanyCardKey.wrapped_key)
    query = company_filters.last_built(CompanyFilter.oprf_public_key, *columns).outerjoin(
        CompanyCardKey, in_range
    )
    rows = session.execute(query).all()
    if not rows or rows[0].oprf_public_key != key.public:
        raise FilterKeyUnknown
    return {
        row.company_hash: CardKey(row.card_id, key.unwrap(row.wrapped_key, row.card_id))
        for row in rows
        if row.company_hash
    }


def _companies(column: InstrumentedAttribute[bytes | None]) -> Select[Any]:
    columns = (Company.id, Company.name, Company.domain, PeopleCount.departments)
    query = select(column.label("digest"), *columns)
    return query.outerjoin(PeopleCount, people_counts.is_stored(Company.id, _EVERYONE))


def _cards(session: Session, rows: Sequence[Row[Any]]) -> list[dict[str, Any]]:
    sizes = people_counts.totals(session, {row.id: row.departments for row in rows})
    return [
        {"id": row.id, "name": row.name, "domain": row.domain, "contacts_count": sizes.get(row.id, 0)}
        for row in rows
    ]


def _texts_of_one_length(cards: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Return the cards as JSON, filled up with spaces: its length would tell which company a card is of."""
    texts = [json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode() for card in cards]
    size = _rounded_up(max(map(len, texts), default=0), MIN_CARD_BYTES, CARD_BYTES_STEP)
    return [text.ljust(size) for text in texts]


def _sealed(sealed: bytes) -> dict[str, Any]:
    return {"company": None, "sealed": b64encode(sealed).decode()}


def _response(
    prefix: str, matches: dict[str, dict[str, Any]], digits: int, random_match: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Return the matches, by hashes or ids with so many digits, and random ones up to a rounded number."""
    target = _rounded_up(len(matches), MIN_MATCHES, MATCHES_STEP)
    while len(matches) < target:
        matches.setdefault(prefix + secrets.token_hex(digits // 2)[len(prefix) :], random_match())
    suffixes = [{"suffix": found[len(prefix) :]} | match for found, match in sorted(matches.items())]
    return {"prefix": prefix, "matches": suffixes, "padding": ""}


def _padded(response: dict[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(response))
    padding = _rounded_up(size, MIN_BYTES, BYTES_STEP) - size
    return response | {"padding": secrets.token_hex((padding + 1) // 2)[:padding]}


def _rounded_up(number: int, minimum: int, step: int) -> int:
    return max(minimum, -(-number // step) * step)
