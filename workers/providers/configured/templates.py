"""Request templates: texts with placeholders such as `{company_domain}`, filled with a subject's values.

A placeholder is one of `PLACEHOLDERS`, without attribute, index, format or expression. A literal brace is
doubled, as in `{{`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any
from urllib.parse import quote

from app.domain.errors import InvalidValue
from app.domain.normal.names.names import parse_name
from app.domain.records.subjects import Subject

PLACEHOLDERS = frozenset(
    (
        "first_name", "last_name", "full_name", "company_domain", "company_name", "linkedin_url", "email",
        "phone",
    )
)  # fmt: skip
_DOTS = re.compile(r"\.*")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A text in pieces: each is a literal and the placeholder that follows it, or None."""

    pieces: tuple[tuple[str, str | None], ...]

    @property
    def names(self) -> frozenset[str]:
        """Return the placeholders of the template."""
        return frozenset(name for _literal, name in self.pieces if name)

    def fill(self, values: Mapping[str, str], encode: Callable[[str], str] = str) -> str | None:
        """Return the text with each value encoded by `encode`; None if one is missing."""
        if not self.names <= values.keys():
            return None
        return "".join(literal + (encode(values[name]) if name else "") for literal, name in self.pieces)


def parse(text: str) -> Template:
    """Parse a template.

    Raises:
        InvalidValue: a brace is unmatched, or the text between two is not a placeholder.

    """
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise InvalidValue(f"{error}; write a literal brace as {{{{ or }}}}.") from error
    for _literal, name, format_spec, conversion in parsed:
        if name is not None and (name not in PLACEHOLDERS or format_spec or conversion):
            raise InvalidValue(
                f"{{{name}}} is not a placeholder; use one of {', '.join(sorted(PLACEHOLDERS))}."
            )
    return Template(tuple((literal, name) for literal, name, _format_spec, _conversion in parsed))


def values_of(subject: Subject) -> dict[str, str]:
    """Return the known values by placeholder; full and split names are derived from each other."""
    values = {name: value for name, value in subject.as_dict().items() if name in PLACEHOLDERS}
    if subject.name:
        values.setdefault("full_name", subject.name)
        try:
            name = parse_name(subject.name)
        except InvalidValue:  # a stored name without a letter
            return values
        parts = {"first_name": name.first, "last_name": name.last}
        values = {key: part for key, part in parts.items() if part} | values
    return values


def filled_path(template: Template, values: Mapping[str, str]) -> str | None:
    """Fill a path; each value is escaped to stay within its segment. Return None if one cannot be used."""
    if any(_DOTS.fullmatch(values.get(name, "")) for name in template.names):
        return None  # missing, or path traversal: /people/..
    return template.fill(values, lambda value: quote(value, safe=""))


def filled(node: object, values: Mapping[str, str]) -> Any:  # noqa: ANN401 -- the JSON that its caller has written
    """Fill the templates in a JSON tree; omit those without a value, and containers left empty by that."""
    if isinstance(node, Template):
        return node.fill(values)
    if isinstance(node, Mapping):
        children = ((key, filled(child, values)) for key, child in node.items())
        items = {key: value for key, value in children if value is not None}
        return items if items or not node else None
    if isinstance(node, list):
        elements = [value for child in node if (value := filled(child, values)) is not None]
        return elements if elements or not node else None
    return node


def variables(text: str) -> frozenset[str]:
    """Return the environment variables that a header's value names, as in `Bearer ${CRM_TOKEN}`.

    Raises:
        InvalidValue: a `${` is not followed by a name and a brace.

    """
    if "${" in _VARIABLE.sub("", text):
        raise InvalidValue("Write an environment variable as ${NAME}.")
    return frozenset(_VARIABLE.findall(text))


def with_variables(text: str, values: Mapping[str, str]) -> str:
    """Fill in the environment variables; an unknown one becomes empty."""
    return _VARIABLE.sub(lambda match: values.get(match[1], ""), text)
