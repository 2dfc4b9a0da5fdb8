"""The body of a request: read in one place, strictly, before any schema sees it."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from apiflask.schema_adapters.marshmallow import parser
from flask import Request
from gunicorn.http.errors import ParseException
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
MAX_ERRORS = 100
"""Wrong places that are told; a small request must not make a huge answer."""


@parser.location_loader("json")
def read(request: Request, _schema: Schema) -> dict[str, Any]:
    """Parse the body as one JSON object.

    Raises:
        UnsupportedMediaType: it is not declared as JSON, or it is packed, or in another charset than UTF-8.
        MalformedJson: it is not UTF-8, not JSON, not an object, nested too deep, or ends too early.
        ValidationFailed: a string holds U+0000 or half a surrogate pair, or a number is beyond 64 bits.
        PayloadTooLarge: it is over 256 KiB, with its length told before (raised by Flask) or in chunks.

    """
    _require_plain(request)
    raw = _receive(request)
    if not request.is_json:
        if raw or request.mimetype:
            raise UnsupportedMediaType
        raise MalformedJson("The body is empty. Send one JSON object with 'Content-Type: application/json'.")
    value = parse(raw)
    if not isinstance(value, dict):
        raise MalformedJson("The body is JSON, but not an object. Send one object: {…}.")
    errors = tuple(_bad_values(value, "", 1)[:MAX_ERRORS])
    if errors:
        raise ValidationFailed(errors=errors)
    return value


def _require_plain(request: Request) -> None:
    """Refuse what would have to be unpacked (RFC 9110, 8.4) or decoded before it is JSON."""
    packed = request.headers.get("Content-Encoding", "identity")
    sent_as = request.headers.get("Transfer-Encoding", "chunked")
    charset = request.mimetype_params.get("charset", "utf-8")
    if packed.lower() != "identity" or sent_as.lower() != "chunked":
        raise UnsupportedMediaType("Send the body as it is: without Content-Encoding, not compressed.")
    if charset.lower() not in {"utf-8", "utf8"}:
        raise UnsupportedMediaType("Send the body in UTF-8.")


def _receive(request: Request) -> bytes:
    try:
        raw = request.get_data(cache=True)
    except (ParseException, OSError) as error:  # chunks without a size, with a wrong one, or with no end
        raise MalformedJson("The body ends too early, or its chunks cannot be told apart.") from error
    if len(raw) > MAX_BYTES:
        raise PayloadTooLarge
    if request.content_length not in {None, len(raw)}:  # the caller hung up; what came may look whole
        raise MalformedJson("The body is shorter than its Content-Length.")
    return raw


def parse(raw: bytes) -> Any:  # noqa: ANN401 -- JSON can be anything
    """Parse strict JSON (RFC 8259, and RFC 7493 on names): UTF-8, no NaN or Infinity, no name twice.

    Raises:
        MalformedJson: it cannot be read.

    """
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_unique)
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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that comes twice: which of them counts would depend on who reads it."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedJson("The body names a field twice.")
    return found


def _bad_values(value: object, pointer: str, depth: int) -> list[FieldError]:
    if depth > MAX_DEPTH:
        raise MalformedJson(f"The body is nested deeper than {MAX_DEPTH} levels.")
    match value:
        case dict():
            errors = [FieldError(pointer, "A field's name holds a character that no text may hold.")] * any(
                not _require_encodable(key) for key in value
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
        case str() if not _require_encodable(value):
            return [FieldError(pointer, "The text holds U+0000 or half a surrogate pair.")]
        case int() | float() if not -MAX_INTEGER <= value <= MAX_INTEGER:  # 1e999 is read as infinity
            return [FieldError(pointer, "The number is beyond 64 bits.")]
    return []


def _require_encodable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def escape(key: str) -> str:
    """Write a name as one step of a JSON pointer (RFC 6901), in characters that any answer can hold."""
    return key.encode(errors="replace").decode()[:100].replace("~", "~0").replace("/", "~1")
