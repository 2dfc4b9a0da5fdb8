"""Names with the family name first, as capitals or the header of a column show: DUPONT Jean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.domain.normal.names.honorifics import is_honorific, title_count
from app.domain.normal.names.name_frames import is_mark
from app.domain.normal.names.name_keys import name_key
from app.domain.normal.names.name_lexicon import is_bound_given_name, is_credential, is_generation
from app.domain.normal.names.name_notes import is_office
from app.domain.normal.names.nicknames import equivalents
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries, words

_PARTICLES = words("names/particles.txt")
_EAST_ASIAN = words("names/east_asian_surnames.txt")
_IBERIAN = words("names/surnames.txt")
_SLAVIC_GIVEN = words("names/slavic_given_names.txt")
_HUNGARIAN_FAMILY, _HUNGARIAN_GIVEN = (
    frozenset(map(fold, names)) for _head, names in entries("names/hungarian_names.txt")
)
_VIETNAMESE = words("names/vietnamese_surnames.txt")
_SYLLABLE = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]*|ng")
_SYLLABLES = 3
_SHORT = 2
_MIXED_CAPITALS = re.compile(r"(?:Mc|Mac|Fitz|Di|Du|Van|D'|O')[^\W\d_a-z]{3,}")
"""A family name in capitals with a prefix that is not: McDONALD. De, La and Le also begin given names."""
_NO_VOWEL = re.compile("[B-DF-HJ-NP-TV-XZ]{3,4}")
"""Initials that are written together: JRR Tolkien."""
_SYLLABIC = re.compile("[B-DF-HJ-NP-TV-XZ]{1,2}[LR][B-DF-HJKMNPQSTV-XZ]{1,2}")
"""A Slavic family name without a vowel, with L or R in the middle: VLK, SRB."""
_PATRONYMIC = re.compile(
    r"[а-яёіїєґ']*(?:[оеёй]вич|[оеёії]вна|[иі]чна|ильич|лукич|кузьмич|фомич|никитич)",  # noqa: RUF001
    re.IGNORECASE,
)
_KAZAKH_FATHER = re.compile(r"[^\W\d_]+(?:ұлы|қызы)", re.IGNORECASE)
_FATHER_OR_FAMILY = re.compile(r".*[иі]ч", re.IGNORECASE)
"""A father's name of a man, which may also be a family name: Петрович, Лукашевич."""
_CYRILLIC_FAMILY = re.compile(
    r"[а-яёіїєґ'-]{2,}(?:[оеёє]в|[иы]н|[сц]ький|[сц]кий|енко|[ую]к|ян|дзе|швили|[иы]х|[иі]ч)",  # noqa: RUF001
    re.IGNORECASE,
)
_LATIN_PATRONYMIC = re.compile(r"[a-z]+(?:[oe]vich|[oe]vna|ichna)", re.IGNORECASE)
_LATIN_SLAVIC = re.compile(r"[a-z]{2,}(?:ov|ev|ova|eva|sky|skiy|skaya|enko)", re.IGNORECASE)
_SON_OR_DAUGHTER = words("names/son_or_daughter.txt")
_CYRILLIC_INITIALS = re.compile(r"[А-ЯЁІЇЄҐ]\.(?:[ -]?[А-ЯЁІЇЄҐ]\.)+")  # noqa: RUF001 -- Cyrillic
_LATIN_INITIALS = re.compile(r"[A-Z]\.(?:[ -]?[A-Z]\.)+")
_WITH_FATHER = 4
_TWO_AND_TWO = 4


def split_by_capitals(
    name: Sequence[str], *, family_first: bool = False
) -> tuple[list[str], list[str]] | None:
    """Return the given and the family name if all the family name, and nothing else, is in capitals, or None.

    DUPONT Jean, Jean DE LA TOUR. One word in capitals at the end changes nothing, unless a header says that
    the family name comes first. Two letters may be initials (JD Vance), or a Chinese family name (LI Wei).
    """
    shouted = [_is_shouted(word) for word in name]
    if not any(shouted) or not any(any(map(str.islower, word)) for word in name):
        return None
    count = _leading(name, shouted)
    if count and not any(shouted[count:]) and not any(map(is_bound_given_name, name[:count])):
        return list(name[count:]), list(name[:count])
    count = _leading(name[::-1], shouted[::-1])
    if count > (not family_first) and not any(shouted[:-count]):
        return list(name[:-count]), list(name[-count:])
    return None


