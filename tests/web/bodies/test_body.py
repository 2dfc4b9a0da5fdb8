from __future__ import annotations

import io
import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize
from marshmallow import Schema
from werkzeug.test import TestResponse

from app.domain.errors import FieldError, MalformedJson, Problem, UnsupportedMediaType, ValidationFailed
from app.web.bodies import body

pytestmark = pytest.mark.any_database

LOGIN = "/api/ext/login"
BARE = Flask("bare")
GOOD = {"email": "ada@acme.example", "password": "a password"}


def post(client: FlaskClient, data: bytes, content_type: str | None = "application/json") -> TestResponse:
    return client.post(LOGIN, data=data, content_type=content_type)


def read(value: Any, content_type: str = "application/json") -> dict[str, Any]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with BARE.test_request_context(method="POST", data=data, content_type=content_type) as context:
        return body.read(context.request, Schema())


def refusal(value: Any) -> Problem:
    with pytest.raises(Problem) as refused:
        read(value)
    return refused.value


def nested(levels: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(levels - 1):
        value = [value]
    return {"x": value}


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"]
)
def test_a_json_object_is_parsed_unchanged(content_type: str) -> None:
    value = {"text": "Ærøskøbing 🏝", "whole": -3, "part": 0.5, "yes": True, "nothing": None, "list": [{}]}

    assert read(value, content_type) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b'{"email": }',
        b"{'email': 1}",
        b'{"a": 1} {"b": 2}',
        b"\xff\xfe{\x00}\x00",
        b'\xef\xbb\xbf{"email": 1}',
        b'{"email": "\xc3\x28"}',
        b'{"email": "\xed\xa0\x80"}',
        b'{"x": NaN}',
        b'{"x": Infinity}',
        b'{"x": -Infinity}',
        b'{"x": ' + b"9" * 5000 + b"}",
        b"[" * 30_000,
        b'{"x":' * 30_000,
        b"[]",
        b'[{"email": "ada@acme.example"}]',
        b"null",
        b"true",
        b"3",
        b'"text"',
        b"email=ada%40acme.example",
    ],
)
def test_a_body_that_is_not_a_json_object_gets_400(client: FlaskClient, data: bytes) -> None:
    response = post(client, data)

    assert (response.status_code, response.mimetype) == (400, "application/problem+json")
    assert response.json is not None
    assert response.json["code"] == "malformed_json"
    assert response.json["detail"]


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (b'{"email": "a\\u0000b"}', "/email"),
        (b'{"email": "\\ud800"}', "/email"),
        (b'{"email": "\\udfff\\ud800"}', "/email"),
        (b'{"client": {"name": "\\udead"}}', "/client/name"),
        (b'{"list": [1, ["\\u0000"]]}', "/list/1/0"),
        (b'{"a/b~c": "\\u0000"}', "/a~1b~0c"),
        (b'{"\\ud800": 1}', ""),
        (b'{"x\\u0000": 1}', ""),
        (b'{"x": 9223372036854775808}', "/x"),
        (b'{"x": -9223372036854775808}', "/x"),
        (b'{"x": 100000000000000000000}', "/x"),
        (b'{"x": 1e999}', "/x"),
        (b'{"x": [-1e999]}', "/x/0"),
    ],
)
def test_a_value_that_cannot_be_stored_gets_422(client: FlaskClient, value: bytes, pointer: str) -> None:
    response = post(client, value)

    assert response.status_code == 422
    assert response.json is not None
    assert [error["pointer"] for error in response.json["errors"]] == [pointer]


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert read(b'{"x": "\\ud83d\\ude00"}') == {"x": "😀"}


def test_the_largest_numbers_are_accepted() -> None:
    value = {"most": 2**63 - 1, "least": -(2**63) + 1}

    assert read(value) == value


@pytest.mark.parametrize("pointer", ["/\ud800", "/" + "x" * 300])
def test_every_field_name_can_be_written_as_a_pointer(pointer: str) -> None:
    refused = refusal({pointer[1:]: "\0"})

    assert isinstance(refused, ValidationFailed)
    assert all(len(error.pointer.encode()) <= 101 for error in refused.errors)


def test_the_maximum_depth_is_accepted_and_one_level_more_is_not() -> None:
    assert read(nested(body.MAX_DEPTH - 1)) == nested(body.MAX_DEPTH - 1)
    assert isinstance(refusal(nested(body.MAX_DEPTH + 1)), MalformedJson)
    assert "20 levels" in refusal(nested(body.MAX_DEPTH + 1)).detail
    assert "20 levels" in refusal(b"[" * 30_000).detail


def test_at_most_a_hundred_errors_are_reported() -> None:
    few = refusal({"a": "\0", "b": ["\0"]})
    many = refusal({"list": ["\0"] * 10_000})

    assert [error.pointer for error in few.errors] == ["/a", "/b/0"]
    assert len(many.errors) == body.MAX_ERRORS


def test_unknown_fields_do_not_cause_a_huge_response(client: FlaskClient) -> None:
    response = post(client, json.dumps(GOOD | {f"f{number}": 1 for number in range(10_000)}).encode())

    assert response.status_code == 422
    assert response.json is not None
    assert len(response.json["errors"]) == body.MAX_ERRORS


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json", None],
)
def test_a_body_not_declared_as_json_gets_415(client: FlaskClient, content_type: str | None) -> None:
    response = post(client, json.dumps(GOOD).encode(), content_type)

    assert response.status_code == 415
    assert response.json is not None
    assert response.json["code"] == "unsupported_media_type"


