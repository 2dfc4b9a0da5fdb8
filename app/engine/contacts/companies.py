"""Stored companies, shared by all workspaces.

Two records are the same company if they share a domain and their names do not show two (`company_identity`);
failing that, a LinkedIn page; failing that, the name without legal form and accents, if neither domain, page
nor the class of the legal form conflicts. A domain or page, once stored, never changes: a second company at
one domain is stored without it (docs/decisions/0018-a-domain-is-evidence.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.findings import FoundCompany
from app.domain.records.merging import Change
from app.engine.contacts.bulk import lock_resolution, update_all
from app.engine.contacts.resolution.company_resolution import UPDATED_COLUMNS, CompanyResolver
from app.engine.contacts.stored_rows import StoredCompany
from app.infra.database.bulk_statements import insert_all
from app.infra.database.db import Base
from app.infra.database.session import Session


class Company(Base):
    """A company; `domain` and `linkedin_url` are normalised, the hashes are their 32-byte SHA-256.

    `provenance` is the source of each field's value: `{field: {"source": …, "at": RFC 3339}}`, with `*` for
    fields without their own entry.
    """

    __tablename__ = "companies"
    __table_args__ = (
        Index("ix_companies_name_key", "name_key"),
        Index("ix_companies_industry", text("lower(industry)"), "headcount"),
    )

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


class UpsertedCompany(NamedTuple):
    """The company that a record was merged into, and the change; None if the company is new.

    `domain_taken` states whether another company has the record's domain.
    """

    company_id: str
    change: Change | None
    domain_taken: bool = False


def get(session: Session, company_id: str) -> StoredCompany | None:
    """Return the company with this id, or None."""
    company = session.get(Company, company_id)
    if company is None:
        return None
    return StoredCompany._make(getattr(company, name) for name in StoredCompany._fields)


def find(session: Session, found: FoundCompany) -> StoredCompany | None:
    """Return the stored company that the record matches, or None."""
    resolver = CompanyResolver(session, Company.__table__, [found])
    row = resolver.find(resolver.admitted(found))
    return None if row is None else get(session, row["id"])


def upsert(session: Session, found: FoundCompany, *, now: datetime, was_asked: bool = False) -> Company:
    """Insert the company or merge it into the stored one, and return it.

    `was_asked` states that a provider was asked for the company by its domain.
    """
    session.flush()
    [stored] = upsert_many(session, [found], now=now, was_asked=was_asked)
    return session.get_one(Company, stored.company_id, populate_existing=True)


def upsert_many(
    session: Session,
    records: Sequence[FoundCompany],
    *,
    now: datetime,
    rename: bool = True,
    was_asked: bool = False,
) -> list[UpsertedCompany]:
    """Insert or merge many; return what each record was merged into.

    With `rename=False` a name is stored only if the company has none: a contact's record is not a reliable
    source for the name of the employer.
    """
    lock_resolution(session)
    resolver = CompanyResolver(session, Company.__table__, records)
    results: list[UpsertedCompany] = []
    seen: dict[int, UpsertedCompany] = {}  # by identity: hashing takes as long as merging
    for record in records:
        key = id(record)
        if key not in seen:
            admitted = resolver.admitted(record, was_asked=was_asked)
            seen[key] = _stored(resolver, admitted, now, rename=rename)
            seen[key] = seen[key]._replace(domain_taken=admitted is not record)
            results.append(seen[key])
        else:
            results.append(seen[key]._replace(change=Change.NONE))
    insert_all(session, Company, resolver.new)
    update_all(session, Company, resolver.changed, UPDATED_COLUMNS)
    return results


def _stored(
    resolver: CompanyResolver, record: FoundCompany, now: datetime, *, rename: bool
) -> UpsertedCompany:
    row = resolver.find(record)
    if row is None:
        return UpsertedCompany(resolver.add(record, now), None)
    return UpsertedCompany(row["id"], resolver.merge(row, record, now, rename=rename))
