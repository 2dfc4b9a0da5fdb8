"""The properties of people in a CRM, as it describes them: which can be written, and with which values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.features.crm.vendors.exchange import text

MAX_OPTIONS = 500
"""The options of a property that are kept; the values of one with more are not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property of people, by the name with which the API writes it.

    `options` are the values that it accepts, each with its label; without any, it accepts every text.
    """

    name: str
    label: str
    is_writable: bool = True
    options: Sequence[tuple[str, str]] = ()

    @property
    def values(self) -> list[str]:
        """Return the values of the options."""
        return [value for value, _label in self.options]

    def as_json(self) -> dict[str, Any]:
        """Return the property as it is stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Property:
        """Return a stored property."""
        return cls(**{**stored, "options": [(value, label) for value, label in stored["options"]]})


def options(listed: Sequence[Mapping[str, Any]] | None, value: str, label: str) -> list[tuple[str, str]]:
    """Return the options of a property by the names of their value and their label; none if too many."""
    found = [(text(one.get(value)), text(one.get(label))) for one in listed or ()]
    return found if len(found) <= MAX_OPTIONS else []
