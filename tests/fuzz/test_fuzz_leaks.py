from __future__ import annotations

import json
import traceback

import pytest

from fuzz.leaks import find_leaks


def test_a_response_without_internals_has_no_leaks() -> None:
    assert (
        find_leaks('{"code": "validation_error", "detail": "File a report at https://a.example"}', "")
        == set()
    )


@pytest.mark.parametrize(
    "key", ["psycopg", "sqlalchemy", "/site-packages/", "Traceback (most recent call last)"]
)
def test_a_string_that_the_request_contains_is_not_a_leak(key: str) -> None:
    refusal = json.dumps({"errors": [{"pointer": f"/{key}", "message": "Unknown field."}]})

    assert find_leaks(refusal, json.dumps({key: 1})) == set()
    assert find_leaks(refusal, json.dumps({"subject": {}})) == {key}


def test_a_traceback_in_a_json_string_is_a_leak() -> None:
    try:
        json.loads("{")
    except ValueError:
        text = traceback.format_exc()

    leaks = find_leaks(json.dumps({"detail": text}), "")

    assert "Traceback (most recent call last)" in leaks
    assert any(leak.startswith('File \\"/') for leak in leaks)
    assert find_leaks(text, "") - {"Traceback (most recent call last)"}


def test_a_leak_beside_an_echo_is_found() -> None:
    assert find_leaks("psycopg: (sqlalchemy.exc.OperationalError)", '{"psycopg": 1}') == {"sqlalchemy"}
