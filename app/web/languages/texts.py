"""Translates texts into the language of the request."""

from __future__ import annotations

from typing import Any

from app.domain.messages import Message
from app.infra.languages import stored_texts, texts
from app.web.languages import negotiation
from app.web.languages.negotiation import language


def translate(text: str) -> str:
    """Return a text of the service in the language of the request; one without translation as it is."""
    return texts.translate(text, language())


def translate_stored(text: str | None) -> str:
    """Return sentences that were stored in English in the language of the request; None is empty."""
    return stored_texts.translate(text or "", language())


def in_response(text: str | None) -> str:
    """Return such sentences for a response of JSON, whose headers name the language."""
    negotiation.mark()
    return translate_stored(text)


def gettext(text: str, **values: Any) -> str:
    """Return a sentence in the language of the request, with its `{gaps}` filled."""
    return translate(Message(text, **values))


def ngettext(one: str, other: str, count: int, **values: Any) -> str:
    """Return the sentence for a number, which fills `{count}`."""
    return translate(Message(one, other, count=count, **values))
