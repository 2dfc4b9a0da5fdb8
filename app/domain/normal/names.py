"""Names of people: their parts, and keys that are equal for equivalent spellings."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

from app.domain.errors import InvalidValue
from app.domain.normal.generations import generation_of
from app.domain.normal.wordlists import words

MAX_NAME_LENGTH = 200

_IN_FAMILY_NAME = frozenset(("filho", "neto"))
"""Portuguese words for a generation that are a part of the family name: Silva Filho."""
_FIRST_SURNAMES = words("surnames.txt")
_COMPOUND_SURNAMES = words("han_surnames.txt")
_LATIN = "[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f]{2,}"
_PLAIN = re.compile(f"{_LATIN}(?: {_LATIN}){{1,2}}")
_HONORIFICS = words("honorifics.txt")
_NICKNAME = re.compile(
    r"""(?<!\s)\s*(?:["\u201c]([^\W\d_][\w'.-]*)["\u201d]|\(([^\W\d_][\w'.-]*)\))(?=\s+\w)"""
)
_QUOTES = frozenset('"(\u201c')
_QUOTED = re.compile(r"""["'(\u201c]([^\W\d_][\w'.-]*)["')\u201d]""")
_PRONOUNS = frozenset(("he", "him", "his", "she", "her", "hers", "they", "them", "theirs"))
_HEADLINE = re.compile(r"\s[-\u2010-\u2015·/@~]\s.*|[|•*].*", re.DOTALL)
_PICTURES = re.compile("[\u20d0-\u20ff\u2190-\u2bff\ufe00-\ufe0f\U0001f000-\U000fffff]")
_APOSTROPHE_SIGNS = "`\u00b4\u2018\u2019\u02bc\uff07"
_APOSTROPHES = re.compile(f"[{_APOSTROPHE_SIGNS}]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]{2,6}")
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f]")
_SIGNS = re.compile(r"[\x00-\x2f\x3a-\x60\x7b-\x7f]+")
_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "\u0131": "i",
        "ħ": "h",
        "ŋ": "n",
    }
)
_EXPANSIONS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_UMLAUTS = str.maketrans(_EXPANSIONS)
_EXPANDED = frozenset(_EXPANSIONS)
_PRECOMPOSED = range(0xC0, 0x180)  # the letters of Latin-1 and Latin Extended-A


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name: given, family (either may be empty, but not both) and full name, as written."""

    first: str
    last: str
    full: str


@lru_cache(maxsize=8192)
def parse_name(full: str) -> PersonName:
    """Parse a full name; titles, credentials, emoji and headlines are removed.

    A word such as Prince, Wing or Judge is a title only if a given and a family name are left without it. The
    full name keeps a nickname of one word, in quotes: Earl L. "Buddy" Carter, and the generation at its end.

    Handles "Last, First", particles (van, de la), two surnames if the first is a well-known Iberian one, and
    Chinese, Japanese and Korean names in their own order. A single name is the given name.

    Raises:
        InvalidValue: the text contains no letter, or is longer than 200 characters.

    """
    text = _cleaned(full)
    generation = generation_of(text)
    name = _parsed(generation.name)
    if not generation.rank:
        return name
    if not (name.first and name.last):
        return _parsed(text)
    word = generation.written
    last = f"{name.last} {word}" if word.lower() in _IN_FAMILY_NAME else name.last
    return PersonName(name.first, last, f"{name.full} {word}")


def _parsed(text: str) -> PersonName:
    """Return the parts of a clean name without its generation."""
    if _PLAIN.fullmatch(text) and _meaningful().isdisjoint(text.lower().split()):
        first, *middle, last = text.split()
        return PersonName(first, " ".join([*_surnames(middle), last]), text)
    name = _from_parsed(_nameparser().parse(text), text)
    if "," in text and "," not in name.full:  # what was before it may look like a headline or a nickname now
        again = parse_name(name.full)
        return name if again.full == name.full else again
    return name


@lru_cache(maxsize=16384)
def name_key(text: str) -> str:
    """Return a name's key for indexes and comparison: case-folded, without accents and apostrophes.

    Other punctuation becomes one space. Vowel marks of scripts that need them are kept. Letters without a
    Unicode decomposition are transliterated: ß ss, æ ae, ø o, ł l, đ d.
    """
    folded = text.casefold()
    if not folded.isascii():
        latin = folded.translate(_latin_letters())
        folded = latin if latin.isascii() else _plain_letters(folded)
    if folded.replace(" ", "").isalnum() and folded.isascii():
        return " ".join(folded.split())
    return " ".join(_SIGNS.sub(" ", folded.replace("'", "")).split())


def person_key(full: str) -> str:
    """Return the `name_key` of a person's full name, without a nickname, the generation in its usual form."""
    rank, _written, name = generation_of(full)
    key = name_key(without_nickname(name))
    return f"{key} {rank}" if rank else key


def without_generation(family: str, full: str) -> str:
    """Return a family name without the generation at the end of the full name; Silva Filho keeps it."""
    word = generation_of(full).written
    if not word or word.lower() in _IN_FAMILY_NAME:
        return family
    return family.rstrip(")").removesuffix(word).rstrip(" ,(") or family


def without_nickname(full: str) -> str:
    """Return a full name without the nickname in quotes or parentheses."""
    return _NICKNAME.sub("", full, count=1) if nickname_of(full) else full


def nickname_of(full: str) -> str:
    """Return the nickname before the last word, as in Earl L. "Buddy" Carter, or an empty string."""
    found = _NICKNAME.search(full) if _QUOTES.intersection(full) else None
    return (found[1] or found[2]) if found else ""


