"""PATCH (RFC 7644, section 3.5.2), also as Okta and Microsoft Entra send it.

They send operations as `Replace`, booleans as "True", attributes of a value by dotted names, `remove` with
the values to remove, and additions to items that a filter does not find, which are then created.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from app.features.scim import filters
from app.features.scim.errors import ScimError, invalid

PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
MAX_OPERATIONS = 1000
READ_ONLY = frozenset({"id", "meta", "schemas", "groups"})
_PATH = re.compile(r"(?P<name>[A-Za-z$][\w$-]*)(?:\[(?P<filter>.+)\])?(?:\.(?P<sub>[A-Za-z$][\w$-]*))?")
_ITEM_EQ = re.compile(r'([A-Za-z]\w*) eq ("(?:\\.|[^"\\])*"|\w+)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shape:
    """The attributes that a resource has: simple ones, complex ones, and lists of complex values."""

    simple: frozenset[str]
    complex: frozenset[str]
    lists: frozenset[str]

    def canonical(self, name: str) -> str | None:
        """Return the name in its case; None for an attribute that is not stored."""
        names = self.simple | self.complex | self.lists | READ_ONLY
        return next((known for known in names if known.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class _Target:
    name: str
    filter: str | None
    sub: str | None


def apply(resource: Mapping[str, Any], body: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the resource after all operations of the body; one that cannot be applied refuses all.

    Raises:
        ScimError: an operation is malformed, or concerns what only the server changes.

    """
    operations = next((value for name, value in body.items() if name.lower() == "operations"), None)
    if not isinstance(operations, list) or not operations:
        raise ScimError(400, "Send Operations, a list with at least one operation.", "invalidSyntax")
    if len(operations) > MAX_OPERATIONS:
        raise invalid(f"Send at most {MAX_OPERATIONS} operations.")
    patched = deepcopy(dict(resource))
    for operation in operations:
        _apply_one(patched, operation, shape)
    return patched


def _apply_one(patched: dict[str, Any], operation: object, shape: Shape) -> None:
    if not isinstance(operation, Mapping):
        raise ScimError(400, "Each operation is an object with op, path and value.", "invalidSyntax")
    kind, path, value = (operation.get(name) for name in ("op", "path", "value"))
    action = _ACTIONS.get(kind.lower()) if isinstance(kind, str) else None
    if action is None:
        raise ScimError(400, "op is add, replace or remove.", "invalidSyntax")
    if path:
        action(patched, _target(path, shape, is_explicit=True), value, shape)
        return
    if action is _remove:
        raise ScimError(400, "Say with path what to remove.", "noTarget")
    if not isinstance(value, Mapping):
        raise invalid("Without a path, value is an object with attributes.")
    for name, inner in value.items():
        action(patched, _target(name, shape, is_explicit=False), inner, shape)


def _target(path: object, shape: Shape, *, is_explicit: bool) -> _Target | None:
    """Return what a path names; None for an attribute that is not stored, such as those of extensions."""
    text = filters.plain_path(path) if isinstance(path, str) else ""
    if text.lower().startswith("urn:"):
        return None
    found = _PATH.fullmatch(text)
    if found is None:
        if is_explicit:
            raise ScimError(400, f"{str(path)[:100]!r} is no path.", "invalidPath")
        return None
    name = shape.canonical(found["name"])
    if name in READ_ONLY:
        if is_explicit:
            raise ScimError(400, f"{name} cannot be changed.", "mutability")
        return None
    return None if name is None else _Target(name, found["filter"], found["sub"])


def _add(patched: dict[str, Any], target: _Target | None, value: Any, shape: Shape) -> None:  # noqa: ANN401 -- JSON
    if target is None:
        return
    if target.name in shape.lists and target.filter is None and target.sub is None:
        patched[target.name] = _joined(patched.get(target.name) or [], _items(value))
    else:
        _set(patched, target, value, shape)


