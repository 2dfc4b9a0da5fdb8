"""The table of queued imports."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.tables import Tables
from app.infra.database.db import Base

IS_OPEN = text("finished_at IS NULL")


class ImportStatus(StrEnum):
    """The status of a queued import; `arriving`: the file may still be written."""

    ARRIVING = "arriving"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    REJECTED = "rejected"


class QueuedImport(Base):
    """A list to import. `file` is its name in the import folder, `detail` why it was rejected.

    `result` has the counts so far. `rejects_bytes` is the length of the file of rejected rows.
    """

    __tablename__ = "queued_imports"
    __table_args__ = (
        Index("uq_queued_imports_file", "file", unique=True, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    file: Mapped[str]
    entity: Mapped[str]
    options: Mapped[dict[str, Any]]
    status: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    modified: Mapped[int] = mapped_column(BigInteger)
    rows_done: Mapped[int] = mapped_column(BigInteger)
    bytes_done: Mapped[int] = mapped_column(BigInteger)
    rejects_bytes: Mapped[int] = mapped_column(BigInteger)
    result: Mapped[dict[str, Any]]
    detail: Mapped[str | None]
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def share_done(self) -> float:
        """Return the share of the file that was read, from 0 to 1."""
        return 1.0 if self.finished_at is not None else min(1.0, self.bytes_done / max(self.size, 1))


TABLES = Tables()
