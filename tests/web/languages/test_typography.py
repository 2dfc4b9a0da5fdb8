"""Translations have the quotes, spaces and forms of address of their language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from babel.messages.pofile import read_po

from app.infra.languages import catalogues
from tools.state import ROOT

NO_TEXT = re.compile(
    r"https?://\S*|'[^']*'|<[^>]*>|%\(\w+\)s|tel:\{\w+\}|\{\w+!r\}|\{\w*\}|&\w+;|\$\d|…\S*\?\S+"
    r"|[\w.;-]*/[\w./;-]*(?:\?\w+=)?|\w+\[\w+\]\S+|every: \w+|\w+:\w+|comme ; ou",
    re.ASCII,
)
"""What is the same in every language: URLs, code, tags, gaps; and the character `;` itself."""
FAULTS = {
    "de": {
        r"['\"\u2019\u201d«»]": "another quote than „…“",
        r"\b(?:[Dd]u|[Dd]ein\w*|[Dd]ich|[Dd]ir)\b": "an informal address",
    },
    "fr": {
        r"['\"„\u201c\u201d]": "another quote than « … »",
        r"[^\u00a0][:»]|«[^\u00a0]": "no no-break space beside : « or »",
        r"[^\u202f?!][;?!]": "no narrow no-break space before ; ? or !",
        r"\b(?:[Tt]u|[Tt]on|[Tt]es|[Tt]oi)\b": "an informal address",
    },
    "es": {
        r"['\"„\u2018-\u201d]": "another quote than «…»",
        r"\b(?:[Tt]ú|[Tt]us?|[Tt]uy[oa]s?|[Tt]ienes|[Pp]uedes)\b": "an informal address",
        r"^[^¿]*\?": "a question without ¿",
        r"^[^¡]*!": "an exclamation without ¡",
    },
}


def texts(language: str) -> Iterator[str]:
    """Yield the translations of the service and of the extension."""
    with catalogues.path(language).open("rb") as file:
        for message in filter(lambda each: each.id, read_po(file, locale=language)):
            yield from (message.string,) if isinstance(message.string, str) else message.string
    path = ROOT / "extension" / "_locales" / language / "messages.json"
    yield from (each["message"] for each in json.loads(path.read_text("utf-8")).values())


@pytest.mark.parametrize("language", FAULTS)
def test_quotes_spaces_and_address_are_those_of_the_language(language: str) -> None:
    found = [
        (fault, text)
        for text in texts(language)
        for pattern, fault in FAULTS[language].items()
        if re.search(pattern, NO_TEXT.sub("x", text))
    ]

    assert found == []
