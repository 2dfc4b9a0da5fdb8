"""Translates texts into a language."""

from __future__ import annotations

from app.domain.messages import Day, Message
from app.infra.languages import formats
from app.infra.languages.catalogues import SOURCE, catalogue


def translate(text: str, language: str) -> str:
    """Return a text of the service in a language; one without translation as it is."""
    if not text:
        return text
    translations = catalogue(language)
    if not isinstance(text, Message):
        return translations.gettext(text)
    if text.plural is None:
        template = translations.gettext(text.template)
    else:
        template = translations.ngettext(text.template, text.plural, _count(text))
    if not text.values:  # what looks like a gap is meant as it is
        return template
    return template.format(**{name: _value(value, language) for name, value in text.values.items()})


def _count(message: Message) -> int:
    first = next(iter(message.values.values()), 1)
    return first if isinstance(first, int) else 1


def _value(value: object, language: str) -> object:
    if isinstance(value, Message):
        return translate(value, language)
    if isinstance(value, Day):
        return formats.day_in_words(value.at, language)
    if isinstance(value, int) and not isinstance(value, bool) and language != SOURCE:
        return formats.number(int(value), language)
    return value
