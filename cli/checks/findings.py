"""A finding: what was examined, its state, and what to do about it."""

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
    """One line of the report; `remedy` is empty where there is nothing to do."""

    what: str
    level: Level
    state: str
    remedy: str = ""


def ok(what: str, state: str) -> Finding:
    """Return a finding that needs nothing."""
    return Finding(what, Level.OK, state)


def note(what: str, state: str, remedy: str = "") -> Finding:
    """Return a finding that may be intended."""
    return Finding(what, Level.NOTE, state, remedy)


def warning(what: str, state: str, remedy: str) -> Finding:
    """Return a finding with which the service runs, but not well."""
    return Finding(what, Level.WARNING, state, remedy)


def error(what: str, state: str, remedy: str) -> Finding:
    """Return a finding with which the service does not run, loses data or is open to strangers."""
    return Finding(what, Level.ERROR, state, remedy)
