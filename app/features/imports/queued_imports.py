"""Imports that workers run: lists from the import folder, one after the other, in turns that can be killed.

Each batch stores the rows that are done in the transaction that writes them. So an import that is killed goes
on with the next batch, and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from app.domain.ids import new_id
from app.domain.kinds import RUN_IMPORT
from app.domain.lists.headers.column_mapping import Entity
from app.engine.work import items, specs, turns
from app.engine.work.items import NewItem
from app.engine.work.specs import TURNS_FAILED, WorkSpec
from app.engine.work.turns import Turn
from app.features.imports.import_folder import FoundFile
from app.features.imports.tables import IS_OPEN, ImportStatus, QueuedImport
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

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


def _open(session: Session) -> Sequence[QueuedImport]:
    return session.scalars(select(QueuedImport).where(IS_OPEN)).all()


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
    changed = update(QueuedImport).where(QueuedImport.id == turn.id, IS_OPEN).values(values)
    session.execute(changed.execution_options(synchronize_session=False))


def _silent(statement: ReturningUpdate[str]) -> ReturningUpdate[str]:
    return statement.execution_options(synchronize_session=False)
