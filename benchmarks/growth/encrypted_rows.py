"""Stores the rows of an INSERT encrypted: PostgreSQL computes them, this process encrypts and copies them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from psycopg import Connection as Driver
from sqlalchemy import JSON, Connection, Table, text

from app.infra.crypto.key_ring import KeyRing
from app.infra.database.encrypted_columns import EncryptedJson, EncryptedText, row_name

_BATCH = 10_000


def insert(connection: Connection, ring: KeyRing, table: Table, sql: str, values: Mapping[str, Any]) -> None:
    """Run an INSERT of plain values, and store its rows with encrypted ones and their blind indexes."""
    driver: Any = connection.connection.driver_connection
    connection.execute(text(f"CREATE TEMPORARY TABLE plain (LIKE {table.name}) ON COMMIT DROP"))
    connection.execute(text(sql.replace(f"INSERT INTO {table.name} ", "INSERT INTO plain ")), values)
    names = [f'"{column.name}"' for column in table.c]
    texts = [f"{name}::text" if _is_json(table, name) else name for name in names]
    with driver.cursor(name="plain_rows") as plain:
        plain.execute(f"SELECT {', '.join(texts)} FROM plain")
        while rows := plain.fetchmany(_BATCH):
            stored = [dict(zip(table.c.keys(), row, strict=True)) for row in rows]
            _encrypt(ring, table, stored)
            _copy(driver, f"COPY {table.name} ({', '.join(names)}) FROM STDIN", stored)


def _is_json(table: Table, quoted: str) -> bool:
    type_ = table.c[quoted.strip('"')].type
    return isinstance(type_, (JSON, EncryptedJson))


def _encrypt(ring: KeyRing, table: Table, rows: list[dict[str, Any]]) -> None:
    """Replace the plain values of the rows."""
    for column in table.c:
        if not isinstance(column.type, EncryptedText):
            continue
        type_, is_json = column.type, isinstance(column.type, EncryptedJson)
        filled = [row for row in rows if row[column.name]]
        values = [json.loads(row[column.name]) if is_json else row[column.name] for row in filled]
        named = [row_name(*(row[name] for name in type_.row)) for row in filled]
        encrypted = type_.encrypted_all(ring, list(zip(named, values, strict=True)))
        for row, value, ciphertext in zip(filled, values, encrypted, strict=True):
            row[column.name] = json.dumps(ciphertext) if is_json else str(ciphertext)
            if type_.index:
                row[type_.index] = ring.index(type_.field, value)


def _copy(driver: Driver[Any], statement: str, rows: Iterable[dict[str, Any]]) -> None:
    with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in rows:
            copy.write_row(tuple(row.values()))
