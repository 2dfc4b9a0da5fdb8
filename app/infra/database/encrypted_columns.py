"""Column types whose values are encrypted in the database and plain in Python.

A value is bound to its row: table, column and primary key are authenticated with it, so a value that is
copied to another row or column cannot be read. Each SELECT of such a column also selects the primary key, and
the ORM encrypts when it flushes. A statement of Core takes its values from `encrypted`; any other value is
refused, so that nothing is stored in plain text by mistake.

Null and empty values are stored as they are.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Label,
    String,
    Text,
    event,
    literal_column,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import InstrumentedAttribute, Mapper
from sqlalchemy.orm.attributes import instance_state
from sqlalchemy.types import TypeDecorator

from app.domain import stored_messages
from app.infra.crypto.encryption import Undecryptable, open_sealed, seal_all
from app.infra.crypto.key_ring import KeyRing
from app.infra.database.db import Base, Json
from app.infra.database.dialect_keys import ring_of
from app.infra.database.session import Session

MARK = "enc:"
"""The beginning of encrypted text; the rest is the encrypted value in base64."""
EMPTY = frozenset({"", "{}", "[]", "null"})
"""The texts of empty values, which are stored as they are."""
_KEY_DIGITS = 4
"""The characters of base64 that contain the id of the key."""
_ROW_END = "|"
_PLAIN = "_plain_values"
_ENCRYPTED = "encrypted"
_KEY_SEPARATOR = "/"


class Ciphertext(str):
    """An encrypted value, ready to be stored in its row."""

    __slots__ = ()


class CipherObject(dict[str, Any]):
    """An encrypted value of JSON, ready to be stored in its row."""

    __slots__ = ()


class EncryptedText(TypeDecorator[str]):
    """A column of encrypted texts.

    `name` is `table.column`, which is authenticated; `row` are the columns of the primary key. `index` is the
    column of blind indexes, and `field` the kind of value, whose indexes have their own key.
    """

    impl = String
    cache_ok = True

    def __init__(self, name: str, row: tuple[str, ...] = ("id",), index: str = "", field: str = "") -> None:
        super().__init__()
        self.name, self.row, self.index, self.field = name, row, index, field

    def context(self, row: str) -> str:
        """Return what is authenticated with the value of a row, which is named by its primary key."""
        return f"{self.name}|{row}"

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the primary key and the stored value; a column of no table, such as a null, as it is.

        In a subquery, both may have a prefix, as in `saved_id` and `saved_note`.
        """
        element = column.element if isinstance(column, Label) else column
        table = getattr(element, "table", None)
        if table is None:
            return column
        prefix = (element.key or "").removesuffix(self.name.partition(".")[2])
        parts: list[ColumnElement[Any]] = [sql_cast(table.c[prefix + name], Text) for name in self.row]
        separators = [_KEY_SEPARATOR] * (len(parts) - 1) + [_ROW_END]
        text = parts[0]
        for separator, part in zip(separators, [*parts[1:], sql_cast(element, Text)], strict=True):
            text = text.op("||")(literal_column(f"'{separator}'")).op("||", return_type=self)(part)
        return text

    def process_bind_param(self, value: object, dialect: Dialect) -> object:  # noqa: ARG002 -- SQLAlchemy's signature
        """Return the encrypted value."""
        if value and not isinstance(value, (Ciphertext, CipherObject)):
            message = f"A value of {self.name} is not encrypted. Use `encrypted`."
            raise TypeError(message)
        return value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002 -- SQLAlchemy's signature
        """Return the function that decrypts what `column_expression` selects."""

        def process(text: str | None) -> object:
            return None if text is None else self.decrypted(ring_of(dialect), *text.split(_ROW_END, 1))

        return process

    def encrypted(self, ring: KeyRing, row: str, value: object) -> object:
        """Return the value as it is stored in the row."""
        return self.encrypted_all(ring, [(row, value)])[0]

    def encrypted_all(self, ring: KeyRing, values: Sequence[tuple[str, Any]]) -> list[Any]:
        """Return the values, each after its row, as they are stored there."""
        texts = [(self.context(row), self.text_of(value)) for row, value in values if value]
        ciphertexts = iter(encrypt_texts(ring, texts))
        return [self.stored(value, next(ciphertexts)) if value else value for _, value in values]

    def text_of(self, value: object) -> str:
        """Return the text that is encrypted."""
        return str(value)

    def stored(self, value: object, ciphertext: Ciphertext) -> object:  # noqa: ARG002 -- the column's, for subclasses
        """Return what is stored for the value with this encrypted text."""
        return ciphertext

    def decrypted(self, ring: KeyRing, row: str, stored: str) -> Any:  # noqa: ANN401 -- a text, or what its JSON is
        """Return the value of a stored text."""
        return decrypt_text(ring, self.context(row), self.ciphertext(stored)) if stored else stored

    def ciphertext(self, stored: str) -> str:
        """Return the encrypted text in a stored text that is not empty."""
        return stored


