"""The database's clock: the time of everything that two processes compare.

A deadline or a lease is written by one process and judged by another, and their clocks may differ by a
fraction of a second or an hour, or jump. So the database takes the time, inside the statement that writes or
compares it: `now()` is an SQL expression. Where Python must compare, `value(session)` reads it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Dialect, Interval, String, func, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.infra import clock
from app.infra.db import UtcDateTime

Moment: TypeAlias = datetime | ColumnElement[datetime]
"""A time: either a value, or the expression with which the database takes it."""


class _Shift(TypeDecorator[timedelta]):
    """A time span as each database adds it to a time: an interval, or a modifier of SQLite's strftime."""

    impl = Interval
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type that the driver is given."""
        return dialect.type_descriptor(String() if dialect.name == "sqlite" else Interval())

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> timedelta | str | None:
        """Return the value that the driver is given."""
        if value is None or dialect.name != "sqlite":
            return value
        return f"{value.total_seconds():+.3f} seconds"


class DatabaseNow(FunctionElement[datetime]):
    """The database's time, the same throughout one statement, shifted by a time span."""

    type = UtcDateTime()
    inherit_cache = True

    def __init__(self, by: timedelta = timedelta(0)) -> None:
        self.by = by
        super().__init__(*([literal(by, _Shift())] if by else []))

    def __add__(self, by: timedelta) -> DatabaseNow:
        return DatabaseNow(self.by + by)

    def __sub__(self, by: timedelta) -> DatabaseNow:
        return DatabaseNow(self.by - by)


@compiles(DatabaseNow)
def _on_postgresql(now: DatabaseNow, compiler: SQLCompiler, **options: Any) -> str:
    """Write it for PostgreSQL; clock_timestamp() is volatile, so that no index would serve a comparison."""
    shift = compiler.process(now.clauses, **options)
    return f"(statement_timestamp() + {shift})" if shift else "statement_timestamp()"


@compiles(DatabaseNow, "sqlite")
def _on_sqlite(now: DatabaseNow, compiler: SQLCompiler, **options: Any) -> str:
    """Write it as `UtcDateTime` stores times, with six digits; SQLite's clock has three."""
    shift = compiler.process(now.clauses, **options)
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now'{', ' if shift else ''}{shift}) || '000')"


def now() -> Moment:
    """Return the expression of the database's time; `+` and `-` take a timedelta."""
    return DatabaseNow()


def column(moment: Moment) -> ColumnElement[datetime]:
    """Return the time as something that can be selected beside the rows it is compared with."""
    return literal(moment, UtcDateTime()) if isinstance(moment, datetime) else moment


def value(session: Session, moment: Moment | None = None) -> datetime:
    """Return the time as a value; without one, read the database's clock."""
    moment = now() if moment is None else moment
    return moment if isinstance(moment, datetime) else session.execute(select(moment)).scalar_one()


def offset(session: Session) -> float:
    """Return how many seconds this process's clock is ahead of the database's; SQLite's is the machine's own.

    The answer takes time to arrive: half of the round trip is subtracted, so that at most half is an error.
    """
    current = func.clock_timestamp(type_=UtcDateTime()) if _is_postgresql(session) else DatabaseNow()
    before = clock.now()
    there = session.execute(select(current)).scalar_one()
    after = clock.now()
    return (before + (after - before) / 2 - there).total_seconds()


def _is_postgresql(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"
