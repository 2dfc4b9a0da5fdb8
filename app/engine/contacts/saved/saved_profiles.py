"""People saved by the accounts of a workspace, visible to that workspace only."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    String,
    UniqueConstraint,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, validates

from app.domain.normal.companies.employers import employer_name
from app.domain.normal.names.name_keys import name_key
from app.domain.records.subjects import Subject
from app.engine.accounts.workspaces import foreign_key
from app.engine.contacts.name_words import words_sql
from app.infra.clock import rfc3339
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedText
from app.infra.database.session import Session
from app.infra.database.statements import columns_of


class SavedProfile(Base):
    """A person saved by a workspace: by profile, or by contact if that had none.

    `captured` is the time at which each field was read (RFC 3339). `list_name` is called `list` in the API:
    the list that the last save of the profile named. The person may be on others too (`contact_lists`).
    `saved_by` is the account that saved the person first. `name_key` is the normalised name, by which a
    search finds it.
    """

    __tablename__ = "saved_profiles"
    __table_args__ = (
        UniqueConstraint("workspace_id", "linkedin_url"),
        UniqueConstraint("workspace_id", "contact_id"),
        CheckConstraint("(linkedin_url IS NULL) <> (contact_id IS NULL)", name="profile_or_contact"),
        Index("ix_saved_profiles_workspace_id_created_at", "workspace_id", "created_at", "id"),
        Index("ix_saved_profiles_name_words", text(f"({words_sql()})"), postgresql_using="gin").ddl_if(
            "postgresql"
        ),
        Index("ix_saved_profiles_updated_at", "updated_at"),
        Index("ix_saved_profiles_linkedin_url", "linkedin_url"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    linkedin_url: Mapped[str | None]
    contact_id: Mapped[str | None] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), index=True
    )
    full_name: Mapped[str | None]
    name_key: Mapped[str | None]
    headline: Mapped[str | None]
    title: Mapped[str | None]
    location: Mapped[str | None]
    company_name: Mapped[str | None]
    company_domain: Mapped[str | None]
    company_linkedin_url: Mapped[str | None]
    list_name: Mapped[str | None]
    tags: Mapped[list[Any]]
    note: Mapped[str | None] = mapped_column(EncryptedText("saved_profiles.note"))
    saved_by: Mapped[str | None]
    captured: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    @validates("full_name")
    def _set_name_key(self, _column: str, full_name: str | None) -> str | None:
        self.name_key = None if full_name is None else name_key(full_name)
        return full_name

    @property
    def subject(self) -> Subject:
        """The person as the subject of a request."""
        return Subject(
            contact_id=self.contact_id,
            linkedin_url=self.linkedin_url,
            full_name=self.full_name,
            company_domain=self.company_domain,
            company_name=employer_name(self.company_name, self.company_domain),
        )


class SavedSummary(NamedTuple):
    """The columns of a saved profile in a lookup."""

    id: str
    linkedin_url: str
    list_name: str | None
    tags: list[str]
    note: str | None
    updated_at: datetime


def summaries_by_url(url: ColumnElement[str], workspace_id: ColumnElement[str]) -> Select[Any]:
    """Return the query for the saved profiles of workspaces, given with the URLs by columns of a table."""
    columns = SavedProfile.__table__.c
    return select(*columns_of(SavedProfile, SavedSummary._fields)).where(
        columns.workspace_id == workspace_id, columns.linkedin_url == url
    )


def get(session: Session, workspace_id: str, profile_id: str) -> SavedProfile | None:
    """Return the workspace's saved profile with this id, or None."""
    profile = session.get(SavedProfile, profile_id)
    return profile if profile is not None and profile.workspace_id == workspace_id else None


def summary(profile: SavedSummary) -> dict[str, Any]:
    """Return the summary of a saved profile in a lookup."""
    return {
        "id": profile.id,
        "list": profile.list_name,
        "tags": profile.tags,
        "note": profile.note,
        "updated_at": rfc3339(profile.updated_at),
    }


def saved_object(profile: SavedProfile) -> dict[str, Any]:
    """Return the full saved profile."""
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
