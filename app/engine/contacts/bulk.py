"""The lock for entity resolution, and bulk statements in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, Select, bindparam, update

from app.domain.ids import Prefix, make_ids
from app.infra.database import advisory_locks
from app.infra.database.advisory_locks import AdvisoryLock
from app.infra.database.bulk_statements import are_among, is_among
from app.infra.database.db import Base
from app.infra.database.session import Session

BATCH_SIZE = 2_000

Item = TypeVar("Item")


def lock_resolution(session: Session) -> None:
    """Acquire the lock for entity resolution until the transaction ends."""
    advisory_locks.acquire(session, AdvisoryLock.RESOLUTION)


def batched(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    """Split the items into batches that fit into one IN clause."""
    all_items = list(items)
    for start in range(0, len(all_items), BATCH_SIZE):
        yield all_items[start : start + BATCH_SIZE]


def new_ids(prefix: Prefix, count: int) -> Iterator[str]:
    """Return ids in ascending order, also within one millisecond."""
    return iter(sorted(make_ids(prefix, count)))


def rows_in(
    session: Session,
    query: Select[*tuple[Any, ...]],
    column: ColumnElement[Any],
    values: Iterable[str | None],
) -> Iterator[Row[*tuple[Any, ...]]]:
    """Run the query for rows whose text column has one of the values, in batches; None is ignored."""
    for part in batched({value for value in values if value is not None}):
        yield from session.execute(query.where(is_among(session, column, part))).all()


def rows_in_pairs(
    session: Session,
    query: Select[*tuple[Any, ...]],
    columns: tuple[ColumnElement[Any], ColumnElement[Any]],
    pairs: Iterable[tuple[str, str]],
) -> Iterator[Row[*tuple[Any, ...]]]:
    """Run the query for rows whose two text columns have one of the pairs of values, in batches."""
    for part in batched(sorted(set(pairs))):
        yield from session.execute(query.where(are_among(session, columns, part))).all()


def as_dict(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    """Convert a row of a table to a mutable dict."""
    return dict(zip(row._fields, row, strict=True))


def update_all(
    session: Session, table: type[Base], rows: Sequence[dict[str, Any]], columns: Sequence[str]
) -> None:
    """Update these columns of existing rows by id with one statement, bypassing the ORM."""
    if rows:
        target = table.__table__
        statement = update(target).where(target.c.id == bindparam("_id"))  # type: ignore[arg-type]
        values = [{"_id": row["id"]} | {name: row[name] for name in columns} for row in rows]
        session.execute(statement.values({name: bindparam(name) for name in columns}), values)
