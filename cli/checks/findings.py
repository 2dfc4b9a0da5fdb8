"""A finding: its subject, its state, and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How serious a finding is; only an error fails `flask doctor`."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `remedy` is empty if nothing is to be done."""

    what: str
    level: Level
    state: str
    remedy: str = ""


def ok(what: str, state: str) -> Finding:
    """Return a finding that needs no action."""
    return Finding(what, Level.OK, state)


def note(what: str, state: str, remedy: str = "") -> Finding:
    """Return a finding that may be intended."""
    return Finding(what, Level.NOTE, state, remedy)


def warning(what: str, state: str, remedy: str) -> Finding:
    """Return a finding that degrades the service."""
    return Finding(what, Level.WARNING, state, remedy)


def error(what: str, state: str, remedy: str) -> Finding:
    """Return a finding that stops the service, loses data or opens it to anyone."""
    return Finding(what, Level.ERROR, state, remedy)
