"""The clock of the database, used for every time that two processes compare.

One process writes a deadline or a lease and another compares it. Their clocks may differ by a fraction of a
second or by hours, or may jump. Therefore the database takes the time inside the statement that writes or
compares it: `now()` is an SQL expression. Where Python must compare, `value(session)` reads it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Dialect, Interval, String, func, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.infra import clock
from app.infra.database.db import UtcDateTime
from app.infra.database.session import Session

Moment: TypeAlias = datetime | ColumnElement[datetime]
"""A time: a value, or the SQL expression of the database's time."""


class _Shift(TypeDecorator[timedelta]):
    """A timedelta as an SQL parameter: an interval, or a modifier of SQLite's strftime."""

    impl = Interval
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type passed to the driver."""
        return dialect.type_descriptor(String() if dialect.name == "sqlite" else Interval())

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> timedelta | str | None:
        """Return the value passed to the driver."""
        if value is None or dialect.name != "sqlite":
            return value
        return f"{value.total_seconds():+.3f} seconds"


_UTC, _SHIFT = UtcDateTime(), _Shift()  # shared: SQLAlchemy prepares each type object anew


class DatabaseNow(FunctionElement[datetime]):
    """The time of the database, constant within a statement, shifted by a timedelta."""

    type = _UTC
    inherit_cache = True

    def __init__(self, by: timedelta = timedelta(0)) -> None:
        self.by = by
        super().__init__(*([literal(by, _SHIFT)] if by else []))

    def __add__(self, by: timedelta) -> DatabaseNow:
        return DatabaseNow(self.by + by)

    def __sub__(self, by: timedelta) -> DatabaseNow:
        return DatabaseNow(self.by - by)


@compiles(DatabaseNow)
def _on_postgresql(now: DatabaseNow, compiler: SQLCompiler, **options: Any) -> str:
    """Return the SQL for PostgreSQL; clock_timestamp() is volatile, so comparisons could not use an index."""
    shift = compiler.process(now.clauses, **options)
    return f"(statement_timestamp() + {shift})" if shift else "statement_timestamp()"


@compiles(DatabaseNow, "sqlite")
def _on_sqlite(now: DatabaseNow, compiler: SQLCompiler, **options: Any) -> str:
    """Return the SQL for SQLite in the format of `UtcDateTime`, with six digits; SQLite's clock has three."""
    shift = compiler.process(now.clauses, **options)
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now'{', ' if shift else ''}{shift}) || '000')"


_NOW = DatabaseNow()


def now() -> Moment:
    """Return the SQL expression of the database's time; a timedelta can be added or subtracted.

    It is always the same object, so that statements can be cached by it. Only tests pass other times.
    """
    return _NOW


def column(moment: Moment) -> ColumnElement[datetime]:
    """Return the time as a column that can be selected together with rows."""
    return literal(moment, _UTC) if isinstance(moment, datetime) else moment


def value(session: Session, moment: Moment | None = None) -> datetime:
    """Return the time as a value, by default the current time of the database."""
    moment = now() if moment is None else moment
    return moment if isinstance(moment, datetime) else session.execute(select(moment)).scalar_one()


def offset(session: Session) -> float:
    """Return the seconds by which this process's clock is ahead of the database's (SQLite: the same clock).

    Half of the round trip is subtracted, so that the error is at most half of it.
    """
    current = func.clock_timestamp(type_=_UTC) if _is_postgresql(session) else DatabaseNow()
    before = clock.now()
    database_time = session.execute(select(current)).scalar_one()
    after = clock.now()
    return (before + (after - before) / 2 - database_time).total_seconds()


def _is_postgresql(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"
