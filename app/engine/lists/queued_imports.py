"""Imports that workers run: lists from the import folder, one after the other, in turns that can be killed.

Each batch stores the rows that are done in the transaction that writes them. So an import that is killed goes
on with the next batch, and counts nothing twice. `lease` keeps a worker out that lost its turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Index, String, delete, func, select, text, update
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.dml import ReturningUpdate

from app.domain.ids import new_id
from app.domain.lists.headers.column_mapping import Entity
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session
from app.infra.import_folder import FoundFile

LEASE = timedelta(seconds=60)
"""Time after which another worker continues; every batch renews it."""
REPUBLISH_AFTER = timedelta(seconds=10)
SETTLE = timedelta(seconds=5)
"""How long a file in the folder must stay as it is before it is imported."""
MAX_ATTEMPTS = 5
"""Turns without progress after which an import has failed: the next one would stop at the same place."""
_OPEN = text("finished_at IS NULL")


class ImportLeaseLostError(Exception):
    """Another worker continues the import; what this one was writing is rolled back."""


class ImportStatus(StrEnum):
    """The status of a queued import; `arriving`: the file may still be written."""

    ARRIVING = "arriving"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    REJECTED = "rejected"


OPEN_STATUSES = (ImportStatus.ARRIVING, ImportStatus.WAITING, ImportStatus.RUNNING)


class QueuedImport(Base):
    """A list to import. `file` is its name in the import folder, `detail` why it was rejected.

    `result` has the counts so far. `rejects_bytes` is the length of the file of rejected rows. `next_at` is
    when a worker continues, null if none has to. `attempts` counts the turns since the last progress.
    """

    __tablename__ = "queued_imports"
    __table_args__ = (
        Index("uq_queued_imports_file", "file", unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN),
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
    lease: Mapped[int]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    next_at: Mapped[datetime | None]
    published_at: Mapped[datetime | None]

    @property
    def share_done(self) -> float:
        """Return the share of the file that was read, from 0 to 1."""
        return 1.0 if self.finished_at is not None else min(1.0, self.bytes_done / max(self.size, 1))

    @property
    def is_exhausted(self) -> bool:
        """Return whether the turns before this one used up the attempts."""
        return self.attempts > MAX_ATTEMPTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a batch adds to the state of its import."""

    rows_done: int
    bytes_done: int
    rejects_bytes: int
    result: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedOptions:
    """The options of an import that a command queued; see `ImportOptions` and `TableOptions`."""

    source: str
    at: str | None = None
    region: str | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    delimiter: str | None = None
    has_header: bool | None = None
    dates: str | None = None


def add(session: Session, file: FoundFile, entity: Entity, options: QueuedOptions, *, now: Moment) -> str:
    """Insert an import of a complete file that waits for its turn; return its id."""
    return _insert(session, file, entity, options, ImportStatus.WAITING, now=now)


def discover(session: Session, files: Sequence[FoundFile], *, now: Moment) -> None:
    """Insert the files that are new in the folder; those that stopped changing wait for their turn."""
    known = {row.file: row for row in _open(session)}
    for file in files:
        row = known.get(file.name)
        if row is None:
            options = QueuedOptions(source=file.name)
            _insert(session, file, Entity.CONTACTS, options, ImportStatus.ARRIVING, now=now)
        elif row.status == ImportStatus.ARRIVING and (row.size, row.modified) != (file.size, file.modified):
            row.size, row.modified, row.seen_at = file.size, file.modified, now
    session.flush()
    names = [file.name for file in files]
    arriving = QueuedImport.status == ImportStatus.ARRIVING.value
    session.execute(delete(QueuedImport).where(arriving, QueuedImport.file.not_in(names)))
    settled = update(QueuedImport).where(arriving, QueuedImport.seen_at <= now - SETTLE)
    session.execute(settled.values(status=ImportStatus.WAITING.value, next_at=now))


def needs_discovery(session: Session, files: Sequence[FoundFile]) -> bool:
    """Return whether the folder has files that are new or still arriving, or lost one of them."""
    rows = _open(session)
    is_arriving = any(row.status == ImportStatus.ARRIVING for row in rows)
    return is_arriving or not {file.name for file in files} <= {row.file for row in rows}


