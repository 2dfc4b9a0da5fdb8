"""The text of a name without pictures, slogans after a sign, and invisible characters."""

from __future__ import annotations

import re
import unicodedata

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.texts.encoded_texts import decoded
from app.domain.normal.texts.lookalikes import in_one_alphabet
from app.domain.normal.texts.text_forms import without_tags

MAX_NAME_LENGTH = 200
NO_LETTER = Message("The name must contain a letter.")
APOSTROPHE_SIGNS = "`\u00b4\u2018\u2019\u02bc\uff07"
APOSTROPHES = re.compile(f"[{APOSTROPHE_SIGNS}]")

_HEADLINE = re.compile(r"\s[-\u2010-\u2015·@~]\s.*|[|•*].*|(?<=[^\W_][ ])[►▶➤→»▪■◆●✦➔].*", re.DOTALL)
_BEFORE = re.compile(r"[\s>*\u2022\u00b7~_-]+")
"""Signs before a name, as in lists: `* Ada Lovelace`, `> Ada Lovelace`."""
_PICTURES = re.compile(
    "[0-9#*]\ufe0f?\u20e3|[\u2020-\u2022\u20d0-\u20ff\u2190-\u2bff\ufe00-\ufe0f\U0001f000-\U0001ffff\U000e0000-\U000fffff]"
)
"""Also what chooses between forms of a Han character; those of planes 2 and 3, such as 𠮷, are letters."""
_MARKED = re.compile("([^\\s,;|()/®™℠©]*)\\s?[®™℠©]+")


def clean_text(text: str) -> str:
    """Return the text of a name in composed form, without headlines, pictures and numbers beside a comma."""
    if len(text) > MAX_NAME_LENGTH:
        raise InvalidValue(
            Message("The name is too long. Use at most {max} characters.", max=MAX_NAME_LENGTH)
        )
    text = _in_usual_letters(text)
    text = text[before.end() :] if (before := _BEFORE.match(text)) else text
    if not text.isascii():
        text = _MARKED.sub(_without_mark, text)
        text = unicodedata.normalize("NFKC", APOSTROPHES.sub("'", text))
    text = "".join(character for character in text if character.isprintable() or character.isspace())
    text = " ".join(_PICTURES.sub("", _HEADLINE.sub("", " ".join(text.split()))).split())
    if not any(map(str.isalpha, text)):
        raise InvalidValue(NO_LETTER)
    return ", ".join(part.strip() for part in text.split(",") if any(map(str.isalpha, part)))


def _in_usual_letters(text: str) -> str:
    """Return a text without codes, tags of HTML and letters that only look like those beside them."""
    return without_tags(in_one_alphabet(decoded(text)))


def is_plain_text(text: str) -> bool:
    """Return whether a text has neither codes nor letters that only look like those beside them."""
    return text.isascii() or _in_usual_letters(text) == text


def _without_mark(found: re.Match[str]) -> str:
    """Return nothing for a certificate with a sign (PMP®), and any other word without the sign."""
    word = found[1]
    return word if word[1:].islower() else ""
