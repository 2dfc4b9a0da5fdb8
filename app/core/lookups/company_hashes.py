"""Looks up companies by the SHA-256 of their website or LinkedIn page, or by a prefix of the hash."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.core.contacts.companies import Company
from app.core.lookups import company_overviews, contact_data, people_counts, representations
from app.core.lookups.company_overviews import COLUMNS, HashKind
from app.core.lookups.company_people import Filter
from app.core.lookups.contact_data import ContactData
from app.core.lookups.people_counts import PeopleCount
from app.domain.normal.hashes import HASH_DIGITS, hex_hash, prefix_bounds

MIN_MATCHES = 32
MATCHES_STEP = 16
MIN_BYTES = 8192
BYTES_STEP = 4096
_EVERYONE = Filter()


def find(session: Session, workspace_id: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the first known company for `{kind, hashes}`, or all matches for `{kind, prefix}`."""
    kind = HashKind(request["kind"])
    if "prefix" in request:
        return by_prefix(session, kind, request["prefix"])
    hashes = request["hashes"]
    row = session.execute(_statement(kind, len(hashes)), company_overviews.values(hashes)).one_or_none()
    if row is None:
        return None
    overview = company_overviews.overview(row)
    data = (
        contact_data.load(session, workspace_id, overview.unchecked) if overview.unchecked else ContactData()
    )
    counts = overview.count_people(session, _EVERYONE, data)
    return {
        "matched_hash": overview.matched_hash,
        "company": {
            **representations.company_card(overview.company),
            "email_pattern": overview.email_pattern,
            "contacts_count": sum(counts.values()),
            "departments": [name for name in counts if name is not None],
        },
    }


@lru_cache(maxsize=64)
def _statement(kind: HashKind, hashes: int) -> Select[Any]:
    return select(company_overviews.found(kind, hashes, _EVERYONE))


def by_prefix(session: Session, kind: HashKind, prefix: str) -> dict[str, Any]:
    """Return every company whose hash has the prefix, among random suffixes, in a response of rounded size.

    Neither the number of matches nor the number of bytes reveals the number of companies: matches are a
    multiple of 16 and at least 32, the JSON is a multiple of 4096 bytes and at least 8192. The padding is
    random, so that compression does not remove it.
    """
    column = COLUMNS[kind]
    low, high = prefix_bounds(prefix)
    rows = session.execute(
        select(column, Company.id, Company.name, Company.domain, PeopleCount.departments)
        .outerjoin(PeopleCount, people_counts.is_stored(Company.id, _EVERYONE))
        .where(column.between(low, high))
    ).all()
    sizes = people_counts.totals(session, {row.id: row.departments for row in rows})
    matches: dict[str, dict[str, Any] | None] = {
        hex_hash(digest)[len(prefix) :]: {
            "id": company_id,
            "name": name,
            "domain": domain,
            "contacts_count": sizes.get(company_id, 0),
        }
        for digest, company_id, name, domain, _departments in rows
        if digest is not None
    }
    target = max(MIN_MATCHES, -(-len(matches) // MATCHES_STEP) * MATCHES_STEP)
    while len(matches) < target:
        matches.setdefault(secrets.token_hex(HASH_DIGITS // 2)[len(prefix) :], None)
    padded_matches = [{"suffix": suffix, "company": company} for suffix, company in sorted(matches.items())]
    return _padded({"prefix": prefix, "matches": padded_matches, "padding": ""})


def _padded(response: dict[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(response))
    target = max(MIN_BYTES, -(-size // BYTES_STEP) * BYTES_STEP)
    return response | {"padding": secrets.token_hex((target - size + 1) // 2)[: target - size]}
