"""Looks up companies by the SHA-256 of their website or LinkedIn page, or by a prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, select

from app.engine.lookups import company_overviews, company_ranges, contact_data, representations
from app.engine.lookups.company_overviews import HashKind
from app.engine.lookups.company_people import Filter
from app.engine.lookups.contact_data import ContactData
from app.infra.crypto.oprf import OprfKey
from app.infra.database.session import Session

_EVERYONE = Filter()


def find(
    session: Session, workspace_id: str, request: Mapping[str, Any], oprf_key: OprfKey | None = None
) -> dict[str, Any] | None:
    """Return the first known company for `{kind, hashes}`, or all matches for `{kind, prefix}`.

    With a key, the prefix is the prefix of an output.
    """
    kind = HashKind(request["kind"])
    if "prefix" in request and oprf_key:
        return company_ranges.by_card_id(session, kind, request["prefix"], oprf_key)
    if "prefix" in request:
        return company_ranges.by_hash(session, kind, request["prefix"])
    return _first_known(session, workspace_id, kind, request["hashes"])


def _first_known(
    session: Session, workspace_id: str, kind: HashKind, hashes: Sequence[str]
) -> dict[str, Any] | None:
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
