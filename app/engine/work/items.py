"""Items of work: a row says that a task has to be done for something, and when.

The row is written in the transaction that makes the work necessary. So nothing is done for what was rolled
back, and nothing is forgotten: `claim_due` marks the rows whose message is to be published, again if it
is lost. Work may thus be done twice. What must not happen twice is stored in the transaction that checks
the turn (`turns.renew`, `turns.end`), which a worker that is late cannot commit.

Lock the row that the work is about first, then its item; everything else would be a deadlock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Index, String, delete, func, or_, select, text, update
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql import ColumnElement

from app.engine.accounts.workspaces import foreign_key
from app.engine.work.specs import SPECS, WorkSpec
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert_into
from app.infra.database.session import Session
from app.infra.database.statements import Statement

SHOWN_FOR = timedelta(hours=1)
"""How long failed work is counted, and kept."""
BATCH = 50
_DUE = text("due_at IS NOT NULL")


class WorkItem(Base):
    """Work that is due at `due_at`, about the row with the same `id`; null if it has failed or waits.

    `republish_at` is when the message that was published counts as lost. A worker has a turn until
    `lease_until`, and writes only while `lease_token` is its own. `attempts` counts the turns since the last
    progress. `fairness_key` is mostly the workspace. `error` is the code of the reason of a failure.
    """

    __tablename__ = "work_items"
    __table_args__ = (
        Index("ix_work_items_due_at", "due_at", sqlite_where=_DUE, postgresql_where=_DUE),
        Index("ix_work_items_fairness_key", "task", "fairness_key"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    task: Mapped[str]
    workspace_id: Mapped[str | None] = mapped_column(foreign_key(), index=True)
    fairness_key: Mapped[str]
    due_at: Mapped[datetime | None]
    republish_at: Mapped[datetime | None]
    lease_token: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int]
    failed_at: Mapped[datetime | None]
    error: Mapped[str | None]


class NewItem(NamedTuple):
    """Work to add; `fairness_key` is the workspace if it is None."""

    id: str
    workspace_id: str | None
    due_at: Moment | None
    fairness_key: str | None = None


class _TaskRow(NamedTuple):
    task: str


def add(session: Session, spec: WorkSpec, *items: NewItem) -> None:
    """Add work, or schedule it anew: it starts over, and the turn of a worker at it is over."""
    table = WorkItem.__table__
    for start in range(0, len(items), BATCH):
        insertion = insert_into(session.get_bind().dialect.name, WorkItem).values(
            [_values(spec, item) for item in items[start : start + BATCH]]
        )
        changed = {column.name: insertion.excluded[column.name] for column in table.c if column.name != "id"}
        session.execute(insertion.on_conflict_do_update(index_elements=["id"], set_=changed))


def _values(spec: WorkSpec, item: NewItem) -> dict[str, Any]:
    unset = dict.fromkeys(("republish_at", "lease_token", "lease_until", "failed_at", "error"))
    return {
        "id": item.id,
        "task": spec.task,
        "workspace_id": item.workspace_id,
        "fairness_key": item.fairness_key or item.workspace_id or spec.task,
        "due_at": item.due_at,
        "attempts": 0,
        **unset,
    }


def wake(session: Session, spec: WorkSpec, item: NewItem) -> None:
    """Make work due at this time, unless it is due earlier or has failed; add it if there is none.

    A turn that is under way goes on.
    """
    insertion = insert_into(session.get_bind().dialect.name, WorkItem).values(_values(spec, item))
    due_at = insertion.excluded.due_at
    is_earlier = or_(WorkItem.due_at.is_(None), WorkItem.due_at > due_at)
    session.execute(
        insertion.on_conflict_do_update(
            index_elements=["id"], set_={"due_at": due_at}, where=WorkItem.failed_at.is_(None) & is_earlier
        )
    )


def revoke(session: Session, work_id: str) -> None:
    """End the turn of a worker; the work remains due."""
    ended = update(WorkItem).where(WorkItem.id == work_id).values(lease_token=None, lease_until=None)
    session.execute(ended.execution_options(synchronize_session=False))


def remove(session: Session, ids: Collection[str]) -> None:
    """Delete the work about rows that are deleted."""
    session.execute(delete(WorkItem).where(WorkItem.id.in_(ids)))


def due_tasks(session: Session, *, now: Moment) -> list[str]:
    """Return the tasks that are due for any item; a cheap read."""
    return [row.task for row in _due_tasks(now).all(session, {})]


@lru_cache(maxsize=8)
def _due_tasks(now: Moment) -> Statement[_TaskRow]:
    return Statement(_TaskRow, lambda _dialect: select(WorkItem.task).where(_due(now)).distinct())


def claim_due(session: Session, spec: WorkSpec, *, now: Moment) -> list[str]:
    """Mark due items as published and return their ids, at most `spec.per_key` of a fairness key."""
    taken = _taken(session, spec, now=now)
    claimed: list[str] = []
    while len(claimed) < BATCH:
        full = [key for key, count in taken.items() if spec.per_key and count >= spec.per_key]
        query = select(WorkItem).where(
            WorkItem.task == spec.task, _due(now), WorkItem.fairness_key.not_in(full)
        )
        query = query.order_by(WorkItem.due_at, WorkItem.id).limit(BATCH - len(claimed))
        due = session.scalars(query.with_for_update(skip_locked=True)).all()
        if not due:
            break
        for item in due:
            if not spec.per_key or taken[item.fairness_key] < spec.per_key:
                taken[item.fairness_key] += 1
                item.republish_at = now + spec.republish_after
                claimed.append(item.id)
        session.flush()
    return claimed


def _taken(session: Session, spec: WorkSpec, *, now: Moment) -> Counter[str]:
    """Return how many items of each fairness key are in the queue or with a worker."""
    query = (
        select(WorkItem.fairness_key, func.count())
        .where(WorkItem.task == spec.task, or_(WorkItem.republish_at > now, WorkItem.lease_until > now))
        .group_by(WorkItem.fairness_key)
    )
    return Counter({row[0]: row[1] for row in session.execute(query)})


def failed_counts(session: Session, *, now: datetime) -> dict[str, int]:
    """Return how much work of each kind has failed lately, by label."""
    lasting = [spec.task for spec in SPECS.values() if spec.failure_lasts]
    counted = or_(WorkItem.failed_at > now - SHOWN_FOR, WorkItem.task.in_(lasting))
    query = select(WorkItem.task, func.count()).where(WorkItem.failed_at.is_not(None), counted)
    counts = {row[0]: row[1] for row in session.execute(query.group_by(WorkItem.task))}
    return {spec.label: counts.get(task, 0) for task, spec in SPECS.items() if spec.label}


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete work that failed more than `SHOWN_FOR` ago, except of kinds whose failure lasts."""
    lasting = [spec.task for spec in SPECS.values() if spec.failure_lasts]
    old = WorkItem.failed_at <= now - SHOWN_FOR
    session.execute(delete(WorkItem).where(old, WorkItem.task.not_in(lasting)))


def _due(now: Moment) -> ColumnElement[bool]:
    unsent = or_(WorkItem.republish_at.is_(None), WorkItem.republish_at <= now)
    return (WorkItem.due_at <= now) & unsent & is_free(now)


def is_free(now: Moment) -> ColumnElement[bool]:
    """Return the condition for items with which no worker has a turn."""
    return or_(WorkItem.lease_until.is_(None), WorkItem.lease_until <= now)
