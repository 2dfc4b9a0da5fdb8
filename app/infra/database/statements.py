"""Statements of the hot path: compiled once, and executed by the driver.

SQLAlchemy takes about 370 Python calls to execute a prebuilt `select`, and more to load ORM objects; a
`Statement` takes 90. A reveal executes more than ten, so they are most of what it costs. All other statements
use SQLAlchemy as usual.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from psycopg import RawCursor
from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Dialect,
    Float,
    FromClause,
    Insert,
    LargeBinary,
    SelectBase,
    SQLColumnExpression,
    String,
    TableValuedAlias,
    Update,
    UpdateBase,
    any_,
    bindparam,
    func,
    select,
    type_coerce,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy import column as sql_column
from sqlalchemy.dialects.postgresql import ARRAY, psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.visitors import iterate
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.infra.crypto.key_ring import KeyRing
from app.infra.database.db import Base
from app.infra.database.dialect_keys import find_ring, set_ring
from app.infra.database.session import Session

Row = TypeVar("Row", bound=tuple[Any, ...])
Convert: TypeAlias = Callable[[Any], Any]
_CURSOR = "statement_cursor"
_OF = "__"
"""Between the name of a parameter with rows and a column of them."""


class _JsonList(TypeDecorator[list[Any]]):
    """A list as a parameter in JSON; bytes in it are written as hexadecimal digits."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: list[Any] | None, _dialect: Dialect) -> str:
        """Return the list as JSON."""
        return json.dumps(value, default=bytes.hex)


def items_of(dialect: str, name: str) -> TableValuedAlias:
    """Return a table of the items of the parameter `name`, a list of strings; its column is `value`."""
    if dialect == "sqlite":
        return func.json_each(bindparam(name, type_=_JsonList())).table_valued("value")
    return func.unnest(bindparam(name, type_=ARRAY(String))).table_valued("value").render_derived()


def rows_of(dialect: str, name: str, columns: Mapping[str, TypeEngine[Any]]) -> FromClause:
    """Return a table with these columns; its rows are the parameter `name`, a list of dictionaries.

    PostgreSQL gets a list for each column: of a function that reads JSON it expects a hundred rows, and reads
    whole tables for them.
    """
    if dialect != "sqlite":
        lists = (_hidden_list(f"{name}{_OF}{key}", ARRAY(type_)) for key, type_ in columns.items())
        typed = (sql_column(key, type_) for key, type_ in columns.items())
        return func.unnest(*lists).table_valued(*typed).render_derived()
    item = func.json_each(bindparam(name, type_=_JsonList())).table_valued("value").c.value
    values = ((key, type_, func.json_extract(item, f"$.{key}")) for key, type_ in columns.items())
    return select(
        *(
            (func.unhex(value) if isinstance(type_, LargeBinary) else type_coerce(value, type_)).label(key)
            for key, type_, value in values
        )
    ).subquery()


