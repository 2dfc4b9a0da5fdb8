"""The choice of a purpose in forms that obtain values of people."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.messages import Message
from app.web.pages.rendering import words
from app.web.services import services

MISSING = Message("Choose what you need the data for.")
"""The message of a form without a purpose, if one is required."""


@dataclass(frozen=True, slots=True)
class PurposeChoice:
    """The options, each a value and its text; `is_required` if everybody's values need a purpose."""

    options: list[tuple[str, str]]
    is_required: bool


def offered() -> PurposeChoice | None:
    """Return the choice, or None if no purpose is required of anybody."""
    rule = services().settings.purpose_rule
    if not rule.is_set:
        return None
    options = [("", "Choose…"), *((purpose, words(purpose).capitalize()) for purpose in rule.allowed)]
    return PurposeChoice(options, is_required=rule.is_everywhere)
