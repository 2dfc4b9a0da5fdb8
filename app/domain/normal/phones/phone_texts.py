"""The phone numbers in a text, without the words beside them, invisible signs and what spreadsheets add."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from app.domain.normal.texts.wordlists import words

MAX_LENGTH = 300
"""The length of the texts that are kept in the cache."""
_PLAIN = re.compile(r"(?:\+\(?[1-9]|\(?[0-9])(?:[ ().-]{0,2}[0-9]){4,25}(?<!\.0)(?<!\.00)")
_FLOAT = re.compile(r"(\+?[0-9]{4,15})[.,]0{1,2}")
_EXPONENT = re.compile(r"\+?([0-9])(?:[.,]([0-9]{1,20}))?[eE]\+?([0-9]{1,2})")
_MASKED = re.compile(r"[*\u2022]|[xX]{2}|#{2}|_{2}|\.{2}")
_ADDRESS = re.compile(r"@|://|www\.", re.IGNORECASE)
_LOOKALIKE = re.compile(r"(?<![^\W_])[lIOo](?=[0-9])|(?<=[0-9])[lIOo](?![^\W_])")
"""Letters that stand for a one or a zero."""
_WORD = re.compile(r"([^\W\d_]+)")
_BETWEEN_DIGITS = re.compile(r"[0-9]([^\W\d_]+)(?=[0-9])")
_PLUS_AFTER_DIGIT = re.compile(r"(?<=[0-9)/,;\s])(?=\+)")
_EXTENSION = re.compile(r"[\s.:=#-]*([0-9]{1,7})(?![0-9\s.()-]*[0-9])")
_HASH = re.compile(r"(?:#|,,)\s?([0-9]{1,7})[#\s]*$")
"""An extension after a hash, or after commas, at which telephones pause."""
_PAUSE = re.compile(r"(?<=[0-9]{3})[pPwW]([0-9]{1,7})[0-9pPwW,;*#]*$")
"""A pause before an extension, and what is dialled after it, as mobile phones store them."""
_CLOCK = r"[0-9]{1,2}(?:[:.][0-9]{2})?(?:[ap]m\b|\s?[ap]\.m\b\.?|h(?:[0-9]{2})?\b)"
_TIME = re.compile(
    rf"(?<![0-9.:-])(?:{_CLOCK}|(?<![0-9]\s)[0-9]{{1,2}}(?:[:.][0-9]{{2}})?\s[ap]m\b)"
    rf"(?:\s?[-\u2013]\s?{_CLOCK})?",
    re.IGNORECASE,
)
"""An hour at which one may be called, `8am-5pm`, `from 9 am`, `9h30`; not `34 am` in `12 34 am Montag`."""
_LONG_VOWEL = re.compile("(?<=[0-9])\u30fc(?=[0-9])")
"""The Japanese sign of a long vowel, typed for a hyphen."""
_CARRIER = re.compile(r"(?<![0-9])0\s?[xX]{2}\s?(?=[0-9]{2}(?![0-9]))")
"""The beginning of `0xx11 3333-4444`, as Brazilians write it: the code of any carrier is dialled there."""
_OPEN_BRACKET = re.compile(r"(?<=[0-9])\s*\((?=[^()]*$)")
"""A bracket that a word after the signs closes: `030 1234567 (18-20 Uhr)`."""
_MIN_DIGITS = 6
"""The digits of a number before such a bracket; fewer are a country or area code."""
_DIGIT = re.compile(r"[0-9]")
_START = re.compile(r"[+(0-9]")
_TO_LAST_DIGIT = re.compile(r".*[0-9]", re.DOTALL)
_PLUS = re.compile(r"[\s(]*\+[\s(+]*(00(?=[\s().-]*[1-9]))?")
_VANITY = re.compile(
    r"(?:\+?1)?[ .-]{0,3}\(?(8[0-9]{2})\)?[ .-]{0,3}([a-z0-9](?:[ .-]?[a-z0-9]){6})", re.IGNORECASE
)
_LINKED = re.compile(
    r"(?:https?://)?(?:www\.)?wa\.me/(?:\+|%2B)?([1-9][0-9]{6,14})/?(?:\?\S{0,300})?"
    r"|(?:https?://)?(?:api|web)\.whatsapp\.com/send/?\?(?:[^\s#]{0,200}&)?phone=(?:\+|%2B)?([1-9][0-9]{6,14})(?:&\S{0,300})?"
    r"|whatsapp://send/?\?(?:[^\s#]{0,200}&)?phone=(?:\+|%2B)?([1-9][0-9]{6,14})(?:&\S{0,300})?"
    r"|\+?([1-9][0-9]{6,14})@(?:c\.us|s\.whatsapp\.net)",
    re.IGNORECASE,
)
"""A number in a link to WhatsApp, and in its id there: both have the country code without a plus."""
_MIN_VANITY_LETTERS = 3
_KEYS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")
_EXTENSION_WORDS = words("phones/extension_words.txt")


@dataclass(frozen=True, slots=True)
class PhoneText:
    """A number as it is written: `number` has digits and signs, `note` the words beside it.

    `number` is empty if the text has no number that can be read. `is_cut` says that a spreadsheet rounded it.
    """

    number: str
    extension: str | None = None
    note: str = ""
    is_cut: bool = False


def is_plain(text: str) -> bool:
    """Return whether the text is one number of digits and usual signs, with or without a plus."""
    return _PLAIN.fullmatch(text) is not None


def linked_number(text: str) -> str | None:
    """Return the number of a link to WhatsApp, with a plus; None for another text."""
    found = _LINKED.fullmatch(text.strip())
    return f"+{next(filter(None, found.groups()))}" if found else None


def phone_texts(text: str) -> tuple[PhoneText, ...]:
    """Return the numbers in a text, in their order; words separate them. One is empty if none can be read."""
    if is_plain(text):
        return (PhoneText(text),)
    return _cached(text) if len(text) <= MAX_LENGTH else _read(text)


def _read(text: str) -> tuple[PhoneText, ...]:
    if number := linked_number(text):
        return (PhoneText(number),)
    plain = _LONG_VOWEL.sub("-", text.translate(_SIGNS).strip())
    if found := _FLOAT.fullmatch(plain):
        return (PhoneText(found[1]),)
    if found := _EXPONENT.fullmatch(plain):
        return (_of_exponent(found[1], found[2] or "", int(found[3])),)
    if found := _VANITY.fullmatch(plain):
        letters = _WORD.findall(found[2])
        if sum(map(len, letters)) >= _MIN_VANITY_LETTERS and not any(map(_is_extension, letters)):
            code = "+1" if plain.startswith("+") else "1"
            return (PhoneText(f"{code} {found[1]} {found[2].upper().translate(_KEYS)}"),)
    return tuple(_numbers(plain)) or (PhoneText(""),)


_cached = lru_cache(maxsize=4096)(_read)


def _of_exponent(first: str, decimals: str, exponent: int) -> PhoneText:
    """Return the number of 1.6502530001E+10; it is cut if fewer digits are left than it had."""
    if len(decimals) < exponent:
        return PhoneText("", is_cut=True)
    return PhoneText(f"{first}{decimals[:exponent]}")


def _numbers(text: str) -> list[PhoneText]:
    """Return the numbers between the words of a text; none if it is masked, an address or no number."""
    text = _TIME.sub(" hours ", text)
    text = _PAUSE.sub(r",,\1", _CARRIER.sub("0", text))
    stuck = _BETWEEN_DIGITS.findall(text)
    is_readable = all(map(_is_extension, stuck)) and not _LOOKALIKE.search(text)
    if _MASKED.search(text) or _ADDRESS.search(text) or not is_readable:
        return []
    return _between_words(_WORD.split(text))


def _between_words(pieces: Sequence[str]) -> list[PhoneText]:
    """Return the numbers in pieces that are signs, a word, signs and so on.

    A word belongs to the number after it; in brackets, or if words end the text, to the number before it.
    """
    follow = _has_digit(pieces[0]) and not _has_digit(pieces[-1])
    found: list[PhoneText] = []
    words: list[str] = []
    before = ""
    for word, signs in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        follows = follow or before.endswith("(")
        words += [word] if word else []
        if _has_digit(signs):
            rest = _take_extension(found, word, signs)
            if follows:
                _add_note(found, words)
            numbers = list(_in_signs(rest))
            if words and numbers:
                numbers[0] = replace(numbers[0], note=" ".join(words))
            found += numbers
            words.clear()
            before = signs.rstrip()
        elif not words:
            before = signs.rstrip()
    _add_note(found, words)
    return found


def _add_note(found: list[PhoneText], words: list[str]) -> None:
    """Note the words at the last number."""
    if found and words:
        found[-1] = replace(found[-1], note=" ".join(words))
        words.clear()


def _take_extension(found: list[PhoneText], word: str, signs: str) -> str:
    """Give the last number the extension that the word announces; return the rest of the signs."""
    extension = _EXTENSION.match(signs) if found and _is_extension(word) else None
    if extension is None or found[-1].extension:
        return signs
    found[-1] = replace(found[-1], extension=extension[1])
    return signs[extension.end() :]


def _in_signs(signs: str) -> Iterator[PhoneText]:
    """Yield the numbers in a text without words; a plus begins another one."""
    for part in (part for text in _PLUS_AFTER_DIGIT.split(signs) for part in _outside_bracket(text)):
        extension = _HASH.search(part)
        if number := _trimmed(part[: extension.start()] if extension else part):
            yield PhoneText(number, extension[1] if extension else None)


def _outside_bracket(signs: str) -> list[str]:
    """Return the text before and after an open bracket that follows a whole number."""
    bracket = _OPEN_BRACKET.search(signs)
    if bracket and len(_DIGIT.findall(signs[: bracket.start()])) >= _MIN_DIGITS:
        return [signs[: bracket.start()], signs[bracket.end() :]]
    return [signs]


def _trimmed(signs: str) -> str:
    """Return a number from its plus, bracket or first digit to its last digit; empty if it has no digit."""
    start, end = _START.search(signs), _TO_LAST_DIGIT.match(signs)
    if start is None or end is None:
        return ""
    number = signs[start.start() : end.end()]
    if plus := _PLUS.match(number):
        number = f"+{number[plus.end() :]}"
        number = number.removeprefix("+") if number.startswith("+0") else number
    return (
        number
        if number.count("(") == number.count(")")
        else number.replace("(", " ").replace(")", " ").strip()
    )


def _is_extension(word: str) -> bool:
    return word.casefold() in _EXTENSION_WORDS


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


class _Signs(dict[int, str]):
    """What each character is read as: ASCII digits and signs, nothing for invisible ones."""

    def __missing__(self, code: int) -> str:
        character = self[code] = _sign(chr(code))
        return character


def _sign(character: str) -> str:
    category = unicodedata.category(character)
    if "\u2588" <= character <= "\u25ff":  # blocks and circles that mask digits
        return "*"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category in {"Cf", "Mn", "Me", "Cc"} and character not in "\t\n\r":
        return ""
    if category in {"Zs", "Cc", "Zl", "Zp", "So", "No"} or character in "\"'=`\u2019":
        return " "
    if category == "Pd" or character == "\u2212":
        return "-"
    plain = unicodedata.normalize("NFKC", character)
    return _OTHER_SIGNS.get(plain, plain)


_OTHER_SIGNS = {
    "\\": "/",
    "\u2215": "/",
    "\u2044": "/",
    "&": ",",
    "\u3001": ",",
    "\u060c": ",",
    "\u061b": ";",
}
_SIGNS = _Signs()
