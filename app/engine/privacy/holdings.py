"""What features hold about people, beyond the contacts themselves, and what they keep secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from app import feature_registry
from app.domain.records.person_matcher import PersonMatcher
from app.infra.database.session import Session

Export: TypeAlias = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """How a person's data in the tables of a feature is erased, counted and shown to them, and its secrets.

    `erase` runs in the transaction of the erasure, after the person is on the suppression list; rows that
    refer to a contact are deleted with it. `count` returns the number of rows about these contacts by table,
    for the receipt of an erasure, and `export` what they say, for the person. `encrypt_again` encrypts the
    secrets under the current key and returns how many.
    """

    erase: Callable[[Session, PersonMatcher], object] = lambda *_: None
    count: Callable[[Session, Sequence[str]], dict[str, int]] = lambda *_: {}
    export: Callable[[Session, Sequence[str]], Export] = lambda *_: {}
    encrypt_again: Callable[[Session], int] = lambda *_: 0


def all_holdings() -> list[Holdings]:
    """Return the holdings of all features."""
    return [module.HOLDINGS for module in feature_registry.parts("holdings")]
