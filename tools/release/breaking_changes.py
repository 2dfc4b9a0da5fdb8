"""`python -m tools.release.breaking_changes`: what in the API would break a client of the last release.

Compares clients/openapi.json with clients/released/openapi.json. The rules follow
Google's AIP-180 (https://google.aip.dev/180): clients rely on every operation, parameter and property of the
document, omit what is optional, and accept new properties, and new values where responses have enums.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.console import echo
from tools.release import schema_changes
from tools.state import ROOT

CURRENT = ROOT / "clients/openapi.json"
RELEASED = ROOT / "clients/released/openapi.json"
_METHODS = {"get", "put", "post", "delete", "patch"}


def breaking_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return one sentence for each change from the old to the new OpenAPI document that breaks a client."""
    return list(_operations(old, new))


def main() -> int:
    """Print the breaking changes since the last release; return 1 if there are any."""
    found = breaking_changes(_read(RELEASED), _read(CURRENT))
    for change in found:
        echo(change)
    if found:
        echo(
            f"{len(found)} changes break clients of the last release. Keep the old form beside the new one;"
            " or raise API_VERSION, and copy clients/openapi.json to clients/released/openapi.json."
        )
        return 1
    echo("No change breaks a client of the last release.")
    return 0


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _operations(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for path, item in old["paths"].items():
        for method in _METHODS & item.keys():
            name = f"{method.upper()} {path}"
            operation = new["paths"].get(path, {}).get(method)
            if operation is None:
                yield f"{name}: the operation was removed."
                continue
            comparison = schema_changes.Comparison(old, new, name)
            yield from _parameters(comparison, item[method], operation)
            yield from _request(comparison, item[method], operation)
            yield from _responses(comparison, item[method], operation)


def _parameters(
    comparison: schema_changes.Comparison, old: dict[str, Any], new: dict[str, Any]
) -> Iterator[str]:
    before, after = _by_name(old), _by_name(new)
    for key in before.keys() - after.keys():
        yield f"{comparison.operation}: the {key[0]} parameter {key[1]} was removed."
    for key, parameter in after.items():
        was_required = key in before and before[key].get("required", False)
        if parameter.get("required", False) and not was_required:
            yield f"{comparison.operation}: the {key[0]} parameter {key[1]} became required."
        if key in before:
            yield from comparison.accepted(before[key]["schema"], parameter["schema"], key[1])


def _by_name(operation: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(parameter["in"], parameter["name"]): parameter for parameter in operation.get("parameters", [])}


def _request(
    comparison: schema_changes.Comparison, old: dict[str, Any], new: dict[str, Any]
) -> Iterator[str]:
    before, after = old.get("requestBody", {}), new.get("requestBody", {})
    if after.get("required", False) and not before.get("required", False):
        yield f"{comparison.operation}: a request body became required."
    for media_type, content in before.get("content", {}).items():
        if media_type not in after.get("content", {}):
            yield f"{comparison.operation}: requests of type {media_type} are no longer accepted."
            continue
        yield from comparison.accepted(content["schema"], after["content"][media_type]["schema"], "request")


def _responses(
    comparison: schema_changes.Comparison, old: dict[str, Any], new: dict[str, Any]
) -> Iterator[str]:
    for status, response in old["responses"].items():
        after = new["responses"].get(status)
        if after is None:
            yield f"{comparison.operation}: the response {status} was removed."
            continue
        for media_type, content in response.get("content", {}).items():
            if media_type not in after.get("content", {}):
                yield f"{comparison.operation}: {status} is no longer of type {media_type}."
                continue
            schema = after["content"][media_type]["schema"]
            yield from comparison.returned(content["schema"], schema, f"response {status}")


if __name__ == "__main__":
    sys.exit(main())
