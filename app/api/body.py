"""The body of a request: read in one place, strictly, before any schema sees it."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from apiflask.schema_adapters.marshmallow import parser
from flask import Request
from marshmallow import Schema

from app.domain.errors import (
    FieldError,
    MalformedJson,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)

MAX_BYTES = 256 * 1024
READ_BYTES = MAX_BYTES + 1
"""What Flask may read: one more, because it cuts off a body that comes in chunks without saying so."""
MAX_DEPTH = 20
MAX_INTEGER = 2**63 - 1
MOST_ERRORS = 100
"""Wrong places that are told; a small request must not make a huge answer."""


@parser.location_loader("json")
def read(request: Request, _schema: Schema) -> dict[str, Any]:
    """Parse the body as one JSON object.

    Raises:
        UnsupportedMediaType: it is not declared as JSON.
        MalformedJson: it is not UTF-8, not JSON, not an object, or nested too deep.
        ValidationFailed: a string holds U+0000 or half a surrogate pair, or a number is beyond 64 bits.
        PayloadTooLarge: it is over 256 KiB, with its length told before (raised by Flask) or in chunks.

    """
    raw = request.get_data(cache=True)
    if len(raw) > MAX_BYTES:
        raise PayloadTooLarge
    if not request.is_json:
        if raw or request.mimetype:
            raise UnsupportedMediaType
        raise MalformedJson("The body is empty. Send one JSON object with 'Content-Type: application/json'.")
    value = parse(raw)
    if not isinstance(value, dict):
        raise MalformedJson("The body is JSON, but not an object. Send one object: {…}.")
    errors = tuple(_bad_values(value, "", 1)[:MOST_ERRORS])
    if errors:
        raise ValidationFailed(errors=errors)
    return value


def parse(raw: bytes) -> Any:  # noqa: ANN401 -- JSON can be anything
    """Parse strict JSON (RFC 8259): UTF-8, no NaN or Infinity.

    Raises:
        MalformedJson: it cannot be read.

    """
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise MalformedJson("The body is not UTF-8.") from error
    except RecursionError as error:
        raise MalformedJson(f"The body is nested deeper than {MAX_DEPTH} levels.") from error
    except json.JSONDecodeError as error:
        raise MalformedJson(f"The body is not JSON: line {error.lineno}, column {error.colno}.") from error
    except ValueError as error:  # Python's limit on the digits of an integer
        raise MalformedJson("The body holds a number with too many digits.") from error


def _refuse(_name: str) -> NoReturn:
    raise MalformedJson("NaN and Infinity are not JSON numbers.")


def _bad_values(value: object, pointer: str, depth: int) -> list[FieldError]:
    if depth > MAX_DEPTH:
        raise MalformedJson(f"The body is nested deeper than {MAX_DEPTH} levels.")
    match value:
        case dict():
            errors = [FieldError(pointer, "A field's name holds a character that no text may hold.")] * any(
                not _sound(key) for key in value
            )
            for key, inner in value.items():
                errors += _bad_values(inner, f"{pointer}/{escape(key)}", depth + 1)
            return errors
        case list():
            return [
                error
                for index, inner in enumerate(value)
                for error in _bad_values(inner, f"{pointer}/{index}", depth + 1)
            ]
        case str() if not _sound(value):
            return [FieldError(pointer, "The text holds U+0000 or half a surrogate pair.")]
        case int() | float() if not -MAX_INTEGER <= value <= MAX_INTEGER:  # 1e999 is read as infinity
            return [FieldError(pointer, "The number is beyond 64 bits.")]
    return []


def _sound(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def escape(key: str) -> str:
    """Write a name as one step of a JSON pointer (RFC 6901), in characters that any answer can hold."""
    return key.encode(errors="replace").decode()[:100].replace("~", "~0").replace("/", "~1")
