"""Unicode normal forms, and decoding of HTML, that take linear time for any text."""

from __future__ import annotations

import html
import re
import unicodedata
from itertools import chain, groupby, islice
from typing import Literal

MAX_MARKS = 30
"""Marks on one letter: more than any writing system has (Unicode Standard Annex 15, Stream-Safe Text)."""
_SHORT = 250  # characters; up to this length the time to order marks does not count
_MANY_SIGNS = re.compile(rf"(?:[\uff9e\uff9f]|[^\w\x00-\x7f\u2000-\u206f]){{{MAX_MARKS + 1}}}")
"""More signs than a letter may have: every mark is one; the two letters turn into marks."""
_LONG_REFERENCE = re.compile(r"&#[0-9]{100,};?")
_TAG = re.compile(r"</?(?:a|b|br|div|em|font|i|p|span|strong|u)\b[^<>@]{0,400}>", re.IGNORECASE)
_NO_CHARACTER = "\ufffd"


def normalized(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return the text in a normal form; of the marks on a letter of a long text, `MAX_MARKS` are kept.

    `unicodedata` orders the marks on a letter in a time that grows with the square of their number.
    """
    if len(text) > _SHORT and _MANY_SIGNS.search(text):
        runs = (islice(run, MAX_MARKS if is_marks else None) for is_marks, run in groupby(text, _is_mark))
        text = "".join(chain.from_iterable(runs))
    return unicodedata.normalize(form, text)


def unescaped(text: str) -> str:
    """Return the text with its HTML references decoded; `html.unescape` fails for numbers of 4,300 digits."""
    return html.unescape(_LONG_REFERENCE.sub(_NO_CHARACTER, text)) if "&" in text else text


def without_tags(text: str) -> str:
    """Return the text with a space for each tag of HTML that formats or links texts."""
    return _TAG.sub(" ", text) if "<" in text else text


def _is_mark(character: str) -> bool:
    """Return whether a character, or the first one that it decomposes to, is ordered among marks."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0
