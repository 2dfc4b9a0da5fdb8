"""The typed clients say that an operation is deprecated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tools.clients import document, python_deprecations
from tools.clients.python_deprecations import UnexpectedCodeError

SENTENCE = "Deprecated since 2027-01-01. Use `POST /api/new` instead."
DOCUMENT: dict[str, Any] = {
    "paths": {
        "/api/old": {
            "post": {"operationId": "post_old", "deprecated": True, "description": f"{SENTENCE}\n\nMore."}
        },
        "/api/new": {"post": {"operationId": "post_new", "description": "New."}},
    }
}
GENERATED = '''from typing import Any

from ... import errors


def _get_kwargs(*, body: str) -> dict[str, Any]:
    return {"json": body}


def sync_detailed(*, body: str) -> dict[str, Any]:
    return _get_kwargs(body=body)


def sync(*, body: str) -> dict[str, Any]:
    """Call it."""
    return sync_detailed(body=body)
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package as the generator writes it, with an old and a new operation."""
    package = tmp_path / "generated_client"
    (package / "api" / "things").mkdir(parents=True)
    for folder in (package, package / "api", package / "api" / "things"):
        (folder / "__init__.py").touch()
    (package / "errors.py").touch()
    for operation in ("post_old", "post_new"):
        (package / "api" / "things" / f"{operation}.py").write_text(GENERATED)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for name in [name for name in sys.modules if name.startswith("generated_client")]:
        del sys.modules[name]


def module(operation: str) -> ModuleType:
    return importlib.import_module(f"generated_client.api.things.{operation}")


def test_a_call_of_a_deprecated_operation_warns_where_it_is_called(package: Path) -> None:
    python_deprecations.add(DOCUMENT, package)

    with pytest.warns(DeprecationWarning, match="post_old: Deprecated since") as warned:
        answer = module("post_old").sync(body="x")

    assert answer == {"json": "x"}
    assert [Path(warning.filename) for warning in warned] == [Path(__file__)]


def test_a_call_of_another_operation_does_not_warn(package: Path) -> None:
    python_deprecations.add(DOCUMENT, package)

    assert module("post_new").sync(body="x") == {"json": "x"}
    assert (package / "api/things/post_new.py").read_text() == GENERATED


@pytest.mark.parametrize("code", [None, "x = 1\n", "import os\n"])
def test_a_generator_that_writes_other_code_is_reported(package: Path, code: str | None) -> None:
    file = package / "api/things/post_old.py"
    file.unlink() if code is None else file.write_text(code)

    with pytest.raises(UnexpectedCodeError):
        python_deprecations.add(DOCUMENT, package)


def test_the_document_for_generators_keeps_the_announcement() -> None:
    entry = {"deprecated": True, "x-sunset": "2027-07-01", "operationId": "get_a", "responses": {}}
    served = {
        "openapi": "3.1.0",
        "info": {},
        "servers": [],
        "paths": {"/api/a": {"get": entry}},
        "components": {"schemas": {}, "securitySchemes": {}},
    }

    kept = document.for_generators(served)["paths"]["/api/a"]["get"]

    assert (kept["deprecated"], kept["x-sunset"]) == (True, "2027-07-01")
