"""Stored companies, shared by all workspaces.

Two records are the same company if they share a domain; failing that, a LinkedIn page; failing that, the name
without legal form and accents, if neither domain, page nor the class of the legal form conflicts. A domain or
page, once stored, never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.contacts.bulk import lock_resolution, update_all
from app.core.contacts.company_resolution import UPDATED_COLUMNS, CompanyResolver
from app.domain.findings import FoundCompany
from app.domain.records.merging import Change
from app.infra.bulk_statements import insert_all
from app.infra.db import Base


class Company(Base):
    """A company; `domain` and `linkedin_url` are normalised, the hashes are their 32-byte SHA-256.

    `provenance` is the source of each field's value: `{field: {"source": …, "at": RFC 3339}}`, with `*` for
    fields without their own entry.
    """

    __tablename__ = "companies"
    __table_args__ = (Index("ix_companies_name_key", "name_key"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    name: Mapped[str | None]
    name_key: Mapped[str | None]
    domain: Mapped[str | None] = mapped_column(unique=True)
    domain_hash: Mapped[bytes | None] = mapped_column(unique=True)
    linkedin_url: Mapped[str | None] = mapped_column(unique=True)
    linkedin_hash: Mapped[bytes | None] = mapped_column(unique=True)
    industry: Mapped[str | None]
    headcount: Mapped[str | None]
    city: Mapped[str | None]
    country: Mapped[str | None]
    provenance: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


def get(session: Session, company_id: str) -> Company | None:
    """Return the company with this id, or None."""
    return session.get(Company, company_id)


def find(session: Session, found: FoundCompany) -> Company | None:
    """Return the stored company that the record matches, or None."""
    row = CompanyResolver(session, Company.__table__, [found]).find(found)
    return None if row is None else session.get_one(Company, row["id"])


def upsert(session: Session, found: FoundCompany, *, now: datetime) -> Company:
    """Insert the company or merge it into the stored one, and return it."""
    session.flush()
    [(company_id, _)] = upsert_many(session, [found], now=now)
    return session.get_one(Company, company_id, populate_existing=True)


def upsert_many(
    session: Session, records: Sequence[FoundCompany], *, now: datetime, rename: bool = True
) -> list[tuple[str, Change | None]]:
    """Insert or merge many; return for each record the company's id and the change, None for a new company.

    With `rename=False` a name is stored only if the company has none: a contact's record is not a reliable
    source for the name of the employer.
    """
    lock_resolution(session)
    resolver = CompanyResolver(session, Company.__table__, records)
    results: list[tuple[str, Change | None]] = []
    seen: dict[int, str] = {}  # by identity, since hashing a record takes as long as merging it
    for record in records:
        if company_id := seen.get(id(record)):
            results.append((company_id, Change.NONE))
            continue
        row = resolver.find(record)
        if row is None:
            results.append((resolver.add(record, now), None))
        else:
            results.append((row["id"], resolver.merge(row, record, now, rename=rename)))
        seen[id(record)] = results[-1][0]
    insert_all(session, Company, resolver.new)
    update_all(session, Company, resolver.changed, UPDATED_COLUMNS)
    return results
