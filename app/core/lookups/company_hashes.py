"""Company hashes: companies named by the hash of their website or profile, or by its first digits."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts import contacts, emails
from app.core.contacts.companies import Company
from app.core.lookups import company_people, representations
from app.core.lookups.company_people import Filter
from app.domain.email_patterns import patterns
from app.domain.normal.hashes import HASH_DIGITS, hex_hash, parse_hash, prefix_bounds

MIN_MATCHES = 32
STEP_OF_MATCHES = 16
MIN_BYTES = 8192
STEP_OF_BYTES = 4096


class HashKind(StrEnum):
    """What was hashed."""

    WEBSITE = "website"
    LINKEDIN = "linkedin"


_COLUMNS = {HashKind.WEBSITE: Company.domain_hash, HashKind.LINKEDIN: Company.linkedin_hash}


def first_known(session: Session, kind: HashKind, hashes: Sequence[str]) -> tuple[str, Company] | None:
    """Give the first of these hashes, in hexadecimal, that a company has, and the company."""
    column = _COLUMNS[kind]
    rows = session.execute(select(column, Company).where(column.in_([parse_hash(one) for one in hashes])))
    known = {hex_hash(digest): company for digest, company in rows if digest is not None}
    return next(((one, known[one]) for one in hashes if one in known), None)


def find(session: Session, workspace_id: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Answer `{kind, hashes}` with the first company known, `{kind, prefix}` with all in its range."""
    kind = HashKind(request["kind"])
    if "prefix" in request:
        return by_prefix(session, kind, request["prefix"])
    known = first_known(session, kind, request["hashes"])
    if known is None:
        return None
    matched, company = known
    counts = company_people.by_department(session, workspace_id, Filter(company_id=company.id))
    return {
        "matched_hash": matched,
        "company": {
            **representations.company_card(company),
            "email_pattern": email_pattern(session, company),
            "contacts_count": sum(counts.values()),
            "departments": [name for name in counts if name is not None],
        },
    }


def email_pattern(session: Session, company: Company) -> dict[str, Any] | None:
    """Give the form that the company's addresses follow, if enough of them are known."""
    if company.domain is None:
        return None
    learned = patterns.learn(emails.pattern_counts(session, company.domain))
    if learned is None:
        return None
    return {
        "pattern": learned.pattern,
        "confidence": learned.confidence,
        "sample_size": learned.sample_size,
    }


def by_prefix(session: Session, kind: HashKind, prefix: str) -> dict[str, Any]:
    """Give every company whose hash begins so, among made-up suffixes, in an answer of a round size.

    Neither the number of matches nor the number of bytes tells how many companies there are: matches are a
    multiple of 16 and at least 32, the answer's JSON a multiple of 4096 bytes and at least 8192. The padding
    is random, so that compression does not undo it.
    """
    column = _COLUMNS[kind]
    low, high = prefix_bounds(prefix)
    rows = session.execute(
        select(column, Company.id, Company.name, Company.domain).where(column.between(low, high))
    ).all()
    sizes = contacts.count_by_company(session, [row.id for row in rows])
    matches: dict[str, dict[str, Any] | None] = {
        hex_hash(digest)[len(prefix) :]: {
            "id": company_id,
            "name": name,
            "domain": domain,
            "contacts_count": sizes.get(company_id, 0),
        }
        for digest, company_id, name, domain in rows
        if digest is not None
    }
    fitting = max(MIN_MATCHES, -(-len(matches) // STEP_OF_MATCHES) * STEP_OF_MATCHES)
    while len(matches) < fitting:
        matches.setdefault(secrets.token_hex(HASH_DIGITS // 2)[len(prefix) :], None)
    listed = [{"suffix": suffix, "company": company} for suffix, company in sorted(matches.items())]
    return _padded({"prefix": prefix, "matches": listed, "padding": ""})


def _padded(answer: dict[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(answer))
    whole = max(MIN_BYTES, -(-size // STEP_OF_BYTES) * STEP_OF_BYTES)
    return answer | {"padding": secrets.token_hex((whole - size + 1) // 2)[: whole - size]}