def _replace(patched: dict[str, Any], target: _Target | None, value: Any, shape: Shape) -> None:  # noqa: ANN401 -- JSON
    if target is None:
        return
    if target.name in shape.lists and target.filter is None and target.sub is None:
        patched[target.name] = _items(value)
    else:
        _set(patched, target, value, shape)


def _remove(patched: dict[str, Any], target: _Target | None, value: Any, shape: Shape) -> None:  # noqa: ANN401 -- JSON
    if target is None:
        return
    if target.name in shape.lists:
        patched[target.name] = _without(patched.get(target.name) or [], target, value)
    elif target.sub is not None:
        (patched.get(target.name) or {}).pop(_name_in(patched.get(target.name) or {}, target.sub), None)
    else:
        patched.pop(target.name, None)


def _set(patched: dict[str, Any], target: _Target, value: Any, shape: Shape) -> None:  # noqa: ANN401 -- JSON
    if target.name in shape.lists:
        items = list(patched.get(target.name) or [])
        changed = _found(items, target) or [_created(items, target)]
        for item in changed:
            item.update({target.sub: value} if target.sub else _object(value, target.name))
        patched[target.name] = _with_one_primary(items, changed)
    elif target.name in shape.complex:
        known = dict(patched.get(target.name) or {})
        changes = {target.sub: value} if target.sub else _object(value, target.name)
        for name, inner in changes.items():
            known[_name_in(known, name)] = inner
        patched[target.name] = known
    else:
        patched[target.name] = value


def _joined(known: list[dict[str, Any]], given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items with those that are added; one that has the value of another changes it."""
    items, changed = list(known), []
    by_value = _by_value(known)
    for item in given:
        same = by_value.get(item["value"]) if isinstance(item.get("value"), str) else None
        if same is None:
            items.append(item)
        else:
            same.update(item)
        changed.append(same or item)
    return _with_one_primary(items, changed)


def _by_value(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["value"]: item for item in items if isinstance(item.get("value"), str)}


def _with_one_primary(items: list[dict[str, Any]], changed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items; if a changed one is primary, the others no longer are (RFC 7644, 3.5.2)."""
    if any(map(_is_primary, changed)):
        for item in items:
            if _is_primary(item) and not any(item is each for each in changed):
                item["primary"] = False
    return items


def _is_primary(item: Mapping[str, Any]) -> bool:
    return str(item.get("primary")).lower() == "true"


def _found(items: list[dict[str, Any]], target: _Target) -> list[dict[str, Any]]:
    if target.filter is None:
        return items
    matches = filters.parse(target.filter).matches
    return [item for item in items if matches(item)]


def _created(items: list[dict[str, Any]], target: _Target) -> dict[str, Any]:
    """Add the item that a filter describes, such as `emails[type eq "work"]`."""
    described = _ITEM_EQ.findall(target.filter or "")
    item = {name: filters.literal(token) for name, token in described}
    items.append(item)
    return item


def _without(items: list[dict[str, Any]], target: _Target, value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- JSON
    if target.filter is None:
        if value is None:
            return []
        gone = _by_value(_items(value))
        return [item for item in items if item.get("value") not in gone]
    found = _found(items, target)
    if target.sub is None:
        return [item for item in items if item not in found]
    for item in found:
        item.pop(_name_in(item, target.sub), None)
    return items


def _items(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- JSON
    """Return the items of a list; a lone item is a list of one."""
    given = value if isinstance(value, list) else [value]
    if any(not isinstance(item, Mapping | str) for item in given):
        raise invalid("A list has objects with a value.")
    return [{"value": item} if isinstance(item, str) else dict(item) for item in given]


def _object(value: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    if not isinstance(value, Mapping):
        raise invalid(f"{name} is an object.")
    return dict(value)


def _name_in(holder: Mapping[str, Any], name: str) -> str:
    return next((known for known in holder if known.lower() == name.lower()), name)


_ACTIONS: dict[str, Callable[[dict[str, Any], _Target | None, Any, Shape], None]] = {
    "add": _add,
    "replace": _replace,
    "remove": _remove,
}
