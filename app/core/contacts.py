"""Contacts the deployment knows of, shared by all workspaces; e-mails and phones hidden until revealed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.db import Base


class Contact(Base):
    """A person. `name_key` and `last_key` are the comparable forms of the whole and the last name.

    `provenance` says for each field where its value came from: `{field: {"source": …, "at": RFC 3339}}`.
    """

    __tablename__ = "contacts"
    __table_args__ = (
        Index("ix_contacts_company_id_last_key", "company_id", "last_key"),
        Index("ix_contacts_name_key", "name_key"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    full_name: Mapped[str | None]
    first_name: Mapped[str | None]
    last_name: Mapped[str | None]
    name_key: Mapped[str | None]
    last_key: Mapped[str | None]
    title: Mapped[str | None]
    seniority: Mapped[str | None]
    department: Mapped[str | None]
    linkedin_url: Mapped[str | None] = mapped_column(unique=True)
    city: Mapped[str | None]
    country: Mapped[str | None]
    company_id: Mapped[str | None] = mapped_column(ForeignKey("companies.id", ondelete="SET NULL"))
    provenance: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
