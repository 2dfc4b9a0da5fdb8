"""Sentences that people read and machines do not: English here, in the reader's language at the edge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Day:
    """A day that fills a gap of a sentence; the edge writes it in the reader's language."""

    at: datetime

    def __str__(self) -> str:
        """Return it in English: `1 December 2026`."""
        return f"{self.at.day} {self.at:%B %Y}"


class Figure(int):
    """A number that fills a gap of a sentence with its thousands apart, in English `50,000`."""

    def __str__(self) -> str:
        """Return it in English."""
        return f"{int(self):,}"


class Message(str):
    """An English sentence that remembers its template and what fills it, so that the edge can translate it.

    The template is what translators see; `plural` is used unless the first value is 1. Values may be
    messages. It is a `str` of the filled sentence, so logs, the database and callers without a language need
    no more:

        Message("The name has at most {max} characters.").format(max=120)
    """

    __slots__ = ("plural", "template", "values")
    template: str
    plural: str | None
    values: dict[str, Any]

    def __new__(cls, template: str, plural: str | None = None, /, **values: Any) -> Self:
        """Return the sentence with these values."""
        chosen = template if plural is None or next(iter(values.values()), 1) == 1 else plural
        message = super().__new__(cls, str.format(chosen, **values) if values else chosen)
        message.template, message.plural, message.values = template, plural, values
        return message

    def __str__(self) -> str:
        """Return the message itself, so that `str(error)` keeps what an error was raised with."""
        return self

    def format(self, *_args: object, **values: Any) -> Message:
        """Return the sentence with these values; marshmallow calls it, for some messages twice."""
        return Message(super().__str__() if self.values else self.template, self.plural, **values)
