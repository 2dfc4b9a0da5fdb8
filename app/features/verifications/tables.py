"""The tables of verified lists: the list, its jobs of 100 values, and the place and status of each value."""

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
    __table_args__ = (
        Index("ix_verification_lists_workspace_id", "workspace_id", "id"),
        Index("ix_verification_lists_created_at", "created_at"),
    )

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


class VerificationValue(Base):
    """The place of a value in a list and in its job, and its status as soon as there is a verdict.

    The item of the job has the value. `line` is its first line in the file. `domain` is the keyed digest of
    the domain of an address: where one of the list turns out to accept all mail, no other one is valid.
    """

    __tablename__ = "verification_values"
    __table_args__ = (Index("ix_verification_values_job_id", "job_id", "item"),)

    list_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("verification_lists.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    line: Mapped[int]
    job_id: Mapped[str] = mapped_column(String(28), ForeignKey("jobs.id", ondelete="CASCADE"))
    item: Mapped[int]
    domain: Mapped[bytes | None]
    status: Mapped[str | None]


TABLES = Tables(created=((VerificationList.__tablename__, "vrf"),))
