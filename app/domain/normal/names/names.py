"""Names of people, and their parts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.names.east_asian_titles import without_title
from app.domain.normal.names.generations import IN_FAMILY_NAME, generation_of
from app.domain.normal.names.honorifics import is_single_title, separated, title_count
from app.domain.normal.names.name_brackets import without_brackets
from app.domain.normal.names.name_frames import may_be_framed, unframed
from app.domain.normal.names.name_keys import name_key
from app.domain.normal.names.name_lexicon import (
    ambiguous_degrees,
    is_generation,
    is_initials,
    is_title,
    library,
    meaningful_words,
)
from app.domain.normal.names.name_notes import is_pronoun, may_have_notes, without_notes
from app.domain.normal.names.name_order import (
    is_hungarian_order,
    split_by_capitals,
    split_by_middle_capitals,
    split_by_patronymic,
    split_by_title,
    split_family_first,
)
from app.domain.normal.names.name_scripts import one_script
from app.domain.normal.names.name_texts import NO_LETTER, clean_text
from app.domain.normal.names.placeholder_names import (
    is_household,
    is_placeholder,
    may_be_placeholder,
    names_several,
    without_marks,
)
from app.domain.normal.texts.wordlists import words

NO_PERSON = Message("This is not the name of a person. Send the person's own given and family name.")

_FIRST_SURNAMES = words("names/surnames.txt")
_COMPOUND_SURNAMES = words("names/han_surnames.txt")
_PARTICLES = words("names/particles.txt")
_ABBREVIATED = words("names/abbreviated_given_names.txt")
_LATIN = "[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f]{2,}"
_PLAIN = re.compile(f"{_LATIN}(?: {_LATIN}){{1,2}}")
_TWO_FAMILIES = re.compile(
    r"(?P<one>[^\s/,]+)(?:\s/\s|(?<=[^\W\d_a-z]{2})\s?/(?=[^\W\d_a-z]{2}))(?P<other>[^\s/,]+)(?:\s(?P<given>[^/,]+))?"
)
"""The family names of a woman in West Africa, and her given names: OUEDRAOGO / SERE KORTIMI."""
_NUMBERED = re.compile(r"(?<=[^\W\d_]) (\d{1,4})$")
"""A number that tells people of one name apart, as in bibliographies: Lan Zhang 0002."""
_LONG_NUMBER = re.compile(r"(?<=[^\W\d_]) #?\d{5,}$")
_HYPHENED = re.compile(r"[^\W\d_]+-(?:de|den|der|du|la|te|ten|ter|van|vom|von|zu)")
"""The first of two family names, if the second begins with a particle: Jansen-de Vries."""
_HAS_QUOTED = re.compile(r"""["\u201c][^"\u201c\u201d]*["\u201d]|\([^()]*\)|(?<!\S)'[^']*'(?!\S)""")
"""A nickname in quotes or parentheses, also one of several words: "the boss"."""
_QUOTED = re.compile(r"""["'(\u201c]([^\W\d_][\w'.-]*)["')\u201d]""")
_CAPITALS = re.compile(r"[^\W\d_a-z]{2}")
_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{2,6}")


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name: given, family (either may be empty, but not both) and full name, as written."""

    first: str
    last: str
    full: str


class NoPerson(InvalidValue):
    """The text is not the name of a person, such as LinkedIn Member."""


@lru_cache(maxsize=8192)
def parse_name(full: str, *, family_first: bool = False) -> PersonName:
    """Parse a full name; titles, credentials, pronouns, emoji, remarks and headlines are removed.

    A word such as Prince, Wing or Judge is a title only if a given and a family name are left without it. The
    full name keeps a nickname of one word, in quotes (Earl L. "Buddy" Carter), the generation at its end, and
    a note with a number that tells people of one name apart: Ram Yadav (Siraha-4).

    Handles "Last, First", family names in capitals (DUPONT Jean), particles (van, de la), two surnames if the
    first is a well-known Iberian one, and Chinese, Japanese and Korean names in their own order. A single
    name is the given name. `family_first` is the order of other names that the header of a column says.

    Raises:
        NoPerson: the text is not a person's name.
        InvalidValue: the text contains no letter, or is longer than 200 characters.

    """
    text = clean_text(full)
    words = text.lower().split()
    is_plain = _PLAIN.fullmatch(text) and meaningful_words().isdisjoint(words) and not _may_have_more(words)
    has_own_order = family_first or _CAPITALS.search(text) or generation_of(text).rank
    if is_plain and text == full and not has_own_order:
        first, *middle, last = text.split()
        return PersonName(first, " ".join([*_surnames(middle), last]), text)
    text, is_family = without_title(unframed(text))
    if is_family:
        return PersonName("", text, text)
    if is_household(text):
        raise NoPerson(NO_PERSON)
    name, distinction = _noted(one_script(separated(text)), family_first=family_first)
    if is_placeholder(name.full) or names_several(name.full):
        raise NoPerson(NO_PERSON)
    if not any(map(str.isalpha, name.full)):
        raise InvalidValue(NO_LETTER)
    return replace(name, full=f"{name.full} ({distinction})") if distinction else name


def _may_have_more(words: list[str]) -> bool:
    """Return whether lower-case words may be a placeholder, or a name with a title or a note."""
    if may_be_placeholder(words) or may_have_notes(words) or may_be_framed(words) or title_count(words):
        return True
    return is_hungarian_order(words) or split_by_patronymic(words) is not None


def _noted(text: str, *, family_first: bool) -> tuple[PersonName, str]:
    """Return the name without titles and notes, and what tells it from others like it."""
    text, distinction = without_brackets(_NUMBERED.sub(r" (\1)", _LONG_NUMBER.sub("", text)))
    words = text.split()
    count = title_count(words)
    whole, text = text, " ".join(words[count:])
    if is_placeholder(text) or (count and is_placeholder(whole)):
        raise NoPerson(NO_PERSON)
    text = without_notes(without_marks(text))
    if count and " " not in text:
        return PersonName("", text, text), distinction
    found = _TWO_FAMILIES.fullmatch(text)
    if found and (found["given"] or count):
        given = (found["given"] or "").partition(" ")[0]
        return PersonName(given, f"{found['one']} {found['other']}", text), distinction
    text = text.partition(" / ")[0]
    return _with_generation(text, family_first=family_first), distinction


def _with_generation(text: str, *, family_first: bool) -> PersonName:
    """Return the name, with its generation at the end of the full name."""
    generation = generation_of(text)
    name = _ordered(generation.name, family_first=family_first)
    if not generation.rank:
        return name
    if not (name.first and name.last):
        return _ordered(text, family_first=family_first)
    word = generation.written
    last = f"{name.last} {word}" if word.lower() in IN_FAMILY_NAME else name.last
    return PersonName(name.first, last, f"{name.full} {word}")


def _ordered(text: str, *, family_first: bool) -> PersonName:
    """Return the parts of a name in the order that a comma, capitals or the header of a column shows."""
    family, _comma, given = text.partition(", ")
    if given:
        return _after_comma(family, given.split())
    if middle := split_by_middle_capitals(text.split()):
        return PersonName(*middle, text)
    parts = split_by_capitals(text.split(), family_first=family_first)
    if parts is None:
        parts = split_by_patronymic(text.split()) or split_by_title(text.split())
    family_first = family_first or is_hungarian_order(text.split())
    if parts is None and family_first and " " in text and not _HAN.search(text):
        parts = split_family_first(text.split())
    if parts is None:
        return _parsed(text)
    words, last = parts
    words = words[title_count([*words, *last]) :]
    while len(words) > 1 and is_title(words[0]):
        words = words[1:]
    if _HAS_QUOTED.search(given := " ".join(words)):
        text = f"{' '.join(last)}, {given}"
        return _from_parsed(library().parse(text), text)
    return PersonName(words[0] if words else "", " ".join(last), " ".join([*words, *last]))


def _after_comma(family: str, words: list[str]) -> PersonName:
    """Return the name of which the given name follows a comma."""
    words = words[title_count(words, left=1) :]
    given, families = " ".join(words), family.split()
    if words and is_initials(given) and sum(word.lower() not in _PARTICLES for word in families) == 1:
        return PersonName(words[0], family, f"{given} {family}")
    if words and len(families) > 1 and (middle := split_by_middle_capitals([*words, *families])):
        return PersonName(*middle, f"{given} {family}")
    return _parsed(f"{family}, {given}")


def _parsed(text: str) -> PersonName:
    """Return the name as the library parses it."""
    name = _from_parsed(library().parse(text), text)
    if "," in text and "," not in name.full:  # what was before it may look like a headline or a nickname now
        again = parse_name(name.full)
        return name if again.full == name.full else again
    return name


def _from_parsed(parsed: Any, text: str) -> PersonName:  # noqa: ANN401 -- nameparser has no types
    """Return the given, family and full name from the parser's result."""
    first, last = parsed.given, parsed.family
    role = library().Role
    own_roles = (role.GIVEN, role.MIDDLE, role.FAMILY)
    if parsed.title and bool(first) != bool(last):
        words = [token.text for token in parsed.tokens if token.role in {role.TITLE, *own_roles}]
        words = [word for word in words if not is_single_title(word)]
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
    if middle and last and _HYPHENED.fullmatch(middle[-1]):
        last = f"{middle.pop()} {last}"
    if first and "," not in text and (surname := _surname_like_a_suffix(parsed, last)):
        middle, last, parts = [*middle, *last.split()], surname, (*parts, surname)
    if "," in text:  # otherwise in the written order: East Asian names begin with the family name
        parts = (first, *middle, last)
    is_whole = all(any(map(str.isalpha, part)) for part in (first, last))
    words = [*parts[:-1], *(_quoted_nickname(text, parsed.nickname) if is_whole else ()), parts[-1]]
    if abbreviated := _given_like_a_title(parsed):
        first, middle, words = abbreviated, [first, *middle], [abbreviated, *words]
    return PersonName(first, " ".join([*_surnames(middle), *last.split()]), " ".join(words).strip())


