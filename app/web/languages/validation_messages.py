"""Makes messages of marshmallow translatable that have values, such as the longest length."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from marshmallow import fields, validate

from app.domain.messages import Message

_RANGE = {
    "min": ("greater than or equal to", "greater than"),
    "max": ("less than or equal to", "less than"),
}
_NEXT_STEPS = {
    "Not a valid boolean.": "Not a valid boolean. Use true or false.",
    "Not a valid date.": "Not a valid date. Use one such as 2026-11-30.",
    "Not a valid integer.": "Not a valid integer. Use a whole number such as 10.",
    "Not a valid mapping type.": "Not a JSON object.",
}
"""What to send instead, where marshmallow only says that a value is wrong."""


def register() -> None:
    """Replace the messages of marshmallow's classes; marshmallow documents that an application may."""
    for kind in _classes(fields):
        messages: dict[str, str] = vars(kind).get("default_error_messages", {})
        messages.update({name: Message(_NEXT_STEPS.get(text, text)) for name, text in messages.items()})
    for kind in _classes(validate):
        for name, text in list(vars(kind).items()):
            if "message" in name and isinstance(text, str) and "{" in text:
                setattr(kind, name, Message(text))


def templates() -> Iterator[str]:
    """Yield every message of marshmallow, for the catalogues."""
    yield from ("Unknown field.", "Invalid input type.", "Invalid value.")
    for kind in _classes(fields):
        messages = vars(kind).get("default_error_messages", {})
        yield from (_NEXT_STEPS.get(text, text) for text in messages.values())
    for kind in _classes(validate):
        yield from (
            text
            for name, text in vars(kind).items()
            if "message" in name and isinstance(text, str) and kind is not validate.Range
        )
    for side, words in _RANGE.items():
        yield from (f"Must be {word} {{{side}}}." for word in words)
    for low, high in product(_RANGE["min"], _RANGE["max"]):
        yield f"Must be {low} {{min}} and {high} {{max}}."


def _classes(module: object) -> Iterator[type]:
    for kind in vars(module).values():
        if isinstance(kind, type) and kind.__module__ == getattr(module, "__name__", ""):
            yield kind
