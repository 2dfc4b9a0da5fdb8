"""What features hold about people, beyond the contacts themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app import feature_registry
from app.domain.records.person_matcher import PersonMatcher
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """How a person is erased from the tables of a feature.

    `erase` runs in the transaction of the erasure, after the person is on the suppression list.
    """

    erase: Callable[[Session, PersonMatcher], object]


def all_holdings() -> list[Holdings]:
    """Return the holdings of all features."""
    return [module.HOLDINGS for module in feature_registry.parts("holdings")]