@lru_cache(maxsize=16384)
def spellings(text: str) -> tuple[str, ...]:
    """Return the keys of a name: its own, and the German and Nordic one (ü as ue, ø as oe, å as aa)."""
    if text.isascii():
        return (name_key(text),)
    folded = text.casefold()
    composed = unicodedata.normalize("NFC", folded)
    if composed == folded and _EXPANDED.isdisjoint(folded):
        return (name_key(text),)
    return tuple(dict.fromkeys((name_key(text), name_key(composed.translate(_UMLAUTS)))))


@cache
def _nameparser() -> ModuleType:
    """Return the library."""
    import nameparser  # noqa: PLC0415 -- it takes 40 ms to import, and many processes parse no name

    return nameparser


@cache
def _meaningful() -> frozenset[str]:
    """Return the words that the library's parser treats as something other than a name, such as titles."""
    lexicon = _nameparser().Lexicon.default()
    return frozenset().union(
        lexicon.titles,
        lexicon.suffix_acronyms,
        lexicon.suffix_words,
        lexicon.suffix_acronyms_ambiguous,
        lexicon.particles,
        lexicon.conjunctions,
        lexicon.bound_given_names,
        lexicon.maiden_markers,
        lexicon.after_given_titles,
    )


def _plain_letters(folded: str) -> str:
    """Return case-folded text without accents, its letters transliterated, other signs as spaces."""
    folded = unicodedata.normalize("NFKD", _APOSTROPHES.sub("'", folded).translate(_LETTERS)).casefold()
    folded = _ACCENTS.sub("", folded.translate(_LETTERS))
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", "".join(map(_kept, folded)))


@cache
def _latin_letters() -> dict[int, str]:
    """Return the plain form of each precomposed Latin letter and apostrophe, whatever its neighbours are."""
    letters = filter(str.isalpha, map(chr, _PRECOMPOSED))
    plain = {ord(letter): _plain_letters(letter.casefold()) for letter in letters}
    table = {code: text for code, text in plain.items() if text.isascii()}
    return table | dict.fromkeys(map(ord, _APOSTROPHE_SIGNS), "'")


def _kept(character: str) -> str:
    """Return letters, marks and numbers unchanged, nothing for format characters, else a space."""
    category = unicodedata.category(character)
    if category[0] in "LMN" or character == "'":
        return character
    return "" if category == "Cf" else " "


def _cleaned(full: str) -> str:
    """Return the name in composed form, without headlines, pictures and numbers beside a comma."""
    if len(full) > MAX_NAME_LENGTH:
        raise InvalidValue(f"The name is too long. Use at most {MAX_NAME_LENGTH} characters.")
    text = full
    if not full.isascii():
        text = unicodedata.normalize("NFKC", _APOSTROPHES.sub("'", full))
    text = "".join(character for character in text if character.isprintable() or character.isspace())
    text = " ".join(_PICTURES.sub("", _HEADLINE.sub("", text)).split())
    if not any(map(str.isalpha, text)):
        raise InvalidValue("The name must contain a letter.")
    return ", ".join(part.strip() for part in text.split(",") if any(map(str.isalpha, part)))


def _from_parsed(parsed: Any, text: str) -> PersonName:  # noqa: ANN401 -- the library has no types
    """Return the given, family and full name from the parser's result."""
    first, last = parsed.given, parsed.family
    role = _nameparser().Role
    own_roles = (role.GIVEN, role.MIDDLE, role.FAMILY)
    if parsed.title and bool(first) != bool(last):
        words = [token.text for token in parsed.tokens if token.role in {role.TITLE, *own_roles}]
        words = [word for word in words if _HONORIFICS.isdisjoint({word.lower(), name_key(word)})]
        if len(words) > 1:
            given, *middle, family = words
            return PersonName(given, " ".join([*_surnames(middle), family]), " ".join(words))
    parts = tuple(token.text for token in parsed.tokens if token.role in own_roles)
    if not (first or parsed.title):
        first, last = _split_han(last)
    if not any(map(str.isalpha, "".join(parts))):
        return PersonName(parsed.nickname or text, "", parsed.nickname or text)
    middle = parsed.middle.split()
    if middle and not last:  # only a nickname before the comma
        *middle, last = middle
    if "," in text:  # otherwise in the written order: East Asian names begin with the family name
        parts = (first, *middle, last)
    is_whole = all(any(map(str.isalpha, part)) for part in (first, last))
    words = [*parts[:-1], *(_quoted_nickname(text, parsed.nickname) if is_whole else ()), parts[-1]]
    return PersonName(first, " ".join([*_surnames(middle), *last.split()]), " ".join(words).strip())


def _quoted_nickname(text: str, nicknames: str) -> list[str]:
    """Return in quotes the first of the nicknames that is one word and stands before a part of the name."""
    for quoted in _QUOTED.finditer(text):
        inside = "," in text or any(map(str.isalnum, text[quoted.end() :]))
        if inside and quoted[1] in nicknames.split() and name_key(quoted[1]) not in _PRONOUNS:
            return [f'"{quoted[1]}"']
    return []


def _surnames(middle: list[str]) -> list[str]:
    """Return the middle names that belong to a double surname."""
    for index, word in enumerate(middle):
        if name_key(word) in _FIRST_SURNAMES:
            return middle[index:]
    return []


def _split_han(name: str) -> tuple[str, str]:
    """Split a name in Han characters into given and family name; else return it as the given name."""
    if not _HAN.fullmatch(name):
        return name, ""
    known_double = name[:2] in _COMPOUND_SURNAMES and len(name) > 2  # noqa: PLR2004 -- two characters
    family = 2 if known_double or len(name) > 3 else 1  # noqa: PLR2004 -- four are Japanese, two and two
    return name[family:], name[:family]