def split_family_first(name: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the given and the family name of a name that is written with the family name first.

    The family name has its particles, and in Spanish and Portuguese the second one.
    """
    count = 0
    while count < len(name) - _SHORT and name[count].lower() in _PARTICLES:
        count += 1
    count += 1
    rest = name[count:]
    if len(rest) > 1 and fold(name[count - 1]) in _IBERIAN:
        is_second = fold(rest[0]) in _IBERIAN or len(name) >= _TWO_AND_TWO
        count += int(is_second)
    return list(name[count:]), list(name[:count])


def split_by_patronymic(name: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Return the given and the family name if a father's name or initials at the end show the order.

    Иванов Иван Иванович and Иванов И. И. begin with the family name, Роман Аркадьевич Абрамович does not.
    None if nothing shows the order.
    """
    given = list(name[1:])
    if _CYRILLIC_INITIALS.fullmatch(" ".join(given)):
        return given, [name[0]]
    if _LATIN_INITIALS.fullmatch(" ".join(given)) and _LATIN_SLAVIC.fullmatch(name[0]):
        return given, [name[0]]
    if len(name) == _WITH_FATHER and name[-1].lower() in _SON_OR_DAUGHTER:
        return given, [name[0]]
    if len(name) != _SYLLABLES:
        return None
    first, middle, last = name
    if _PATRONYMIC.fullmatch(middle) or _LATIN_PATRONYMIC.fullmatch(middle):
        return [first, middle], [last]
    is_last = _is_last_patronymic(first, middle, last) or (
        _LATIN_PATRONYMIC.fullmatch(last) and _LATIN_SLAVIC.fullmatch(first)
    )
    return (given, [first]) if is_last else None


def _is_last_patronymic(first: str, middle: str, last: str) -> bool:
    """Return whether a Cyrillic name ends with a father's name: Анна Мария Лукашевич does not."""
    if _KAZAKH_FATHER.fullmatch(last):
        return True
    if not _PATRONYMIC.fullmatch(last):
        return False
    if not _FATHER_OR_FAMILY.fullmatch(last):
        return True
    is_family = middle.lower() in _SLAVIC_GIVEN or _CYRILLIC_FAMILY.fullmatch(first) is not None
    return is_family and first.lower() not in _SLAVIC_GIVEN


def is_hungarian_order(name: Sequence[str]) -> bool:
    """Return whether a Hungarian family name begins the name, and a given name follows: Kovács Péter."""
    if not _SHORT <= len(name) <= _SYLLABLES:
        return False
    return fold(name[0]) in _HUNGARIAN_FAMILY and all(fold(word) in _HUNGARIAN_GIVEN for word in name[1:])


def split_by_middle_capitals(name: Sequence[str]) -> tuple[str, str] | None:
    """Return the given and the family name of Hong Kong's order, as in Peter CHAN Tai-man; else None."""
    shouted = [index for index, word in enumerate(name) if _is_shouted(word)]
    if len(shouted) != 1 or shouted[0] in {0, len(name) - 1}:
        return None
    family = name[shouted[0]]
    return (name[0], family) if family.lower() in _EAST_ASIAN else None


def split_by_title(name: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Return the given and the family name if a title stands between them: Rossi Dott. Mario; else None.

    Only a title with a full stop is one there: John Fru Ndi and Ahmad Maulana Ibrahim have such names.
    """
    if len(name) <= _SHORT or name[0].endswith(".") or not name[1].endswith("."):
        return None
    if is_generation(name[1]) or not is_honorific(name[1]):
        return None
    given = list(name[1:])
    given = given[title_count(given, left=1) :]
    return given, [name[0]]


def may_be_family_first(first: str, full: str) -> bool:
    """Return whether the word that counts as the given name may be the family name: Lim Kok Thay.

    The order of three syllables that begin with a family name of East Asia is not known, unless one of them
    is a Western given name: Lee Ann Bell.
    """
    syllables = fold(full).split()
    if len(syllables) != _SYLLABLES or not all(map(_SYLLABLE.fullmatch, syllables)):
        return False
    if not fold(first).startswith(syllables[0]):
        return False
    is_western = any(map(equivalents, syllables[1:]))
    return syllables[0] in _VIETNAMESE or (syllables[0] in _EAST_ASIAN and not is_western)


def _leading(name: Sequence[str], shouted: Sequence[bool]) -> int:
    """Return how many words at the beginning are in capitals or particles; 0 if none is, or all are."""
    count = last = 0
    while count < len(name) and (shouted[count] or name[count].lower() in _PARTICLES):
        count += 1
        last = count if shouted[count - 1] else last
    if last == len(name) or (last == 1 and not _is_family(name[0], beside=name[1])):
        return 0
    return last


def _is_shouted(word: str) -> bool:
    return (
        (word.isupper() or _MIXED_CAPITALS.fullmatch(word) is not None)
        and sum(map(str.isalpha, word)) > 1
        and "." not in word
    )


def _is_family(word: str, *, beside: str) -> bool:
    """Return whether one word in capitals is a family name, not initials or a credential.

    One without a vowel is so only beside a Slavic given name: VLK Jan, unlike JRR Tolkien.
    """
    if is_credential(word) or is_office(word) or is_mark(word):
        return False
    if _NO_VOWEL.fullmatch(word):
        return _SYLLABIC.fullmatch(word) is not None and name_key(beside) in _SLAVIC_GIVEN
    return len(word) > _SHORT or word.lower() in _EAST_ASIAN
