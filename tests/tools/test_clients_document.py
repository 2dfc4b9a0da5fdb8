"""The document from which the clients are generated."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tools.clients import document
from tools.clients.python_client import with_open_enums


@pytest.fixture
def served(client: FlaskClient) -> dict[str, Any]:
    content: dict[str, Any] = client.get("/openapi.json").get_json()
    return content


@pytest.fixture
def reduced(served: dict[str, Any]) -> dict[str, Any]:
    return document.for_generators(served)


def test_the_committed_document_is_that_of_the_api(served: dict[str, Any]) -> None:
    is_current = document.PATH.read_text(encoding="utf-8") == document.text(served)

    assert is_current, "clients/openapi.json is outdated. Write it again: python3 dev.py clients"


def test_the_document_has_every_operation_of_the_api_under_a_name_of_its_own(
    served: dict[str, Any], reduced: dict[str, Any]
) -> None:
    operations = [operation for item in reduced["paths"].values() for operation in item.values()]

    names = {operation["operationId"] for operation in operations}

    assert reduced["paths"].keys() == {path for path in served["paths"] if path.startswith("/api/")}
    assert len(names) == len(operations)
    assert {"post_lookup", "post_reveal_email", "get_session"} <= names


def test_every_reference_leads_to_a_schema_with_a_short_name(reduced: dict[str, Any]) -> None:
    text = json.dumps(reduced)

    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', text))

    assert referred <= reduced["components"]["schemas"].keys()
    assert not [name for name in reduced["components"]["schemas"] if name.endswith("Schema")]


def test_a_response_may_have_a_value_that_is_not_listed_and_a_request_may_not(
    reduced: dict[str, Any],
) -> None:
    opened = with_open_enums(reduced)["components"]["schemas"]

    assert "enum" in reduced["components"]["schemas"]["Job"]["properties"]["status"]
    assert "enum" not in opened["Job"]["properties"]["status"]
    assert "enum" in opened["RevealEmail"]["properties"]["min_status"]


def test_the_document_does_not_depend_on_the_order_of_the_routes(served: dict[str, Any]) -> None:
    reversed_paths = dict(reversed(served["paths"].items()))

    assert document.text(served | {"paths": reversed_paths}) == document.text(served)
