"""Saved profiles: what a workspace's accounts saved from the professional network; nobody else sees it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Row, String, UniqueConstraint, bindparam, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts.workspaces import foreign_key
from app.domain.records.subjects import Subject
from app.infra.clock import rfc3339
from app.infra.db import Base


class SavedProfile(Base):
    """A profile as one workspace knows it. `captured` says for each field when its value was read (RFC 3339).

    `list_name` is what callers call `list`; `saved_by` is the account that saved it first.
    """

    __tablename__ = "saved_profiles"
    __table_args__ = (UniqueConstraint("workspace_id", "linkedin_url"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    linkedin_url: Mapped[str]
    full_name: Mapped[str | None]
    headline: Mapped[str | None]
    title: Mapped[str | None]
    location: Mapped[str | None]
    company_name: Mapped[str | None]
    company_domain: Mapped[str | None]
    company_linkedin_url: Mapped[str | None]
    list_name: Mapped[str | None]
    tags: Mapped[list[Any]]
    note: Mapped[str | None]
    saved_by: Mapped[str | None]
    captured: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    @property
    def subject(self) -> Subject:
        """The person, as a request would name them."""
        return Subject(
            linkedin_url=self.linkedin_url,
            full_name=self.full_name,
            company_domain=self.company_domain,
            company_name=self.company_name,
        )


SavedRow: TypeAlias = SavedProfile | Row[Any]

_TABLE = SavedProfile.__table__
_BY_URL = select(_TABLE).where(
    _TABLE.c.workspace_id == bindparam("workspace_id"),
    _TABLE.c.linkedin_url.in_(bindparam("urls", expanding=True)),
)


def get(session: Session, workspace_id: str, profile_id: str) -> SavedProfile | None:
    """Give the workspace's saved profile with this id."""
    profile = session.get(SavedProfile, profile_id)
    return profile if profile is not None and profile.workspace_id == workspace_id else None


def by_url(session: Session, workspace_id: str, urls: Collection[str]) -> dict[str, SavedRow]:
    """Give the workspace's saved profiles among these profile URLs, as rows: many lookups find none."""
    if not urls:
        return {}
    rows = session.execute(_BY_URL, {"workspace_id": workspace_id, "urls": sorted(set(urls))})
    return {row.linkedin_url: row for row in rows}


def summary(profile: SavedRow) -> dict[str, Any]:
    """Write what a lookup says about a saved profile (contract 2.6)."""
    return {
        "id": profile.id,
        "list": profile.list_name,
        "tags": profile.tags,
        "note": profile.note,
        "updated_at": rfc3339(profile.updated_at),
    }


def saved_object(profile: SavedProfile) -> dict[str, Any]:
    """Write a saved profile in full (contract 2.9)."""
    return {
        "id": profile.id,
        "linkedin_url": profile.linkedin_url,
        "full_name": profile.full_name,
        "headline": profile.headline,
        "title": profile.title,
        "location": profile.location,
        "company": {
            "name": profile.company_name,
            "domain": profile.company_domain,
            "linkedin_url": profile.company_linkedin_url,
        },
        "list": profile.list_name,
        "tags": profile.tags,
        "note": profile.note,
        "saved_by": profile.saved_by,
        "captured_at": max(profile.captured.values(), default=None),
        "created_at": rfc3339(profile.created_at),
        "updated_at": rfc3339(profile.updated_at),
    }
