"""Translates texts into the language of the request."""

from __future__ import annotations

from typing import Any

from app.domain.messages import Message
from app.web.languages import formats
from app.web.languages.catalogues import catalogue
from app.web.languages.negotiation import language


def translate(text: str) -> str:
    """Return a text of the service in the language of the request; one without translation as it is."""
    if not text:
        return text
    translations = catalogue(language())
    if not isinstance(text, Message):
        return translations.gettext(text)
    if text.plural is None:
        template = translations.gettext(text.template)
    else:
        template = translations.ngettext(text.template, text.plural, _count(text))
    return template.format(**{name: _value(value) for name, value in text.values.items()})


def gettext(text: str, **values: Any) -> str:
    """Return a sentence in the language of the request, with its `{gaps}` filled."""
    return translate(Message(text, **values))


def ngettext(one: str, other: str, count: int, **values: Any) -> str:
    """Return the sentence for a number, which fills `{count}`."""
    return translate(Message(one, other, count=count, **values))


def _count(message: Message) -> int:
    first = next(iter(message.values.values()), 1)
    return first if isinstance(first, int) else 1


def _value(value: object) -> object:
    if isinstance(value, Message):
        return translate(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return formats.number(value) if language() != "en" else value
    return value
