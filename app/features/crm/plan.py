"""What a push may change: it fills empty properties, renews its own values, and keeps what people edited.

An empty value removes what the push before wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol


class Action(StrEnum):
    """What a push does with one property."""

    FILL = "fill"
    """It is empty in the CRM."""
    UPDATE = "update"
    """It still has the value that was written there last time; an empty one removes it."""
    SAME = "same"
    """It has this value already."""
    KEEP = "keep"
    """A person edited it, or it was there before."""
    REFUSED = "refused"
    """The CRM did not accept the value."""


WRITTEN = frozenset({Action.FILL, Action.UPDATE})


class Written(Protocol):
    """Recognizes the values that pushes wrote to a record."""

    def has(self, name: str, value: str) -> bool:
        """Return whether a push wrote this value to the property."""

    def is_stored_form(self, name: str, stored: str, value: str) -> bool:
        """Return whether the CRM stored the value so when the last push wrote it."""


def actions(current: Mapping[str, str], wanted: Mapping[str, str], written: Written) -> dict[str, Action]:
    """Return the action for each wanted property."""
    return {name: _action(name, current.get(name, ""), value, written) for name, value in wanted.items()}


def _action(name: str, present: str, value: str, written: Written) -> Action:
    if _folded(present) == _folded(value):
        return Action.SAME
    if not present.strip():
        return Action.FILL
    if written.is_stored_form(name, present, value):
        return Action.SAME
    return Action.UPDATE if written.has(name, present) else Action.KEEP


def _folded(value: str) -> str:
    """Return the value without differences that a CRM makes when it stores it: case and outer spaces."""
    return value.strip().casefold()
