"""Imports that workers run: lists from the import folder, one after the other, in turns that can be killed.

Each batch stores the rows that are done in the transaction that writes them. So an import that is killed goes
on with the next batch, and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, Index, String, delete, func, select, text, update
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.dml import ReturningUpdate

from app.domain.ids import new_id
from app.domain.kinds import RUN_IMPORT
from app.domain.lists.headers.column_mapping import Entity
from app.engine.work import items, specs, turns
from app.engine.work.items import NewItem
from app.engine.work.specs import TURNS_FAILED, WorkSpec
from app.engine.work.turns import Turn
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session
from app.infra.import_folder import FoundFile

IMPORTING = specs.register(
    WorkSpec(
        task=RUN_IMPORT,
        label="import",
        lease=timedelta(seconds=60),
        republish_after=timedelta(seconds=10),
        max_attempts=5,
        retry_after=timedelta(seconds=60),
        per_key=1,
    )
)
"""One import at a time has a turn, the oldest first. Every batch renews the lease."""
SETTLE = timedelta(seconds=5)
"""How long a file in the folder must stay as it is before it is imported."""
_OPEN = text("finished_at IS NULL")


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

    `result` has the counts so far. `rejects_bytes` is the length of the file of rejected rows.
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
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def share_done(self) -> float:
        """Return the share of the file that was read, from 0 to 1."""
        return 1.0 if self.finished_at is not None else min(1.0, self.bytes_done / max(self.size, 1))


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
    settled = settled.values(status=ImportStatus.WAITING.value).returning(QueuedImport.id)
    ids = session.scalars(_silent(settled)).all()
    items.add(session, IMPORTING, *(NewItem(import_id, None, now) for import_id in ids))


def needs_discovery(session: Session, files: Sequence[FoundFile]) -> bool:
    """Return whether the folder has files that are new or still arriving, or lost one of them."""
    rows = _open(session)
    is_arriving = any(row.status == ImportStatus.ARRIVING for row in rows)
    return is_arriving or not {file.name for file in files} <= {row.file for row in rows}


def start(session: Session, turn: Turn, *, now: Moment) -> QueuedImport | None:
    """Mark the import of a turn as running and return it; None, which ends the turn, if it was deleted."""
    values = {
        "status": ImportStatus.RUNNING.value,
        "started_at": func.coalesce(QueuedImport.started_at, now),
    }
    _update(session, turn, **values)
    queued = session.get(QueuedImport, turn.id, populate_existing=True)
    if queued is None:
        turns.end(session, turn)
    return queued


def store_progress(session: Session, turn: Turn, progress: Progress, *, now: Moment) -> None:
    """Store what a batch did, in its transaction, and renew the lease.

    Raises:
        LeaseLost: another worker has the turn.

    """
    _update(session, turn, **asdict(progress))
    turns.renew(session, turn, now=now, progressed=True)


def finish(session: Session, turn: Turn, detail: str | None, *, now: Moment) -> None:
    """End the import; `detail` says why it was rejected, None if it was not.

    Raises:
        LeaseLost: another worker has the turn.

    """
    status = ImportStatus.FINISHED if detail is None else ImportStatus.REJECTED
    _update(session, turn, status=status.value, detail=detail, finished_at=now)
    if turn.is_exhausted and detail is not None:
        turns.fail(session, turn, TURNS_FAILED, now=now)
    else:
        turns.end(session, turn)


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
        created_at=now,
        seen_at=now,
    )
    session.add(row)
    session.flush()
    if status is ImportStatus.WAITING:
        items.add(session, IMPORTING, NewItem(row.id, None, now))
    return row.id


def _update(session: Session, turn: Turn, **values: Any) -> None:
    changed = update(QueuedImport).where(QueuedImport.id == turn.id, _OPEN).values(values)
    session.execute(changed.execution_options(synchronize_session=False))


def _silent(statement: ReturningUpdate[str]) -> ReturningUpdate[str]:
    return statement.execution_options(synchronize_session=False)
