"""`clients/openapi.json`: the part of /openapi.json that a generator of clients reads."""

from __future__ import annotations

import json
import os
import secrets
from typing import Any
from unittest import mock

from tools.state import ROOT

PATH = ROOT / "clients" / "openapi.json"
REFERENCE = "#/components/schemas/"
SUFFIX = "Schema"
CHOICES = ("anyOf", "oneOf")
BODIES = ("application/json", "multipart/form-data")
PROBLEM = "application/problem+json"
ERROR = {"description": "An error.", "content": {PROBLEM: {"schema": {"$ref": f"{REFERENCE}Problem"}}}}
EXAMPLES = ("example", "examples")


def served() -> dict[str, Any]:
    """Return /openapi.json of an application that neither a database nor a queue stands behind."""
    from cli.application import create_app  # noqa: PLC0415 - importing it takes a second

    unused = {"DATABASE_URL": "sqlite://", "REDIS_URL": "redis://127.0.0.1:1/0"}
    unused |= {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    with mock.patch.dict(os.environ, unused):
        app = create_app()
    try:
        document: dict[str, Any] = app.test_client().get("/openapi.json").get_json()
        return document
    finally:
        app.extensions["services"].listener.close()
        app.extensions["services"].database.close()


def text(document: dict[str, Any]) -> str:
    """Return the document for generators as the text of the file, the same for the same API."""
    return json.dumps(for_generators(document), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def for_generators(document: dict[str, Any]) -> dict[str, Any]:
    """Return the operations under /api and their schemas, in terms that generators understand.

    Left out are what only validates (the required sets of fields of an object), what only explains
    (examples, and the codes of each error), response headers, and bodies that are files as such. Names lose
    what repeats: post_lookup_lookup.
    """
    paths = {path: item for path, item in document["paths"].items() if path.startswith("/api/")}
    schemas = {name: _plain(schema) for name, schema in document["components"]["schemas"].items()}
    reduced = {
        "openapi": document["openapi"],
        "info": document["info"],
        "servers": document["servers"],
        "paths": {
            path: {method: _operation(operation) for method, operation in item.items()}
            for path, item in paths.items()
        },
        "components": {"schemas": schemas, "securitySchemes": document["components"]["securitySchemes"]},
    }
    return _with_short_names(_without_examples(reduced))


def _operation(operation: dict[str, Any]) -> dict[str, Any]:
    words = dict.fromkeys(operation["operationId"].split("_"))
    responses = {
        status: {name: part for name, part in response.items() if name != "headers"}
        for status, response in operation["responses"].items()
        if PROBLEM not in response.get("content", {})
    }
    kept = operation | {"operationId": "_".join(words), "responses": responses | {"default": ERROR}}
    if "requestBody" in operation:
        body = operation["requestBody"]
        content = {type_: schema for type_, schema in body["content"].items() if type_ in BODIES}
        kept["requestBody"] = body | {"content": content}
    return kept


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object without the choice between sets of required fields."""
    dropped = CHOICES if "properties" in schema else ()
    return {keyword: value for keyword, value in schema.items() if keyword not in dropped}


def _with_short_names(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with schemas named RevealEmail instead of RevealEmailSchema."""
    schemas = document["components"]["schemas"]
    names = {name: name.removesuffix(SUFFIX) for name in schemas}
    content = json.dumps(document | {"components": document["components"] | {"schemas": {}}})
    definitions = json.dumps({names[name]: schema for name, schema in schemas.items()})
    for name, short in names.items():
        content = content.replace(f'"{REFERENCE}{name}"', f'"{REFERENCE}{short}"')
        definitions = definitions.replace(f'"{REFERENCE}{name}"', f'"{REFERENCE}{short}"')
    renamed: dict[str, Any] = json.loads(content)
    renamed["components"]["schemas"] = json.loads(definitions)
    return renamed


def _without_examples(part: Any) -> Any:  # noqa: ANN401 - JSON has every type
    if isinstance(part, list):
        return [_without_examples(element) for element in part]
    if not isinstance(part, dict):
        return part
    return {
        name: {property_: _without_examples(schema) for property_, schema in value.items()}
        if name == "properties"
        else _without_examples(value)
        for name, value in part.items()
        if name not in EXAMPLES
    }