class EncryptedJson(EncryptedText):
    """A column of encrypted objects or lists, stored as an object with the key `encrypted`.

    The values of the keys `kept` are also stored plain, at the same place, for conditions of SQL.
    """

    impl = Json  # type: ignore[assignment]  # of the same kind for SQLAlchemy
    cache_ok = True

    def __init__(self, name: str, row: tuple[str, ...] = ("id",), kept: tuple[str, ...] = ()) -> None:
        super().__init__(name, row)
        self.kept = kept

    def text_of(self, value: object) -> str:
        """Return the text that is encrypted."""
        return dumps(value)

    def stored(self, value: object, ciphertext: Ciphertext) -> object:
        """Return the object that is stored for the value."""
        plain = value if isinstance(value, dict) else {}
        return CipherObject({key: plain[key] for key in self.kept if key in plain} | {_ENCRYPTED: ciphertext})

    def decrypted(self, ring: KeyRing, row: str, stored: str) -> object:
        """Return the value of stored JSON, as for a text."""
        is_empty = stored in EMPTY
        return self.value_of(
            stored if is_empty else decrypt_text(ring, self.context(row), self.ciphertext(stored))
        )

    def value_of(self, text: str) -> object:
        """Return the value of a text that was encrypted."""
        return json.loads(text)

    def ciphertext(self, stored: str) -> str:
        """Return the encrypted text in stored JSON, as for a text; "" if it has none."""
        value = json.loads(stored)
        return str(value.get(_ENCRYPTED, "")) if isinstance(value, dict) else ""


class EncryptedMessages(EncryptedJson):
    """A column of encrypted JSON whose sentences keep their templates, and are translated when it is read."""

    cache_ok = True

    def text_of(self, value: object) -> str:
        """Return the text that is encrypted."""
        return stored_messages.dumps(value)

    def value_of(self, text: str) -> object:
        """Return the value of a text that was encrypted."""
        return stored_messages.loads(text)


def dumps(value: object) -> str:
    """Return the shortest JSON of a value."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def encrypt_texts(ring: KeyRing, texts: Iterable[tuple[str, str]]) -> list[Ciphertext]:
    """Return the texts, each after its context, encrypted."""
    sealed = seal_all(ring, ((context, plain.encode()) for context, plain in texts))
    return [Ciphertext(MARK + base64.b64encode(value).decode()) for value in sealed]


def decrypt_text(ring: KeyRing, context: str, stored: str) -> str:
    """Return the text of an encrypted value.

    Raises:
        Undecryptable: it was changed, belongs to another row or column, or its key is not set.

    """
    try:
        return open_sealed(ring, context, base64.b64decode(stored[len(MARK) :], validate=True)).decode()
    except ValueError as error:
        raise Undecryptable(f"A value of {context.partition('|')[0]}") from error


def key_id_of(ciphertext: str) -> int | None:
    """Return the id of the key of an encrypted text, or None if it has none."""
    try:
        return base64.b64decode(ciphertext.removeprefix(MARK)[:_KEY_DIGITS])[0]
    except (ValueError, IndexError):
        return None


def encrypted(session: Session, column: InstrumentedAttribute[Any], row: str, value: object) -> object:
    """Return a value as a statement of Core stores it in the row with this primary key."""
    type_ = cast("EncryptedText", column.type)
    return type_.encrypted(session.keys.ring, row, value)


def row_name(*key: object) -> str:
    """Return the name of a row with a primary key of several columns."""
    return _KEY_SEPARATOR.join(map(str, key))


def encrypted_columns() -> Iterator[Column[Any]]:
    """Return all columns with encrypted values."""
    for table in Base.metadata.sorted_tables:
        yield from (column for column in table.c if isinstance(column.type, EncryptedText))


@event.listens_for(Base, "before_insert", propagate=True)
def _encrypt_new(mapper: Mapper[Any], connection: Connection, target: object) -> None:
    _encrypt(mapper, connection, target, set(target.__dict__))


@event.listens_for(Base, "before_update", propagate=True)
def _encrypt_changed(mapper: Mapper[Any], connection: Connection, target: object) -> None:
    _encrypt(mapper, connection, target, set(instance_state(target).committed_state))


def _encrypt(mapper: Mapper[Any], connection: Connection, target: object, names: set[str]) -> None:
    """Replace the values by encrypted ones until they are written."""
    values = target.__dict__
    plain = {name: values[name] for name in names.intersection(_types(mapper)) if values.get(name)}
    for name, value in plain.items():
        type_ = _types(mapper)[name]
        row = row_name(*(values[part] for part in type_.row))
        ring = ring_of(connection.dialect)
        values[name] = type_.encrypted(ring, row, value)
        if type_.index:
            values[type_.index] = ring.index(type_.field, value)
    if plain:
        values[_PLAIN] = plain


@event.listens_for(Base, "after_insert", propagate=True)
@event.listens_for(Base, "after_update", propagate=True)
def _restore(_mapper: Mapper[Any], _connection: Connection, target: object) -> None:
    """Restore the plain values."""
    target.__dict__.update(target.__dict__.pop(_PLAIN, {}))


@cache
def _types(mapper: Mapper[Any]) -> dict[str, EncryptedText]:
    """Return the types of the encrypted attributes by name."""
    columns = {attribute.key: attribute.columns[0].type for attribute in mapper.column_attrs}
    return {name: type_ for name, type_ in columns.items() if isinstance(type_, EncryptedText)}
