"""Purposes for which the values of people are obtained, and the rule for whose values one is required."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.errors import InvalidValue, PurposeRequired
from app.domain.regional_rules import EVERYWHERE, is_in

MAX_LENGTH = 40
DEFAULT = ("sales_outreach", "recruiting", "customer_support", "due_diligence")
_PURPOSE = re.compile(rf"(?=.{{1,{MAX_LENGTH}}}\Z)[a-z][a-z0-9]*(?:_[a-z0-9]+)*", re.ASCII)


def parse_purposes(words: Iterable[str]) -> tuple[str, ...]:
    """Return the purposes in their order, each once.

    Raises:
        InvalidValue: a word is not in lower snake_case, or longer than MAX_LENGTH.

    """
    purposes = tuple(dict.fromkeys(words))
    for word in purposes:
        if not _PURPOSE.fullmatch(word):
            raise InvalidValue(
                f"{word!r} is not a word of at most {MAX_LENGTH} lower-case letters, digits and _, such as"
                f" {DEFAULT[0]}."
            )
    return purposes


@dataclass(frozen=True, slots=True)
class PurposeRule:
    """The places of the people for whose values a purpose must be stated, and the purposes that can be."""

    places: frozenset[str] = frozenset()
    allowed: tuple[str, ...] = DEFAULT

    @property
    def is_set(self) -> bool:
        """Whether a purpose must be stated for anyone."""
        return bool(self.places)

    @property
    def is_everywhere(self) -> bool:
        """Whether a purpose must be stated for everyone."""
        return EVERYWHERE in self.places

    def requires(self, *countries: str | None) -> bool:
        """Return whether a purpose must be stated for a person in one of these countries; None is unknown.

        Sources may name different countries of a person. An unknown one counts only if no other is given.
        """
        known: list[str | None] = [country for country in countries if country]
        return any(is_in(self.places, country) for country in known or [None])

    def refusal(self) -> PurposeRequired:
        """Return the error for a request without a purpose."""
        return PurposeRequired(self.allowed)


NO_RULE = PurposeRule()
