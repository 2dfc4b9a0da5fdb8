"""Phone numbers of contacts: what is known of each, and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.db import Base


class Phone(Base):
    """One number of one contact, in E.164; `type` is mobile, direct, work, hq or other."""

    __tablename__ = "phones"
    __table_args__ = (UniqueConstraint("contact_id", "e164"), Index("ix_phones_e164", "e164"))

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    contact_id: Mapped[str] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    e164: Mapped[str]
    national: Mapped[str]
    extension: Mapped[str | None]
    country: Mapped[str | None]
    type: Mapped[str]
    line_type: Mapped[str]
    status: Mapped[str]
    confidence: Mapped[float | None]
    do_not_call: Mapped[bool | None]
    verified_at: Mapped[datetime | None]
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    sources: Mapped[list[Any]]