def any_of(dialect: str, column: SQLColumnExpression[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that the column equals an item of the parameter `name`, a list of its values.

    The values are strings or bytes.
    """
    is_binary = isinstance(cast("ColumnElement[Any]", column).type, LargeBinary)
    if dialect == "sqlite":
        value = items_of(dialect, name).c.value
        return column.in_(select(func.unhex(value) if is_binary else value))
    return column == any_(_hidden_list(name, ARRAY(LargeBinary if is_binary else String)))


def _hidden_list(name: str, items: ARRAY[Any]) -> ColumnElement[Any]:
    """Return the parameter in a subquery, which hides the length of the list from PostgreSQL's planner.

    It would plan a list of one item again at each execution, because it expects ten in a plan for all lists;
    the planning took four times as long as the execution.
    """
    return sql_cast(select(bindparam(name, type_=items)).scalar_subquery(), items)


def columns_of(table: type[Base], names: Iterable[str]) -> list[ColumnElement[Any]]:
    """Return the columns of the table with these names, such as the fields of a statement's rows."""
    return [table.__table__.c[name] for name in names]


class IdRow(NamedTuple):
    """A row of a statement that selects ids."""

    id: str


class Statement(Generic[Row]):
    """A statement of SQLAlchemy Core with named parameters.

    `row` is the class of its rows: a named tuple whose fields are called like the selected columns, or a
    `tuple`. `build` receives the name of the dialect, `sqlite` or `postgresql`. For lists as parameters see
    `any_of`.

    PostgreSQL keeps the plan of a statement until it has analyzed the tables, which takes a minute or more.
    One that reads tables which grow from nothing to their size in that time is `replanned` at each execution,
    which takes about 0.2 ms; a plan for a few rows took 20 seconds with 50,000.
    """

    def __init__(
        self, row: type[Row], build: Callable[[str], SelectBase | UpdateBase], *, replanned: bool = False
    ) -> None:
        self._row = row
        self._build = build
        self._replanned = replanned
        self._by_dialect: dict[tuple[str, KeyRing | None], _Compiled[Row]] = {}

    def all(self, session: Session, parameters: Mapping[str, Any]) -> list[Row]:
        """Execute the statement in the session's transaction; return its rows."""
        session.flush()  # the session does not see this statement, which may read what it has not written yet
        connection = session.connection()
        name = connection.dialect.name
        key = (name, find_ring(connection.dialect))
        compiled = self._by_dialect.get(key)
        if compiled is None:
            compiled = _Compiled(
                self._row, self._build(name), connection.dialect, is_prepared=not self._replanned
            )
            self._by_dialect[key] = compiled
        return compiled.execute(connection, parameters)

    def first(self, session: Session, parameters: Mapping[str, Any]) -> Row | None:
        """Execute the statement as `all` does; return the first row, or None."""
        rows = self.all(session, parameters)
        return rows[0] if rows else None


class _Compiled(Generic[Row]):
    """A statement in SQL, with the conversions of its parameters and columns.

    `isinsert`, `isupdate` and `isdelete` are attributes of SQLAlchemy's execution context, which observers
    read.
    """

    def __init__(
        self, row: type[Row], statement: SelectBase | UpdateBase, dialect: Dialect, *, is_prepared: bool
    ) -> None:
        self._options = {} if is_prepared or dialect.name == "sqlite" else {"prepare": False}
        dialect = _positional(dialect)
        compiled = statement.compile(dialect=dialect)
        columns: Sequence[ColumnElement[Any]] = list(statement.exported_columns)
        kinds = {type(part) for part in iterate(statement)}
        self.isinsert, self.isupdate, self.isdelete = (
            any(issubclass(kind, written) for kind in kinds) for written in (Insert, Update, Delete)
        )
        self._sql = str(compiled)
        self._names: Sequence[str] = compiled.positiontup or ()
        self._columns = [(name, *name.split(_OF)) for name in dict.fromkeys(self._names) if _OF in name]
        self._binds: dict[str, Convert] = {
            name: process
            for bind, name in compiled.bind_names.items()
            if (process := bind.type.dialect_impl(dialect).bind_processor(dialect))
        }
        self._constants = self._converted(compiled.params)
        self._row, self._has_rows = row, bool(columns)
        _require_fields(row, [column.key for column in columns])
        self._results = [
            (index, convert)
            for index, column in enumerate(columns)
            if (convert := _result_processor(column.type, dialect))
        ]

    def execute(self, connection: Connection, parameters: Mapping[str, Any]) -> list[Row]:
        """Execute the statement with these parameters and the constants in it; return the rows."""
        lists = {name: [row[key] for row in parameters[rows]] for name, rows, key in self._columns}
        values = self._constants | self._converted({**parameters, **lists})
        arguments = tuple(values[name] for name in self._names)
        cursor = _cursor(connection)
        for observe in connection.dispatch.before_cursor_execute:
            observe(connection, cursor, self._sql, arguments, self, False)  # noqa: FBT003 -- SQLAlchemy's signature
        try:
            cursor.execute(self._sql, arguments, **self._options)
            rows = cursor.fetchall() if self._has_rows else ()
        except connection.dialect.loaded_dbapi.Error as error:
            raise translated(connection, cursor, self._sql, error) from error
        return [self._as_row(row) for row in rows]

    def _converted(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        values = dict(parameters)
        for name, convert in self._binds.items():
            if name in values:
                values[name] = convert(values[name])
        return values

    def _as_row(self, row: Sequence[Any]) -> Row:
        values = list(row)
        for index, convert in self._results:
            values[index] = convert(values[index])
        return tuple.__new__(self._row, values)  # a named tuple's own `_make` takes twice as long


def _require_fields(row: type[Row], columns: Sequence[str | None]) -> None:
    """Raise TypeError if a named tuple's fields are not called like the columns of the statement."""
    fields = getattr(row, "_fields", None)
    if fields is not None and list(fields) != columns:
        raise TypeError(f"The fields of {row.__name__} are {fields}, and the columns are {columns}.")


def _positional(dialect: Dialect) -> Dialect:
    """Return the dialect with parameters by position, as `_cursor` needs them."""
    if dialect.name != "postgresql":
        return dialect
    positional = psycopg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]  # SQLAlchemy has no types there
    set_ring(positional, find_ring(dialect))
    return cast("Dialect", positional)


def _cursor(connection: Connection) -> Any:  # noqa: ANN401 -- the drivers' types of a statement differ
    """Return the cursor that all statements on this connection share: a new one costs 20 Python calls.

    PostgreSQL's raw cursor sends the statement as it is; others search it for parameters at each execution.
    """
    info = connection.info
    if _CURSOR not in info:
        driver: Any = connection.connection.driver_connection
        info[_CURSOR] = RawCursor(driver) if connection.dialect.name == "postgresql" else driver.cursor()
    return info[_CURSOR]


def _result_processor(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    """Return the conversion of a column's values, or None if the driver's are right."""
    if isinstance(type_, Float):  # SQLAlchemy would need to know the type that the server sends
        return None
    return type_.dialect_impl(dialect).result_processor(dialect, None)


def translated(connection: Connection, cursor: object, sql: str, error: Exception) -> BaseException:
    """Return the error that SQLAlchemy would raise; discard the connection if it is lost."""
    dialect = connection.dialect
    is_lost = dialect.is_disconnect(error, connection.connection, cursor)  # type: ignore[arg-type]  # a pooled connection
    if is_lost:
        connection.invalidate(error)
    return DBAPIError.instance(
        sql,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_lost,
        dialect=dialect,
    )
