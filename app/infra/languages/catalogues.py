"""The catalogues of translations: `app/translations/<language>/LC_MESSAGES/messages.po`.

They are read as they are committed, once per process and language, so that nothing has to be compiled before
the service starts, and no compiled file can be older than its source.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

FOLDER = Path(__file__).parents[2] / "translations"
SOURCE = "en"
NAMES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""The languages with what their speakers call them; English is that of the sources."""


def path(language: str) -> Path:
    """Return where the catalogue of a language is."""
    return FOLDER / language / "LC_MESSAGES" / "messages.po"


@cache
def catalogue(language: str) -> NullTranslations:
    """Return the translations of a language; a text that is missing in it stays English."""
    if language == SOURCE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, _read(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def message_ids(language: str) -> Iterator[str | tuple[str, ...]]:
    """Yield the English texts of a catalogue, a plural with its forms; those of a context too."""
    for message in _read(language):
        if message.id:
            yield message.id if isinstance(message.id, str) else tuple(message.id)


def _read(language: str) -> Catalog:
    with path(language).open("rb") as file:
        return read_po(file, locale=language)
