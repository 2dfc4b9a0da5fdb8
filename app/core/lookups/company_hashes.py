"""Looks up companies by the SHA-256 of their website or LinkedIn page, or by a prefix of the hash."""

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
MATCHES_STEP = 16
MIN_BYTES = 8192
BYTES_STEP = 4096


class HashKind(StrEnum):
    """The hashed value."""

    WEBSITE = "website"
    LINKEDIN = "linkedin"


_COLUMNS = {HashKind.WEBSITE: Company.domain_hash, HashKind.LINKEDIN: Company.linkedin_hash}


def first_known(session: Session, kind: HashKind, hashes: Sequence[str]) -> tuple[str, Company] | None:
    """Return the first hexadecimal hash that belongs to a company, and the company; None if none does."""
    column = _COLUMNS[kind]
    rows = session.execute(
        select(column, Company).where(column.in_([parse_hash(digits) for digits in hashes]))
    )
    companies = {hex_hash(digest): company for digest, company in rows if digest is not None}
    return next(((digits, companies[digits]) for digits in hashes if digits in companies), None)


def find(session: Session, workspace_id: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the first known company for `{kind, hashes}`, or all matches for `{kind, prefix}`."""
    kind = HashKind(request["kind"])
    if "prefix" in request:
        return by_prefix(session, kind, request["prefix"])
    match = first_known(session, kind, request["hashes"])
    if match is None:
        return None
    matched, company = match
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
    """Return the pattern of the company's addresses, or None if too few are known."""
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
    """Return every company whose hash has the prefix, among random suffixes, in a response of rounded size.

    Neither the number of matches nor the number of bytes reveals the number of companies: matches are a
    multiple of 16 and at least 32, the JSON is a multiple of 4096 bytes and at least 8192. The padding is
    random, so that compression does not remove it.
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
    target = max(MIN_MATCHES, -(-len(matches) // MATCHES_STEP) * MATCHES_STEP)
    while len(matches) < target:
        matches.setdefault(secrets.token_hex(HASH_DIGITS // 2)[len(prefix) :], None)
    padded_matches = [{"suffix": suffix, "company": company} for suffix, company in sorted(matches.items())]
    return _padded({"prefix": prefix, "matches": padded_matches, "padding": ""})


def _padded(response: dict[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(response))
    target = max(MIN_BYTES, -(-size // BYTES_STEP) * BYTES_STEP)
    return response | {"padding": secrets.token_hex((target - size + 1) // 2)[: target - size]}
