"""Which changes of the API break a client, and which do not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tools.release import breaking_changes

DOCUMENT: dict[str, Any] = {
    "paths": {
        "/api/things": {
            "post": {
                "parameters": [
                    {"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 100}},
                ],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
                },
                "responses": {
                    "200": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}}
                    },
                    "204": {"description": "Nothing."},
                },
            }
        }
    },
    "components": {
        "schemas": {
            "Thing": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "maxLength": 50},
                    "kind": {"type": "string", "enum": ["a", "b"]},
                    "weight": {"type": ["number", "null"]},
                },
            },
            "Answer": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "state": {"type": "string", "enum": ["new"]},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Answer"}},
                    "owner": {"anyOf": [{"$ref": "#/components/schemas/Owner"}, {"type": "null"}]},
                },
            },
            "Owner": {"type": "object", "properties": {"name": {"type": "string"}}},
        }
    },
}
Change = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], object]


def _changes(change: Change) -> list[str]:
    new = copy.deepcopy(DOCUMENT)
    schemas = new["components"]["schemas"]
    change(
        new["paths"]["/api/things"]["post"], schemas["Thing"], schemas["Answer"] | {"Owner": schemas["Owner"]}
    )
    return breaking_changes.breaking_changes(DOCUMENT, new)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda post, *_: post["parameters"].clear(), "the query parameter limit was removed."),
        (lambda post, *_: post["parameters"][0].update(required=True), "limit became required."),
        (
            lambda post, *_: post["parameters"][0]["schema"].update(maximum=50),
            "maximum was lowered to 50.",
        ),
        (lambda post, *_: post["responses"].pop("204"), "the response 204 was removed."),
        (
            lambda post, *_: post["responses"]["200"].update(content={}),
            "no longer of type application/json.",
        ),
        (
            lambda post, *_: post["requestBody"].update(content={}),
            "application/json are no longer accepted.",
        ),
        (lambda _, thing, __: thing["required"].append("kind"), "request.kind became required."),
        (lambda _, thing, __: thing["properties"].pop("kind"), "request.kind was removed."),
        (
            lambda _, thing, __: thing["properties"]["kind"]["enum"].remove("b"),
            "request.kind no longer accepts b.",
        ),
        (lambda _, thing, __: thing["properties"]["name"].update(minLength=2), "minLength was raised to 2."),
        (
            lambda _, thing, __: thing["properties"]["name"].update(pattern="^a"),
            "the pattern was changed to ^a.",
        ),
        (
            lambda _, thing, __: thing["properties"]["name"].update(enum=["x"]),
            "other values than those listed.",
        ),
        (lambda _, thing, __: thing["properties"]["weight"].update(type="number"), "no longer accepts null."),
        (
            lambda _, thing, __: thing.update(additionalProperties=False),
            "no longer accepts other properties.",
        ),
        (lambda _, __, answer: answer["required"].clear(), "response 200.id is no longer always present."),
        (lambda _, __, answer: answer["properties"].pop("state"), "response 200.state was removed."),
        (
            lambda _, __, answer: answer["properties"]["id"].update(type=["string", "null"]),
            "may now be null.",
        ),
        (lambda _, __, answer: answer["Owner"]["properties"].clear(), "response 200.owner.name was removed."),
    ],
)
def test_a_breaking_change_is_named(change: Change, sentence: str) -> None:
    found = _changes(change)

    assert len(found) == 1
    assert found[0].startswith("POST /api/things")
    assert found[0].endswith(sentence)


@pytest.mark.parametrize(
    "change",
    [
        lambda _, __, ___: None,
        lambda post, *_: post["parameters"].append({"in": "query", "name": "x", "schema": {}}),
        lambda post, *_: post["parameters"][0]["schema"].update(maximum=500),
        lambda post, *_: post["responses"].update({"202": {}}),
        lambda _, thing, __: thing["properties"].update(colour={"type": "string"}),
        lambda _, thing, __: thing["required"].clear(),
        lambda _, thing, __: thing["properties"]["kind"]["enum"].append("c"),
        lambda _, thing, __: thing["properties"]["name"].update(type=["string", "null"]),
        lambda _, __, answer: answer["properties"].update(colour={"type": "string"}),
        lambda _, __, answer: answer["properties"]["state"]["enum"].append("done"),
        lambda _, __, answer: answer["required"].append("state"),
    ],
)
def test_what_clients_must_accept_is_no_breaking_change(change: Change) -> None:
    assert _changes(change) == []


def test_a_removed_operation_is_named() -> None:
    assert breaking_changes.breaking_changes(DOCUMENT, DOCUMENT | {"paths": {}}) == [
        "POST /api/things: the operation was removed."
    ]


def test_the_released_document_is_compared(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    assert breaking_changes.main() == 0
    released = json.loads(breaking_changes.RELEASED.read_text(encoding="utf-8"))

    released["paths"]["/api/gone"] = {"get": {"responses": {}}}
    monkeypatch.setattr(
        breaking_changes, "_read", lambda path: released if path == breaking_changes.RELEASED else DOCUMENT
    )

    assert breaking_changes.main() == 1
    assert "GET /api/gone: the operation was removed." in capsys.readouterr().err
