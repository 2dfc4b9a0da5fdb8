"""E-mail addresses of contacts: what is known of each, and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.db import Base


class Email(Base):
    """One address of one contact, in normal form.

    `type` is work or personal; `status` one of contract 2.7; `form` the pattern it follows, such as
    `{first}.{last}`, where it follows one; `sources` a list of
    `{"provider", "kind", "first_seen_at", "last_seen_at"}`. `last_seen_at` is what freshness counts from.
    """

    __tablename__ = "emails"
    __table_args__ = (
        UniqueConstraint("contact_id", "email"),
        Index("ix_emails_email", "email"),
        Index("ix_emails_domain_form", "domain", "form"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    contact_id: Mapped[str] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    email: Mapped[str]
    domain: Mapped[str]
    type: Mapped[str]
    status: Mapped[str]
    status_reasons: Mapped[list[Any]]
    confidence: Mapped[float | None]
    form: Mapped[str | None]
    verified_at: Mapped[datetime | None]
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    sources: Mapped[list[Any]]
