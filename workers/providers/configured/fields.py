"""Schema fields of configured providers: expressions, templates, rates, URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from jmespath.parser import ParsedResult
from marshmallow import ValidationError, fields, validate

from app.domain.errors import InvalidValue
from app.domain.providers.rates import Rate, parse_rates
from workers.providers.configured import templates
from workers.providers.configured.templates import PLACEHOLDERS

AMOUNT = validate.Range(min=0, max=1_000_000_000)
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VISIBLE = re.compile(r"[\x20-\x7e]+")


class Expression(fields.Field[ParsedResult]):
    """A JMESPath expression (https://jmespath.org/specification.html)."""

    def _deserialize(self, value: object, attr: str | None, data: object, **options: Any) -> ParsedResult:  # noqa: ARG002 -- marshmallow's
        if not isinstance(value, str):
            raise ValidationError("Must be a JMESPath expression in quotes.")
        try:
            compiled: ParsedResult = jmespath.compile(value)
        except JMESPathError as error:
            raise ValidationError(f"{value!r} is not a JMESPath expression.") from error
        unknown = set(_functions(compiled.parsed)) - Functions.FUNCTION_TABLE.keys()
        if unknown:
            raise ValidationError(f"JMESPath has no function {', '.join(sorted(unknown))}().")
        return compiled


class Templates(fields.Field[Any]):
    """A template, or a JSON tree with templates; `kind` is its Python type."""

    def __init__(self, kind: type, expected: str, **options: Any) -> None:
        self.kind, self.expected = kind, expected
        super().__init__(**options)

    def _deserialize(self, value: object, attr: str | None, data: object, **options: Any) -> object:  # noqa: ARG002 -- marshmallow's
        if not isinstance(value, self.kind):
            raise ValidationError(f"Must be {self.expected}.")
        return _parse_templates(value)


class Rates(fields.Field[tuple[Rate, ...]]):
    """Rates, such as 15/second;500/minute."""

    def _deserialize(self, value: object, attr: str | None, data: object, **options: Any) -> tuple[Rate, ...]:  # noqa: ARG002 -- marshmallow's
        try:
            return parse_rates(str(value))
        except InvalidValue as error:
            raise ValidationError(str(error)) from error


class RequiredPlaceholders(fields.List[Any]):
    """Placeholders that must have a value; for `email|linkedin_url` either is enough."""

    def _deserialize(self, value: object, attr: str | None, data: object, **options: Any) -> Any:  # noqa: ANN401 -- marshmallow's type is the list of the texts
        texts = super()._deserialize(value, attr, data, **options)
        needs = tuple(frozenset(name.strip() for name in str(text).split("|")) for text in texts)
        unknown = frozenset().union(*needs) - PLACEHOLDERS
        if unknown or not needs:
            raise ValidationError(f"Must list at least one of {', '.join(sorted(PLACEHOLDERS))}.")
        return needs


class ValueMap(fields.Dict):
    """Maps the provider's values, in any case, to ours; by default every value maps to itself."""

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(
            keys=fields.String(),
            values=fields.String(validate=validate.OneOf(allowed)),
            load_default={value: value for value in allowed},
        )

    def _deserialize(self, value: object, attr: str | None, data: object, **options: Any) -> dict[str, str]:
        values: dict[str, str] = super()._deserialize(value, attr, data, **options)  # type: ignore[no-untyped-call]
        return {value.strip().lower(): meaning for value, meaning in values.items()}


def is_path(text: str) -> None:
    """Raise an error unless the text is a path."""
    if not text.startswith("/") or "?" in text or "#" in text:
        raise ValidationError("Must start with / and contain no ? or #. Put parameters into query.")


def is_url(text: str) -> None:
    """Raise an error unless the text is the base URL of a service."""
    try:
        url = urlsplit(text)
        is_valid = url.scheme in {"http", "https"} and url.hostname and not url.username
    except ValueError:
        is_valid = False
    if not is_valid or any(char in text for char in "?#{}$ "):
        raise ValidationError(
            "Must be a URL such as https://crm.acme.com/api, without credentials, query or placeholder."
        )


def are_headers(headers: Mapping[str, str]) -> None:
    """Raise an error unless these can be sent as headers."""
    for name, text in headers.items():
        if not (HEADER.fullmatch(name) and _VISIBLE.fullmatch(text)):
            raise ValidationError(f"{name} is not a header name, or its value is not printable ASCII.")
        try:
            templates.variables(text)
        except InvalidValue as error:
            raise ValidationError(f"{name}: {error}") from error


def _functions(node: Mapping[str, Any]) -> Iterator[str]:
    """Return the functions that a parsed expression calls."""
    if node["type"] == "function_expression":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _functions(child)


def _parse_templates(node: object) -> object:
    if isinstance(node, dict):
        return {key: _parse_templates(child) for key, child in node.items()}
    if isinstance(node, list):
        return [_parse_templates(child) for child in node]
    if isinstance(node, bool | int | float):
        return node
    if not isinstance(node, str):
        raise ValidationError("A value must be a string, a number, true or false.")
    try:
        return templates.parse(node)
    except InvalidValue as error:
        raise ValidationError(str(error)) from error
