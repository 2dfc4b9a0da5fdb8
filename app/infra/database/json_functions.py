"""JSON functions of PostgreSQL and SQLite."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.infra.database.db import Json


class JsonObject(FunctionElement[Any]):
    """Aggregate rows to an object of keys and values; without rows it is null on PostgreSQL."""

    type = Json
    inherit_cache = True

    def __init__(self, key: ColumnElement[str], value: ColumnElement[Any]) -> None:
        super().__init__(key, value)


class JsonArray(FunctionElement[Any]):
    """Return the values of a row as an array."""

    type = Json
    inherit_cache = True


@compiles(JsonObject)
def _object(function: JsonObject, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_object_agg({compiler.process(function.clauses, **options)})"


@compiles(JsonObject, "sqlite")
def _object_on_sqlite(function: JsonObject, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_group_object({compiler.process(function.clauses, **options)})"


@compiles(JsonArray)
def _array(function: JsonArray, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_build_array({compiler.process(function.clauses, **options)})"


@compiles(JsonArray, "sqlite")
def _array_on_sqlite(function: JsonArray, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array({compiler.process(function.clauses, **options)})"
