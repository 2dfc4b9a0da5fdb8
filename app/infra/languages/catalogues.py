"""The catalogues of translations: `app/translations/<language>/LC_MESSAGES/messages.po`.

They are read as they are committed, once per process and language, so that nothing has to be compiled before
the service starts, and no compiled file can be older than its source.
"""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

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
    with path(language).open("rb") as file:
        read = read_po(file, locale=language)
    compiled = BytesIO()
    write_mo(compiled, read)
    compiled.seek(0)
    return GNUTranslations(compiled)
