"""The tables of verified lists: the list, and its jobs of 100 values, which have the values and verdicts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.tables import Tables
from app.infra.database.db import Base


class VerificationList(Base):
    """A list whose values are verified: how many there are, and how many were duplicates or not readable."""

    __tablename__ = "verification_lists"
    __table_args__ = (Index("ix_verification_lists_workspace_id", "workspace_id", "id"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    account_id: Mapped[str | None]
    total: Mapped[int]
    duplicates: Mapped[int]
    unreadable: Mapped[int]
    created_at: Mapped[datetime]


class VerificationJob(Base):
    """A job of a list; `number` is its place in the list."""

    __tablename__ = "verification_jobs"

    list_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("verification_lists.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(String(28), ForeignKey("jobs.id", ondelete="CASCADE"), index=True)


TABLES = Tables(created=((VerificationList.__tablename__, "vrf"),))
