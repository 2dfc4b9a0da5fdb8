"""What a push may change: it fills empty properties, renews its own values, and keeps what people edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum


class Action(StrEnum):
    """What a push does with one property."""

    FILL = "fill"
    """It is empty in the CRM."""
    UPDATE = "update"
    """It still has the value that was written there last time."""
    SAME = "same"
    """It has this value already."""
    KEEP = "keep"
    """A person edited it, or it was there before."""


WRITTEN = frozenset({Action.FILL, Action.UPDATE})


def actions(
    current: Mapping[str, str], wanted: Mapping[str, str], is_ours: Callable[[str, str], bool]
) -> dict[str, Action]:
    """Return the action for each wanted property; `is_ours` states whether a push wrote the value there."""
    return {name: _action(name, current.get(name, ""), value, is_ours) for name, value in wanted.items()}


def _action(name: str, present: str, value: str, is_ours: Callable[[str, str], bool]) -> Action:
    if not present.strip():
        return Action.FILL
    if _folded(present) == _folded(value):
        return Action.SAME
    return Action.UPDATE if is_ours(name, present) else Action.KEEP


def _folded(value: str) -> str:
    """Return the value without differences that a CRM makes when it stores it: case and outer spaces."""
    return value.strip().casefold()
