"""Parsing of single cells: empty markers, several values in one cell, and formulas."""

from __future__ import annotations

import re
from functools import lru_cache

from app.domain.normal.emails import is_role
from app.domain.normal.hidden_emails import unhidden
from app.domain.normal.texts.encoded_texts import without_json_codes
from app.domain.normal.texts.text_forms import unescaped, without_tags
from app.domain.normal.texts.vocabularies import email_type
from app.domain.normal.texts.wordlists import words

MAX_LENGTH = 300  # characters; a longer title or industry is an error in the file

_EMPTY = frozenset(
    [
        "-",
        "--",
        "---",
        ".",
        "n/a",
        "#n/a",
        "na",
        "n.a.",
        "null",
        "none",
        "(null)",
        "undefined",
        "nil",
        "unknown",
        "(blank)",
        "#ref!",
        "#value!",
        "#name?",
        "#div/0!",
        "#num!",
        "#null!",
        "#error!",
        "nan",
        "keine",
        "aucun",
        "ninguno",
    ]
) | {"not available", "not found", "no data", "not provided", "k. a.", "k.a."}
_EMPTY_NAMES = frozenset(
    {"-", "--", "---", ".", "n/a", "#n/a", "n.a.", "(null)", "undefined", "(blank)", "?"}
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SIGNS = r"[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]"  # also full-width and small ones
# A blank after | begins no formula: "CTO | @Acme" is how people write their titles.
_SEPARATORS = re.compile(rf"([;,\t\r\n\x0b\x0c\x85\u2028\u2029]|\|(?='*{_SIGNS}))")
_FORMULA = re.compile(rf"[\s\x00-\x1f\ufeff\u200b\"']*+{_SIGNS}")
_MAIL_LINK = re.compile(r"<a\s[^<>]{0,100}?mailto:([^\"'<>?\s]{1,320})[^<>]{0,400}>", re.IGNORECASE)
_EMAILS = re.compile(r":::|[;,|\s\u3001\uff0c\uff1b]|\\[nr]|/(?=[^@/\s]{1,64}@)")
_SPACED_AT = re.compile(r" {1,3}@ {0,3}|@ {1,3}")
_PHONES = re.compile(r":::|[|\n\r]|;(?!\s*ext)")
_ADDRESS = re.compile(
    r"<([^<>]{1,400})>|(?<![^\s,;|:])([^\s@<>,;|:\"'()]{1,64}@[^\s@<>,;|:\"'()]{1,255})(?![^,;|:\r\n<>]{0,100}<)"
)
"""An address in brackets, and one that stands beside those, but not in the name before the brackets."""
_CUT_LOCAL = re.compile(
    r"(?<![^\s;|])(?P<start>[^\s@;,|/:<>()\"']{1,64})[,/](?=[^\s@;,|/:]{1,64}@)"
    r"|\A(?P<word>[a-z]{2,20}) (?=[a-z]{2,30}@[^\s@]{1,255}\Z)"
)
"""What stands before a sign that no address has, in an address: `n/a@acme.com`, `ada low@acme.com`."""
_LABELS = words("emails/labels.txt")
_MAILTO = re.compile(r"\Amailto:([^?]*).*", re.IGNORECASE | re.DOTALL)
_DOTTED = re.compile(r"[a-z0-9]\.[a-z]", re.IGNORECASE)


def escape_formula(text: str) -> str:
    """Return a cell that spreadsheets do not run as a formula: an apostrophe is put before it (OWASP).

    A spreadsheet may split the cell at another separator than the file's, or at a line break. So the
    text after each of them is escaped, too.
    """
    return "".join(f"'{part}" if _FORMULA.match(part) else part for part in _SEPARATORS.split(text))


def unescape_formula(text: str) -> str:
    """Remove the apostrophes of `escape_formula` and invisible spaces."""
    text = text.strip("\ufeff\u200b\0 \t\r\n\u00a0") if text[:1] != "'" else text.rstrip()
    if "'" not in text:
        return text
    parts = _SEPARATORS.split(text)
    return "".join(part[1:] if part[:1] == "'" and _FORMULA.match(part) else part for part in parts)


def value(text: str) -> str | None:
    """Return a cell's text on one line, at most 300 characters; None if empty (`N/A`, `-`, `null`)."""
    return _cached_value(text) if len(text) <= MAX_LENGTH else _value(text)


def is_cut(text: str) -> bool:
    """Return whether a cell's text is longer than the value that `value` returns."""
    return len(_one_line(unescape_formula(text))) > MAX_LENGTH


def _value(text: str) -> str | None:
    content = unescape_formula(text)
    if not content or content.lower() in _EMPTY:
        return None
    return _one_line(content)[:MAX_LENGTH].rstrip() or None


def _one_line(text: str) -> str:
    return " ".join(_without_controls(text).split())


def name_value(text: str) -> str | None:
    """Return a name; None if empty. Null and Na are real names, so fewer words count as empty."""
    return _cached_name(text) if len(text) <= MAX_LENGTH else _name(text)


def _name(text: str) -> str | None:
    content = unescape_formula(unescaped(text))
    if not content or content.lower() in _EMPTY_NAMES:
        return None
    if content.isprintable():
        return " ".join(content.split())
    return " ".join(_without_controls(content).split()) or None


# Most values of a list are repeated. Long ones are not kept: thousands of them would take gigabytes.
_cached_value = lru_cache(maxsize=16384)(_value)
_cached_name = lru_cache(maxsize=16384)(_name)


def _without_controls(text: str) -> str:
    """Return the text without control characters, except those that are spaces."""
    return text if text.isprintable() else _CONTROLS.sub("", text)


def emails_in(text: str) -> list[str]:
    """Return the addresses of a cell, each with what stands around it that its reader leaves out.

    Words without an @ beside an address, such as a name or `(work)`, are left out, too.
    """
    text = unhidden(without_json_codes(unescaped(text)))
    text = without_tags(_MAIL_LINK.sub(r" \1 ", text) if "<" in text else text)
    if "<" in text and (found := _ADDRESS.findall(text)):
        return [(bracketed or plain).strip() for bracketed, plain in found]
    text = _CUT_LOCAL.sub(_joined, _SPACED_AT.sub("@", text))
    parts = [part for part in _EMAILS.split(unescape_formula(text)) if part and part.lower() not in _EMPTY]
    if "@" not in text and "\uff20" not in text:
        return [" ".join(parts)] if parts else []
    parts = [_MAILTO.sub(r"\1", part) for part in parts]
    return [part for part in parts if "@" in part or "\uff20" in part or _DOTTED.search(part)]


def _joined(found: re.Match[str]) -> str:
    """Return what makes the whole an address that cannot be read; a label before it is unchanged.

    A label is also the name of a mailbox or of its person: `sales sales@acme.com`, `ada ada@acme.com`.
    """
    word = found["word"] or found["start"]
    is_label = word.lower() in _LABELS or email_type(word) is not None or is_role(word.lower())
    is_repeated = found.string.startswith(f"{word}@", found.end())
    return found[0] if is_label or is_repeated else f"{word}\\"


def phones_in(text: str) -> list[str]:
    """Return the parts of a cell between bars, line ends and semicolons; `;ext=7` belongs to its number."""
    parts = map(str.strip, _PHONES.split(unescape_formula(text)))
    return [part for part in parts if part and part.lower() not in _EMPTY]
