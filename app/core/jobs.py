"""Jobs: a question asked once, paid at most once, answered once; the row is the truth."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.workspaces import foreign_key
from app.infra.db import Base

_LIVE = text("status IN ('queued', 'running')")


class Job(Base):
    """One question of one workspace.

    `question` is the 32-byte digest of kind, subject and options: one open job may ask it at a time.
    `held` are the credits set aside for it, `charged` those spent so far. `attempts` counts claims that
    ended in a provider's error, `crashes` those that ended with a lost worker. A running job belongs to
    the holder of `lease_token` until `lease_until`.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(
            "uq_jobs_open_question",
            "workspace_id",
            "question",
            unique=True,
            sqlite_where=_LIVE,
            postgresql_where=_LIVE,
        ),
        Index("ix_jobs_workspace_id_question", "workspace_id", "question", "created_at"),
        Index("ix_jobs_workspace_id_id", "workspace_id", "id"),
        Index("ix_jobs_live", "run_after", sqlite_where=_LIVE, postgresql_where=_LIVE),
        CheckConstraint("(status = 'running') = (lease_token IS NOT NULL)", name="running_has_a_lease"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    account_id: Mapped[str | None]
    kind: Mapped[str]
    question: Mapped[bytes]
    request: Mapped[dict[str, Any]]
    status: Mapped[str]
    outcome: Mapped[str | None]
    result: Mapped[dict[str, Any] | None]
    trace: Mapped[list[Any]]
    error: Mapped[dict[str, Any] | None]
    held: Mapped[int]
    charged: Mapped[int]
    already_owned: Mapped[bool]
    progress_done: Mapped[int]
    progress_total: Mapped[int]
    attempts: Mapped[int]
    crashes: Mapped[int]
    lease_token: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    run_after: Mapped[datetime]
    deadline_at: Mapped[datetime]
    published_at: Mapped[datetime | None]
    publishes: Mapped[int]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class JobItem(Base):
    """One item of an enrichment request; finished when it has an outcome or an error."""

    __tablename__ = "job_items"

    job_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    index: Mapped[int] = mapped_column(primary_key=True)
    request: Mapped[dict[str, Any]]
    outcome: Mapped[str | None]
    result: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    charged: Mapped[int]