def _surname_like_a_suffix(parsed: Any, last: str) -> str:  # noqa: ANN401 -- nameparser has no types
    """Return the word that the parser took for a credential, if it is the family name: Ra, or JAMES J MA."""
    word = str(parsed.suffix)
    if not (last or parsed.middle):
        return word if word.istitle() and word.isalpha() and not is_generation(word) else ""
    is_in_capitals = is_initials(last) and parsed.given.isupper()
    return word if is_in_capitals and word.lower() in ambiguous_degrees() else ""


def _given_like_a_title(parsed: Any) -> str:  # noqa: ANN401 -- nameparser has no types
    """Return the abbreviated given name that the parser took for a title because of its full stop: Wm."""
    title = str(parsed.title)
    return title if title.endswith(".") and title[:-1].lower() in _ABBREVIATED else ""


def _quoted_nickname(text: str, nicknames: str) -> list[str]:
    """Return in quotes the first of the nicknames that is one word and stands before a part of the name."""
    for quoted in _QUOTED.finditer(text):
        inside = "," in text or any(map(str.isalnum, text[quoted.end() :]))
        if inside and quoted[1] in nicknames.split() and not is_pronoun(quoted[1]):
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
    usual = 2 if len(name) > 3 else 1  # noqa: PLR2004 -- four are Japanese, two and two
    known = (length for length in (3, 2) if name[:length] in _COMPOUND_SURNAMES and len(name) > length)
    family = next(known, usual)
    return name[family:], name[:family]
