"""The addresses and the number of a person that a push may write, and those by which it finds the person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.findings import EmailStatus
from app.engine.contacts.emails import FORMER


@dataclass(frozen=True, slots=True)
class Addresses:
    """All owned addresses of a person, the one to write first; `today` is that one, None without one."""

    today: str | None = field(repr=False)
    owned: Sequence[str] = field(repr=False)


def choose(emails: Iterable[Mapping[str, Any]]) -> Addresses:
    """Return the addresses of a person, from the owned ones as they are represented, best first.

    An address that is not written may still be the one under which the CRM knows the person.
    """
    entries = sorted(emails, key=lambda entry: not _is_current(entry))  # stable: best first
    current = next(filter(_is_current, entries), None)
    return Addresses(None if current is None else current["email"], [entry["email"] for entry in entries])


def callable_number(phones: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the best owned number that may be called."""
    return next((entry["e164"] for entry in phones if not entry["do_not_call"]), None)


def _is_current(entry: Mapping[str, Any]) -> bool:
    """Return whether the person has the address today: not known to be invalid, nor of a former employer."""
    return entry["status"] != EmailStatus.INVALID and FORMER not in entry.get("status_reasons", ())