def claim_due(session: Session, *, now: Moment) -> str | None:
    """Mark the import whose turn it is as published and return its id; None if it is not due."""
    first = (
        select(QueuedImport.id)
        .where(_OPEN, QueuedImport.status != ImportStatus.ARRIVING.value)
        .order_by(QueuedImport.id)
        .limit(1)
    )
    unsent = QueuedImport.published_at.is_(None) | (QueuedImport.published_at <= now - REPUBLISH_AFTER)
    due = update(QueuedImport).where(
        QueuedImport.id == first.scalar_subquery(), QueuedImport.next_at <= now, unsent
    )
    claimed: str | None = session.scalar(_silent(due.values(published_at=now).returning(QueuedImport.id)))
    return claimed


def begin(session: Session, import_id: str, *, now: Moment) -> QueuedImport | None:
    """Take the lease of a due import and return it; None if it is not due, as after a late message."""
    taken = update(QueuedImport).where(QueuedImport.id == import_id, QueuedImport.next_at <= now, _OPEN)
    values = {
        "status": ImportStatus.RUNNING.value,
        "lease": QueuedImport.lease + 1,
        "attempts": QueuedImport.attempts + 1,
        "next_at": now + LEASE,
        "published_at": None,
        "started_at": func.coalesce(QueuedImport.started_at, now),
    }
    found = session.scalar(_silent(taken.values(values).returning(QueuedImport.id)))
    return None if found is None else session.get(QueuedImport, found, populate_existing=True)


def store_progress(session: Session, turn: QueuedImport, progress: Progress, *, now: Moment) -> None:
    """Store what a batch did, in its transaction, and renew the lease.

    Raises:
        ImportLeaseLostError: another worker has the lease.

    """
    _update(session, turn, next_at=now + LEASE, attempts=0, **asdict(progress))


def pause(session: Session, turn: QueuedImport, *, now: Moment) -> None:
    """End the turn; the import continues with the next one.

    Raises:
        ImportLeaseLostError: another worker has the lease.

    """
    _update(session, turn, next_at=now, published_at=None)


def finish(session: Session, turn: QueuedImport, detail: str | None, *, now: Moment) -> None:
    """End the import; `detail` says why it was rejected, None if it was not.

    Raises:
        ImportLeaseLostError: another worker has the lease.

    """
    status = ImportStatus.FINISHED if detail is None else ImportStatus.REJECTED
    _update(session, turn, status=status.value, detail=detail, finished_at=now, next_at=None)


def latest(session: Session, *, limit: int) -> Sequence[QueuedImport]:
    """Return the latest imports, newest first."""
    return session.scalars(select(QueuedImport).order_by(QueuedImport.id.desc()).limit(limit)).all()


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete imports that ended before this time; their files stay in the folder."""
    session.execute(delete(QueuedImport).where(QueuedImport.finished_at < before))


@dataclass(frozen=True, slots=True)
class Backlog:
    """The open imports: their number by status, and the bytes of their files that are still to be read."""

    counts: dict[str, int]
    bytes_left: int


def backlog(session: Session) -> Backlog:
    """Return the open imports and what they still have to read."""
    left = func.sum(QueuedImport.size - QueuedImport.bytes_done)
    query = select(QueuedImport.status, func.count(), left).where(_OPEN).group_by(QueuedImport.status)
    rows = session.execute(query).all()
    return Backlog({row[0]: row[1] for row in rows}, sum(int(row[2]) for row in rows))


def _open(session: Session) -> Sequence[QueuedImport]:
    return session.scalars(select(QueuedImport).where(_OPEN)).all()


def _insert(
    session: Session,
    file: FoundFile,
    entity: Entity,
    options: QueuedOptions,
    status: ImportStatus,
    *,
    now: Moment,
) -> str:
    row = QueuedImport(
        id=new_id("imp"),
        file=file.name,
        entity=entity.value,
        options=asdict(options),
        status=status.value,
        size=file.size,
        modified=file.modified,
        rows_done=0,
        bytes_done=0,
        rejects_bytes=0,
        result={},
        lease=0,
        created_at=now,
        seen_at=now,
        next_at=None if status is ImportStatus.ARRIVING else now,
    )
    session.add(row)
    session.flush()
    return row.id


def _update(session: Session, turn: QueuedImport, **values: Any) -> None:
    is_mine: tuple[ColumnElement[bool], ...] = (
        QueuedImport.id == turn.id,
        QueuedImport.lease == turn.lease,
    )
    changed = update(QueuedImport).where(*is_mine, _OPEN).values(values).returning(QueuedImport.id)
    if session.scalar(_silent(changed)) is None:
        raise ImportLeaseLostError


def _silent(statement: ReturningUpdate[str]) -> ReturningUpdate[str]:
    return statement.execution_options(synchronize_session=False)
