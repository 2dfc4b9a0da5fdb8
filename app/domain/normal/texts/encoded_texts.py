"""Short texts that a program wrote in the code of a mail header, a vCard, JSON, HTML or a URL."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from quopri import decodestring
from urllib.parse import unquote

from app.domain.normal.texts.converted_twice import converted_once
from app.domain.normal.texts.text_forms import unescaped

_ENCODED_WORD = re.compile(r"=\?[\w-]{1,40}\?[bBqQ]\?[^?\s]{1,400}\?=", re.ASCII)
_QUOTED_PRINTABLE = re.compile(r"=[C-F][0-9A-F](?:=[89AB][0-9A-F]){1,3}")
_JSON = re.compile(r"\\u([0-9a-fA-F]{4})")
_PERCENT = re.compile(r"%[0-9A-F]{2}", re.IGNORECASE)


def decoded(text: str) -> str:
    """Return the text that was meant: `J=C3=BCrgen`, `J%C3%BCrgen` and `J&amp;uuml;rgen` are Jürgen.

    A text in which the code is wrong is unchanged, and so is a single `%`, `=` or `&`.
    """
    if "&" in text:
        text = unescaped(unescaped(text))
    for sign, pattern, decode in _CODES:
        if sign in text and pattern.search(text):
            text = decode(text)
    return text if text.isascii() else converted_once(text) or text


def _of_header(text: str) -> str:
    """Return a text with its encoded words decoded (RFC 2047)."""
    try:
        return str(make_header(decode_header(text)))
    except (HeaderParseError, UnicodeError, LookupError):
        return text


def _of_quoted_printable(text: str) -> str:
    return _or_unchanged(text, decodestring(text.encode()))


def without_json_codes(text: str) -> str:
    r"""Return a text in which codes of JSON such as `\u0040` are the characters."""
    if "\\u" not in text:
        return text
    characters = _JSON.sub(lambda found: chr(int(found[1], 16)), text)
    return _or_unchanged(text, characters.encode("utf-16", "surrogatepass"), "utf-16")


def _of_url(text: str) -> str:
    return plain if "\ufffd" not in (plain := unquote(text)) else text


def _or_unchanged(text: str, content: bytes, encoding: str = "utf-8") -> str:
    try:
        return content.decode(encoding)
    except UnicodeError:
        return text


_CODES: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("=?", _ENCODED_WORD, _of_header),
    ("=", _QUOTED_PRINTABLE, _of_quoted_printable),
    ("\\u", _JSON, without_json_codes),
    ("%", _PERCENT, _of_url),
)
