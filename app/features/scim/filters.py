"""Filters of SCIM (RFC 7644, section 3.4.2.2): parsed once, and matched against resources."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.features.scim.errors import ScimError

Resource: TypeAlias = Mapping[str, Any]
Matches: TypeAlias = Callable[[Resource], bool]
MAX_LENGTH = 2000
MAX_DEPTH = 20
CASE_EXACT = frozenset({"id", "externalid"})
_TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|[()\[\]]|[^\s()\[\]"]+)')
_URN = re.compile(r"urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):", re.IGNORECASE)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda own, given: own == given,
    "ne": lambda own, given: own != given,
    "co": lambda own, given: str(given) in str(own),
    "sw": lambda own, given: str(own).startswith(str(given)),
    "ew": lambda own, given: str(own).endswith(str(given)),
    "gt": lambda own, given: own > given,
    "ge": lambda own, given: own >= given,
    "lt": lambda own, given: own < given,
    "le": lambda own, given: own <= given,
}


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter; `equal` is the attribute and the text if it asks only for that: `userName eq "ada"`."""

    matches: Matches
    equal: tuple[str, str] | None = None


def parse(text: str) -> Filter:
    """Return the filter of a text.

    Raises:
        ScimError: it is no filter.

    """
    if len(text) > MAX_LENGTH:
        raise _invalid(f"The filter is longer than {MAX_LENGTH} characters.")
    parser = _Parser(list(_tokens(text)))
    found = parser.alternatives(0)
    if parser.rest:
        raise _invalid(f"The filter goes on after its end, at {parser.rest[0]!r}.")
    return Filter(found, parser.equal if parser.comparisons == 1 and not parser.is_negated else None)


def values(resource: Resource, path: str) -> list[Any]:
    """Return the values of an attribute such as `name.familyName`, in any case; of a list, of each item."""
    current: list[Any] = [resource]
    for step in path.lower().split("."):
        found = [
            value
            for holder in current
            if isinstance(holder, Mapping)
            for name, value in holder.items()
            if name.lower() == step and value is not None
        ]
        current = [item for value in found for item in (value if isinstance(value, list) else [value])]
    return [
        value.get("value") if isinstance(value, Mapping) and "value" in value else value for value in current
    ]


def literal(token: str) -> Any:  # noqa: ANN401 -- a text, number, boolean or null
    """Return the value of a token: a text in double quotes, a number, true, false or null."""
    try:
        return json.loads(token if token.startswith('"') else token.lower())
    except ValueError as error:
        raise _invalid(f"{token!r} is no value. Put texts in double quotes.") from error


def plain_path(path: str) -> str:
    """Return the path of an attribute without the URN of the core schemas."""
    return _URN.sub("", path)


class _Parser:
    """A recursive descent through the tokens: or, and, not, groups, comparisons."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens
        self.comparisons = 0
        self.is_negated = False
        self.equal: tuple[str, str] | None = None

    def alternatives(self, depth: int) -> Matches:
        if depth > MAX_DEPTH:
            raise _invalid(f"The filter is nested deeper than {MAX_DEPTH} levels.")
        found = self._all(depth)
        while self._next_is("or"):
            found = _either(found, self._all(depth))
        return found

    def _all(self, depth: int) -> Matches:
        found = self._one(depth)
        while self._next_is("and"):
            found = _both(found, self._one(depth))
        return found

    def _one(self, depth: int) -> Matches:
        if self._next_is("not"):
            self.is_negated = True
            inner = self._one(depth + 1)
            return lambda resource: not inner(resource)
        if self._next_is("("):
            inner = self.alternatives(depth + 1)
            self._require(")")
            return inner
        path = plain_path(self._take())
        if self._next_is("["):
            inner = self.alternatives(depth + 1)
            self._require("]")
            return _any_item(path, inner)
        return self._comparison(path)

    def _comparison(self, path: str) -> Matches:
        self.comparisons += 1
        operator = self._take().lower()
        if operator == "pr":
            return lambda resource: bool(values(resource, path))
        if operator not in _COMPARISONS:
            raise _invalid(f"{operator!r} is no operator. Use eq, ne, co, sw, ew, gt, ge, lt, le or pr.")
        given = literal(self._take())
        if operator == "eq" and isinstance(given, str):
            self.equal = (path.lower(), given)
        return _compared(path, operator, given)

    def _next_is(self, word: str) -> bool:
        if self.rest and self.rest[0].lower() == word:
            self.rest.pop(0)
            return True
        return False

    def _take(self) -> str:
        if not self.rest:
            raise _invalid("The filter ends too early.")
        return self.rest.pop(0)

    def _require(self, word: str) -> None:
        if not self._next_is(word):
            raise _invalid(f"{word!r} is missing.")


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while text[position:].strip():
        token = _TOKEN.match(text, position)
        if token is None:
            raise _invalid("A text in the filter has no end.")
        position = token.end()
        yield token[1]


def _compared(path: str, operator: str, given: Any) -> Matches:  # noqa: ANN401 -- as above
    compare, is_exact = _COMPARISONS[operator], path.lower() in CASE_EXACT
    wanted = _comparable(given, is_exact=is_exact)

    def matches(resource: Resource) -> bool:
        own = [_comparable(value, is_exact=is_exact) for value in values(resource, path)]
        if operator == "ne":
            return wanted not in own
        if wanted is None:
            return not own
        try:
            return any(compare(value, _as_type_of(value, wanted)) for value in own)
        except TypeError:
            return False

    return matches


def _comparable(value: Any, *, is_exact: bool) -> Any:  # noqa: ANN401 -- as above
    return value.lower() if isinstance(value, str) and not is_exact else value


def _as_type_of(own: Any, given: Any) -> Any:  # noqa: ANN401 -- as above
    """Return the given value as a boolean if it is compared with one: some providers send them as texts."""
    return given == "true" if isinstance(own, bool) and isinstance(given, str) else given


def _either(one: Matches, other: Matches) -> Matches:
    return lambda resource: one(resource) or other(resource)


def _both(one: Matches, other: Matches) -> Matches:
    return lambda resource: one(resource) and other(resource)


def _any_item(path: str, inner: Matches) -> Matches:
    name = path.lower()

    def matches(resource: Resource) -> bool:
        found = next((value for key, value in resource.items() if key.lower() == name), None)
        return any(inner(item) for item in found or () if isinstance(item, Mapping))

    return matches


def _invalid(detail: str) -> ScimError:
    return ScimError(400, detail, "invalidFilter")
