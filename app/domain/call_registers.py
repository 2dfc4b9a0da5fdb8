"""Do-not-call registers: what the service does with the numbers in them, and what it says about a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.messages import Message


class Effect(StrEnum):
    """What is done with a number in a register, from the least strict to the strictest."""

    FLAG = "flag"
    HIDE_FOR_MEMBERS = "hide_for_members"
    HIDE = "hide"

    @property
    def label(self) -> Message:
        """Return the effect for a reader."""
        return _LABELS[self]

    def hides(self, *, as_admin: bool) -> bool:
        """Return whether a number is hidden from an admin, or from a member."""
        return self is Effect.HIDE or (self is Effect.HIDE_FOR_MEMBERS and not as_admin)


_LABELS = {
    Effect.FLAG: Message("Show with a warning"),
    Effect.HIDE_FOR_MEMBERS: Message("Hide from members"),
    Effect.HIDE: Message("Hide from everybody"),
}
_STRICTNESS = {effect: rank for rank, effect in enumerate(Effect)}


def strictest(effects: Iterable[Effect]) -> Effect:
    """Return the strictest of these effects; without any, a number is shown with a warning."""
    return max(effects, key=_STRICTNESS.__getitem__, default=Effect.FLAG)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a register says about a number. `date` is the date of the register's files.

    `is_outdated` means that the register is older than it may be used for calls.
    """

    register_id: str
    name: str
    date: datetime
    is_listed: bool
    is_outdated: bool
    effect: Effect


def is_hidden(listings: Iterable[Listing], *, as_admin: bool) -> bool:
    """Return whether a number with these listings is hidden from an admin, or from a member."""
    return any(one.is_listed and one.effect.hides(as_admin=as_admin) for one in listings)


def do_not_call(reported: bool | None, listings: Sequence[Listing]) -> bool | None:  # noqa: FBT001 -- a value
    """Return whether a number must not be called, by what its source reported and by the registers.

    It must not if either says so. That a number is not in a register counts only while the register is
    current.
    """
    if reported or any(one.is_listed for one in listings):
        return True
    return False if any(not one.is_outdated for one in listings) else reported


def checked_at(reported_at: datetime | None, listings: Sequence[Listing]) -> datetime | None:
    """Return when the answer of `do_not_call` was known: the date of the deciding register, or the source's.

    Of several registers the oldest counts.
    """
    listed = [one.date for one in listings if one.is_listed]
    current = [one.date for one in listings if not one.is_outdated]
    return min(listed or current, default=reported_at)
