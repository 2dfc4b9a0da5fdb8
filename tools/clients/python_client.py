"""The Python client: its package is generated, built into a wheel, and checked with the walk by mypy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.clients import python_deprecations
from tools.clients.commands import run
from tools.clients.document import REFERENCE
from tools.state import ROOT

SOURCE = ROOT / "clients" / "python"
PACKAGE = "contact_lookup_client"
WALK = SOURCE / "walk.py"


def build(document: dict[str, Any], folder: Path) -> Path:
    """Generate the package into an empty folder, check it with the walk, and return the wheel.

    Raises:
        ClientError: a tool failed.

    """
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(PACKAGE, "__pycache__"))
    specification = folder / "openapi.json"
    specification.write_text(json.dumps(with_open_enums(document)))
    run(
        *("openapi-python-client", "generate", "--path", specification.name, "--output-path", PACKAGE),
        *("--meta", "none", "--config", "generator.yaml", "--fail-on-warning"),
        cwd=folder,
    )
    python_deprecations.add(document, folder / PACKAGE)
    (folder / PACKAGE / "py.typed").touch()
    # The generated code is not strict; its types are used, and only the walk is checked.
    run("mypy", "--strict", "--follow-imports", "silent", WALK.name, cwd=folder)
    run("hatchling", "build", "--target", "wheel", cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def with_open_enums(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with lists of values in requests only.

    The generated classes refuse a value that is not listed, but a server may add values to its responses.
    """
    schemas = document["components"]["schemas"]
    sent = set(_sent(document))
    opened = {name: schema if name in sent else _opened(schema) for name, schema in schemas.items()}
    return document | {"components": document["components"] | {"schemas": opened}}


def _sent(document: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the schemas that a request may contain."""
    schemas = document["components"]["schemas"]
    operations = (operation for item in document["paths"].values() for operation in item.values())
    todo = [name for operation in operations for name in _references(operation.get("requestBody", {}))]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            yield name
            todo += _references(schemas[name])


def _references(part: Any) -> list[str]:  # noqa: ANN401 - JSON has every type
    if isinstance(part, list):
        return [name for element in part for name in _references(element)]
    if not isinstance(part, dict):
        return []
    own = [part["$ref"].removeprefix(REFERENCE)] if isinstance(part.get("$ref"), str) else []
    return own + [name for element in part.values() for name in _references(element)]


def _opened(part: Any) -> Any:  # noqa: ANN401 - JSON has every type
    if isinstance(part, list):
        return [_opened(element) for element in part]
    if not isinstance(part, dict):
        return part
    return {name: _opened(element) for name, element in part.items() if not _is_enum(name, element)}


def _is_enum(name: str, value: object) -> bool:
    return name == "enum" and isinstance(value, list)
