"""What the index of mentions covers: jobs, saved profiles, and rows of features.

The rows of a source are indexed in the order of their last change, once it is SETTLING ago. Rows that are
still being written are not indexed; `is_open` is their condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, Table, and_, false, literal, select, true, tuple_

from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.jobs.jobs import LIVE, RETAINED, Job, JobItem
from app.engine.mentions.mention_tables import JobMention, ProfileMention
from app.infra.database.db import Base
from app.infra.database.session import Session

SETTLING = timedelta(minutes=2)
"""The age of a change at which it is indexed: transactions that write such rows end much sooner."""
PROFILE_TEXTS = ("full_name", "headline", "title", "location", "company_name", "list_name", "note")

Key: TypeAlias = tuple[Any, ...]
"""The primary key of a row of a source."""
Place: TypeAlias = tuple[datetime, str, int]
"""The place of a row in the order of changes: its time, id and number."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of rows that may mention people, and the table of their mentions.

    `key` are the columns of the primary key, `mention_key` their names in the table of mentions, and
    `changed_at` is the time of the last change. `query` selects them with what `contents` turns into one JSON
    value for each row. `is_settled` is the condition for rows that are not being written.
    """

    name: str
    mentions: type[Base]
    mention_key: tuple[str, ...]
    query: Select[*tuple[Any, ...]]
    key: tuple[ColumnElement[Any], ...]
    changed_at: ColumnElement[datetime]
    is_settled: ColumnElement[bool]
    is_open: ColumnElement[bool]
    contents: Callable[[Session, Sequence[Any]], list[Any]]

    @property
    def order(self) -> tuple[ColumnElement[Any], ...]:
        """Return the columns of the order of changes."""
        return (self.changed_at, *self.key)

    def behind(self, place: Place) -> ColumnElement[bool]:
        """Return the condition for settled rows behind the place."""
        values = [literal(value, column.type) for value, column in zip(place, self.order, strict=False)]
        return self.is_settled & (self.changed_at >= values[0]) & (tuple_(*self.order) > tuple_(*values))

    def open_behind(self, key: Key) -> ColumnElement[bool]:
        """Return the condition for rows that are being written and have a greater key."""
        values = [literal(value, column.type) for value, column in zip(key, self.key, strict=True)]
        return self.is_open & (tuple_(*self.key) > tuple_(*values))

    def has_key(self, keys: Sequence[Key], table: Table | None = None) -> ColumnElement[bool]:
        """Return the condition for rows with these keys, or for their rows in the table of mentions."""
        columns = self.key if table is None else tuple(table.c[name] for name in self.mention_key)
        if len(columns) == 1:
            return columns[0].in_([key for (key,) in keys])
        return tuple_(*columns).in_(keys)

    def key_of(self, row: object) -> Key:
        """Return the primary key of a row."""
        return tuple(getattr(row, column.name) for column in self.key)

    def place_of(self, row: object) -> Place:
        """Return the place of a row."""
        first, number = (*self.key_of(row), 0)[:2]
        return getattr(row, self.changed_at.name), first, number


def _of_jobs(session: Session, rows: Sequence[Any]) -> list[Any]:
    items: defaultdict[str, list[Any]] = defaultdict(list)
    parts = select(JobItem.job_id, JobItem.request, JobItem.result, JobItem.error)
    for item in session.execute(parts.where(JobItem.job_id.in_([row.id for row in rows]))):
        items[item.job_id].append([item.request, item.result, item.error])
    return [[row.request, row.result, row.error, row.trace, items[row.id]] for row in rows]


def _of_profiles(_session: Session, rows: Sequence[Any]) -> list[Any]:
    return [
        [
            row.SavedProfile.subject.as_dict(),
            [getattr(row.SavedProfile, name) for name in PROFILE_TEXTS],
            row.SavedProfile.tags,
        ]
        for row in rows
    ]


_JOBS, _PROFILES = Job.__table__.c, SavedProfile.__table__.c

JOBS = Source(
    name="jobs",
    mentions=JobMention,
    mention_key=("job_id",),
    query=select(Job.id, Job.kind, Job.finished_at, Job.request, Job.result, Job.error, Job.trace),
    key=(_JOBS.id,),
    changed_at=_JOBS.finished_at,
    is_settled=and_(RETAINED),
    is_open=and_(LIVE),
    contents=_of_jobs,
)
PROFILES = Source(
    name="saved_profiles",
    mentions=ProfileMention,
    mention_key=("profile_id",),
    query=select(SavedProfile, SavedProfile.id, SavedProfile.updated_at),
    key=(_PROFILES.id,),
    changed_at=_PROFILES.updated_at,
    is_settled=true(),
    is_open=false(),
    contents=_of_profiles,
)
SOURCES = (JOBS, PROFILES)
"""The sources of the engine; features have others (see `Holdings`)."""
