"""The differences of two JSON Schemas that break a client, of requests and of responses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_PREFIX = "#/components/schemas/"


@dataclass(slots=True)
class Comparison:
    """Compares schemas of one operation in two OpenAPI documents; each pair of named schemas once."""

    old: dict[str, Any]
    new: dict[str, Any]
    operation: str
    seen: set[tuple[str, str, bool]] = field(default_factory=set)

    def accepted(self, old: Any, new: Any, where: str) -> Iterator[str]:  # noqa: ANN401 -- a JSON Schema
        """Yield what a request may no longer be."""
        yield from self._compare(old, new, where, is_request=True)

    def returned(self, old: Any, new: Any, where: str) -> Iterator[str]:  # noqa: ANN401 -- a JSON Schema
        """Yield what a response no longer promises."""
        yield from self._compare(old, new, where, is_request=False)

    def _compare(self, old: Any, new: Any, where: str, *, is_request: bool) -> Iterator[str]:  # noqa: ANN401
        pair = (str(old.get("$ref")), str(new.get("$ref")), is_request)
        if "$ref" in old and pair in self.seen:
            return
        self.seen.add(pair)
        before, after = _resolved(old, self.old), _resolved(new, self.new)
        where = f"{self.operation}: {where}" if not where.startswith(self.operation) else where
        narrowed = _types(before), _types(after)
        lost = narrowed[0] - narrowed[1] if is_request else narrowed[1] - narrowed[0]
        if narrowed[0] and narrowed[1] and lost:
            verb = "no longer accepts" if is_request else "may now be"
            yield f"{where} {verb} {', '.join(sorted(lost))}."
        if is_request:
            yield from _narrowed(before, after, where)
        yield from self._properties(before, after, where, is_request=is_request)
        if "items" in before and "items" in after:
            yield from self._compare(before["items"], after["items"], f"{where}[]", is_request=is_request)
        for variant, counterpart in zip(_objects(before), _objects(after), strict=False):
            yield from self._compare(variant, counterpart, where, is_request=is_request)

    def _properties(
        self, old: dict[str, Any], new: dict[str, Any], where: str, *, is_request: bool
    ) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in before.keys() - after.keys():
            yield f"{where}.{name} was removed."
        required = set(old.get("required", [])), set(new.get("required", []))
        for name in (required[1] - required[0]) if is_request else ():
            yield f"{where}.{name} became required."
        for name in () if is_request else (required[0] - required[1]) & after.keys():
            yield f"{where}.{name} is no longer always present."
        for name in before.keys() & after.keys():
            yield from self._compare(before[name], after[name], f"{where}.{name}", is_request=is_request)


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(_PREFIX)]
    return schema


def _types(schema: dict[str, Any]) -> set[str]:
    """Return the JSON types of the schema; an empty set if it does not name them all."""
    variants = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
    if variants:
        return {name for variant in variants for name in _types(variant) or {"object"}}
    found = schema.get("type", [])
    types = {found} if isinstance(found, str) else set(found)
    return types | {"integer"} if "number" in types else types


def _objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the variants of a union that are not null."""
    variants = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
    return [variant for variant in variants if variant.get("type") != "null"]


def _narrowed(old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[str]:
    """Yield which values of a request are no longer accepted."""
    if "enum" in new:
        lost = [value for value in old.get("enum", []) if value not in new["enum"]]
        if lost or "enum" not in old:
            values = ", ".join(map(str, lost)) or "other values than those listed"
            yield f"{where} no longer accepts {values}."
    for name in _UPPER:
        if name in new and new[name] < old.get(name, float("inf")):
            yield f"{where}: {name} was lowered to {new[name]}."
    for name in _LOWER:
        if name in new and new[name] > old.get(name, float("-inf")) and new[name] != 0:
            yield f"{where}: {name} was raised to {new[name]}."
    if new.get("pattern") and new["pattern"] != old.get("pattern"):
        yield f"{where}: the pattern was changed to {new['pattern']}."
    if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{where} no longer accepts other properties."
