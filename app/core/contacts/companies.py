"""Companies the deployment knows of, shared by all workspaces.

Two words are about one company if they have the same domain; else the same LinkedIn page; else the same
name, legal form and accents aside, if neither domain nor page says otherwise. A domain or page, once known,
never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.contacts.bulk import insert_all, lock_resolution, update_all
from app.core.contacts.company_resolution import UPDATED_COLUMNS, CompanyResolver
from app.domain.findings import FoundCompany
from app.domain.records.merging import Change
from app.infra.db import Base


class Company(Base):
    """A company; `domain` and `linkedin_url` are normal forms, the hashes their 32-byte SHA-256.

    `provenance` says where each field's value came from: `{field: {"source": …, "at": RFC 3339}}`,
    under `*` for those that have no entry of their own.
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
    """Give a company by its id."""
    return session.get(Company, company_id)


def find(session: Session, found: FoundCompany) -> Company | None:
    """Give the stored company that the words are about; None if there is none."""
    row = CompanyResolver(session, Company.__table__, [found]).find(found)
    return None if row is None else session.get_one(Company, row["id"])


def upsert(session: Session, found: FoundCompany, *, now: datetime) -> Company:
    """Add the company, or merge what is new into the one that is known."""
    session.flush()
    [(company_id, _)] = upsert_many(session, [found], now=now)
    return session.get_one(Company, company_id, populate_existing=True)


def upsert_many(
    session: Session, founds: Sequence[FoundCompany], *, now: datetime, rename: bool = True
) -> list[tuple[str, Change | None]]:
    """Add or merge many; give for each the company's id and what changed, None for a new one.

    `rename=False` lets a name only fill a gap: what a person's row calls a company is no news about it.
    """
    lock_resolution(session)
    shelf = CompanyResolver(session, Company.__table__, founds)
    kept: list[tuple[str, Change | None]] = []
    said_before: dict[FoundCompany, str] = {}
    for found in founds:
        if company_id := said_before.get(found):
            kept.append((company_id, Change.NONE))
            continue
        row = shelf.find(found)
        if row is None:
            kept.append((shelf.add(found, now), None))
        else:
            kept.append((row["id"], shelf.merge(row, found, now, rename=rename)))
        said_before[found] = kept[-1][0]
    insert_all(session, Company, shelf.new)
    update_all(session, Company, shelf.changed, UPDATED_COLUMNS)
    return kept
