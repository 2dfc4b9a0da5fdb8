"""JSON bodies: strict reading of requests, before the schemas, and writing of responses."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from typing import Any, NoReturn

from apiflask.schema_adapters.marshmallow import parser
from flask import Request, Response, current_app
from gunicorn.http.errors import ParseException
from marshmallow import Schema

from app.domain.errors import (
    FieldError,
    MalformedJson,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)
from app.domain.messages import Message
from app.web import costs

MAX_BYTES = 256 * 1024
READ_BYTES = MAX_BYTES + 1
"""The limit given to Flask: one byte more, because it truncates a chunked body silently."""
MAX_DEPTH = 20
TOO_DEEP = Message("The body is nested deeper than {max} levels. Send one with fewer.", max=MAX_DEPTH)
MAX_INTEGER = 2**63 - 1
MAX_ERRORS = 100
"""The most errors in one response; a small request must not cause a huge response."""
_NOT_ENCODABLE = re.compile("[\0\ud800-\udfff]")


def json_response(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response with a JSON object; APIFlask would serialize a dictionary a second time."""
    return current_app.response_class(
        current_app.json.dumps(costs.shown(body)), status=status, headers=headers, mimetype="application/json"
    )


@parser.location_loader("json")
def read(request: Request, _schema: Schema) -> dict[str, Any]:
    """Return the body, parsed as one JSON object."""
    _require_unencoded(request)
    raw = receive(request)
    if not request.is_json and (raw or request.mimetype):
        raise UnsupportedMediaType
    if not raw.strip():
        raise MalformedJson("The body is empty. Send one JSON object with 'Content-Type: application/json'.")
    value = parse(raw)
    if not isinstance(value, dict):
        raise MalformedJson("The body is JSON, but not an object. Send one object: {…}.")
    errors = tuple(_bad_values(value, "", 1)[:MAX_ERRORS])
    if errors:
        raise ValidationFailed(errors=errors)
    return value


def is_chunked(request: Request) -> bool:
    """Return whether the length of the body is known only at its end."""
    return "Transfer-Encoding" in request.headers


def _require_unencoded(request: Request) -> None:
    """Raise UnsupportedMediaType for a compressed body (RFC 9110, 8.4) or another charset than UTF-8."""
    content_encoding = request.headers.get("Content-Encoding", "identity")
    transfer_encoding = request.headers.get("Transfer-Encoding", "chunked")
    charset = request.mimetype_params.get("charset", "utf-8")
    if content_encoding.lower() != "identity" or transfer_encoding.lower() != "chunked":
        raise UnsupportedMediaType("Send the body uncompressed, without Content-Encoding.")
    if charset.lower() not in {"utf-8", "utf8"}:
        raise UnsupportedMediaType("Send the body in UTF-8.")


def receive(request: Request) -> bytes:
    """Return the body as it was sent; the second call returns what the first has received."""
    try:
        raw = request.get_data(cache=True)
    except (ParseException, OSError) as error:  # a chunk without a size, with a wrong size, or without an end
        raise MalformedJson("The body is truncated, or its chunks are malformed. Send it again.") from error
    if len(raw) >= (request.max_content_length or READ_BYTES):
        raise PayloadTooLarge(
            "A chunked body may have at most 256 KiB. Send a longer one with Content-Length."
        )
    if request.content_length not in {None, len(raw)}:  # the client disconnected; the rest may still parse
        raise MalformedJson("The body is shorter than its Content-Length. Send it again.")
    return raw


def parse(raw: bytes) -> object:
    """Parse strict JSON (RFC 8259, RFC 7493): UTF-8, without NaN, Infinity and duplicate names."""
    if raw.startswith(BOM_UTF8):  # invisible, so "line 1, column 1" would not help
        raise MalformedJson("The body begins with a byte order mark. Send UTF-8 without it.")
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise MalformedJson("The body is not UTF-8. Encode it as UTF-8.") from error
    except RecursionError as error:
        raise MalformedJson(TOO_DEEP) from error
    except json.JSONDecodeError as error:
        raise MalformedJson(
            Message(
                "The body is not JSON: line {lineno}, column {colno}. Correct it there.",
                lineno=error.lineno,
                colno=error.colno,
            )
        ) from error
    except ValueError as error:  # Python's limit on the digits of an integer
        raise MalformedJson(
            "The body contains a number with too many digits. Send numbers of at most 64 bits."
        ) from error


def _refuse(_name: str) -> NoReturn:
    raise MalformedJson("NaN and Infinity are not JSON numbers. Send null, or leave the field out.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; duplicate names are an error, because parsers disagree on which one counts."""
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise MalformedJson("The body contains a field twice. Send it once.")
    return unique


def _bad_values(value: object, pointer: str, depth: int) -> list[FieldError]:
    if depth > MAX_DEPTH:
        raise MalformedJson(TOO_DEEP)
    match value:
        case dict():
            errors = [FieldError(pointer, "The name of a field contains U+0000 or a lone surrogate.")] * any(
                not _is_encodable(key) for key in value
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
        case str() if not _is_encodable(value):
            return [FieldError(pointer, "The text contains U+0000 or a lone surrogate.")]
        case int() | float() if not -MAX_INTEGER <= value <= MAX_INTEGER:  # 1e999 is parsed as infinity
            return [FieldError(pointer, "The number exceeds 64 bits.")]
    return []


def bad_values(value: object) -> list[FieldError]:
    """Return the errors of texts and numbers that cannot be stored, with JSON pointers."""
    return _bad_values(value, "", 1)[:MAX_ERRORS]


def _is_encodable(text: str) -> bool:
    return _NOT_ENCODABLE.search(text) is None


def escape(key: str) -> str:
    """Return a name as one step of a JSON pointer (RFC 6901), limited to encodable characters."""
    return key.encode(errors="replace").decode()[:100].replace("~", "~0").replace("/", "~1")