@pytest.mark.parametrize(
    ("content_type", "error"), [("text/plain", UnsupportedMediaType), ("", MalformedJson)]
)
def test_an_empty_body_gets_an_error_that_says_what_to_send(content_type: str, error: type[Problem]) -> None:
    with pytest.raises(error):
        read(b"", content_type)


@pytest.mark.parametrize(
    ("data", "expected"), [(b"", "is empty"), (b" \n", "is empty"), (b"\xef\xbb\xbf{}", "a byte order mark")]
)
def test_a_body_without_visible_text_before_the_object_is_explained(data: bytes, expected: str) -> None:
    assert expected in refusal(data).detail


@pytest.mark.parametrize("size", [body.MAX_BYTES + 1, 10_000_000])
def test_a_body_over_the_limit_gets_413(client: FlaskClient, size: int) -> None:
    response = post(client, b" " * size)

    assert response.status_code == 413
    assert response.json is not None
    assert response.json["code"] == "payload_too_large"


@pytest.mark.parametrize(
    ("size", "status"), [(body.MAX_BYTES, 400), (body.MAX_BYTES + 1, 413), (10_000_000, 413)]
)
def test_a_chunked_body_has_the_same_limit(client: FlaskClient, size: int, status: int) -> None:
    response = client.post(
        "/api/ext/login",
        input_stream=io.BytesIO(b" " * size),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    )

    assert response.status_code == status


def test_a_body_at_the_limit_is_accepted() -> None:
    data = b'{"x": "' + b"y" * (body.MAX_BYTES - 9) + b'"}'

    assert len(data) == body.MAX_BYTES
    assert read(data)["x"][:3] == "yyy"


@pytest.mark.parametrize(
    "value",
    [
        {"email": 5, "password": "x"},
        {"email": ["ada@acme.example"], "password": {}},
        {"email": None, "password": None},
        {"email": "ada@acme.example"},
        GOOD | {"admin": True},
        GOOD | {"client": "a text"},
        {},
    ],
)
def test_invalid_fields_get_422_with_pointers(client: FlaskClient, value: dict[str, Any]) -> None:
    response = post(client, json.dumps(value).encode())

    assert (response.status_code, response.mimetype) == (422, "application/problem+json")
    assert response.json is not None
    assert all(error["pointer"].startswith("/") and error["detail"] for error in response.json["errors"])


@pytest.mark.parametrize(
    "data",
    [b'{"a": 1, "a": 1}', b'{"a": {"b": 1, "b": 2}}', b'{"a": [{"b": 1, "\\u0062": 2}]}'],
)
def test_a_duplicate_field_gets_400(client: FlaskClient, data: bytes) -> None:
    response = post(client, data)

    assert (response.status_code, response.json and response.json["code"]) == (400, "malformed_json")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Encoding": "gzip"},
        {"Content-Encoding": "identity, br"},
        {"Transfer-Encoding": "gzip, chunked"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/json; charset=iso-8859-1"},
    ],
)
def test_a_compressed_body_gets_415(client: FlaskClient, headers: dict[str, str]) -> None:
    response = client.post(
        LOGIN, data=json.dumps(GOOD), headers={"Content-Type": "application/json"} | headers
    )

    assert (response.status_code, response.json and response.json["code"]) == (415, "unsupported_media_type")


def test_the_identity_encoding_may_be_declared(client: FlaskClient) -> None:
    response = client.post(LOGIN, json={}, headers={"Content-Encoding": "identity"})

    assert response.status_code == 422


class BrokenBody(io.BytesIO):
    """A request body that raises an error when it is read."""

    def __init__(self, error: Exception) -> None:
        super().__init__(b"{}")
        self.error = error

    def read(self, _size: int | None = -1) -> bytes:
        raise self.error

    def readinto(self, _buffer: Any) -> int:
        raise self.error


@pytest.mark.parametrize(
    "error", [InvalidChunkSize(b"zz"), ChunkMissingTerminator(b"x"), ConnectionResetError()]
)
def test_a_body_that_breaks_off_gets_400(client: FlaskClient, error: Exception) -> None:
    response = client.post(
        LOGIN,
        input_stream=BrokenBody(error),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    )

    assert (response.status_code, response.json and response.json["code"]) == (400, "malformed_json")


def test_a_truncated_body_gets_400_even_if_it_parses(client: FlaskClient) -> None:
    data = json.dumps(GOOD).encode()

    response = client.post(
        LOGIN,
        input_stream=io.BytesIO(data),
        content_type="application/json",
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": str(len(data) + 1)},
    )

    assert (response.status_code, response.json and response.json["code"]) == (400, "malformed_json")


def test_a_parse_error_has_line_and_column() -> None:
    with pytest.raises(MalformedJson) as refused:
        body.parse(b'{\n  "a": oops}')

    assert refused.value.detail == "The body is not JSON: line 2, column 8. Correct it there."


def test_an_invalid_field_name_is_reported_at_its_object() -> None:
    assert refusal(b'{"a": {"\\u0000": 1}}').errors == (
        FieldError("/a", "The name of a field contains U+0000 or a lone surrogate."),
    )
