"""Companies the deployment knows of, shared by all workspaces."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.db import Base


class Company(Base):
    """A company; `domain` and `linkedin_url` are normal forms, the hashes their 32-byte SHA-256.

    `provenance` says for each field where its value came from: `{field: {"source": …, "at": RFC 3339}}`.
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
