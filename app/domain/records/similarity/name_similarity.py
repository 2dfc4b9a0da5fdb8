"""Similarity of two people's names: their words are aligned, and each difference lowers the score.

A word that only one name has lowers the score a little; words that differ on both sides make two people.
`tests/domain/records/similarity/name_cases.csv` has cases of several cultures, with their sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import product
from math import prod

from app.domain.normal.names.generations import generation_of
from app.domain.normal.names.latin_names import latin_name, script_of
from app.domain.normal.names.name_keys import nickname_of, person_key, spellings, without_nickname
from app.domain.normal.names.names import PersonName
from app.domain.normal.names.nicknames import is_given_name
from app.domain.records.left_out_words import counts, left_out, roles
from app.domain.records.similarity.sound_similarity import ALPHABETS, ENOUGH, sound_score
from app.domain.records.similarity.word_alignment import Role, Words, align
from app.domain.records.similarity.word_similarity import ALIKE, resembles

MIDDLES_DIFFER = 0.6
"""The score of names that differ in middle names only; it neither confirms nor doubts an exact key."""
_MAX_WORDS = 12
"""The number of words that are compared; those in the middle of a longer name are left out."""
SOUNDS_ALIKE = 0.75
"""The score of names in different scripts that sound alike just enough; it is possible at a company."""
_PER_SOUND = 0.3
"""How much the score rises with the similarity in sound, up to less than a match."""
ALONE = 0.5
"""The score of a given or family name alone."""
ANOTHER = 0.4
"""The score of names of which one part differs."""


def name_score(a: PersonName, b: PersonName) -> float:
    """Return the similarity of two people's names, 0 to 1.

    Names that differ in accents, hyphens, spaces, or German and Nordic spellings are the same. The score is
    lower for middle names left out, nicknames, the family name first, one of two family names, other
    romanizations, typing errors and initials, in this order.
    """
    if person_key(a.full) == person_key(b.full) != "":
        return ALIKE["same"]
    ranks = {generation_of(a.full).rank, generation_of(b.full).rank}
    if ranks == {""}:
        return _both_ways(a, b)
    score = _both_ways(_without_generation(a), _without_generation(b))
    if len(ranks) == 1:
        return score
    if "" in ranks:  # the word may be a family name, such as Neto
        return min(max(score, _both_ways(a, b)), ALIKE["generation"])
    return score * ANOTHER


def _without_generation(name: PersonName) -> PersonName:
    _rank, word, full = generation_of(name.full)
    last = name.last.rstrip(")").removesuffix(word).rstrip(" ,(") if word else name.last
    return PersonName(name.first, last or full.strip().rpartition(" ")[2], full)


def _both_ways(a: PersonName, b: PersonName) -> float:
    """Return the lower score of both directions: the words of a pair have the roles of the first name."""
    scripts = {script_of(a.full), script_of(b.full)}
    if len(scripts) > 1:
        return _across_scripts(latin_name(a), latin_name(b), scripts)
    score = _one_way(a, b)
    return min(score, _one_way(b, a)) if score else 0.0


def _across_scripts(a: PersonName, b: PersonName, scripts: AbstractSet[str]) -> float:
    """Return the similarity of names transliterated from different scripts, lower than for equal scripts.

    Only names that are equal in alphabets with vowels are surely one: many Chinese characters are read alike.
    """
    sound = sound_score(a.full, b.full, scripts)
    score = SOUNDS_ALIKE + (sound - ENOUGH) * _PER_SOUND if sound else 0.0
    return max(score, name_score(a, b) * ALIKE["transliterated"]) if scripts <= ALPHABETS else score


def _one_way(a: PersonName, b: PersonName) -> float:
    """Return the best score of the readings and orders of both names."""
    best = 0.0
    for (left, x), (right, y) in product(_readings(a), _readings(b)):
        if _has_another(left, right) and _has_another(right, left):
            best = max(best, x * y * ANOTHER)
            continue
        for ordered_left, ordered_right, factor in _orders(left, right):
            if (limit := x * y * factor) > best:
                best = max(best, limit * _score(ordered_left, ordered_right))
    return best


@lru_cache(maxsize=4096)
def _readings(name: PersonName) -> tuple[tuple[Words, float], ...]:
    """Return the words of a name in each spelling, also with its nickname, and the factor on the score."""
    is_ascii = name.first.isascii() and name.last.isascii() and name.full.isascii()
    numbers = (0,) if is_ascii else (0, -1)
    readings = [(_words(name, number), 1.0) for number in numbers]
    if nickname := nickname_of(name.full):
        known_as = PersonName(nickname, name.last, f"{nickname} {name.last}")
        readings += [(_words(known_as, number), ALIKE["nickname"]) for number in numbers]
    return tuple(dict.fromkeys(readings))


def _words(name: PersonName, spelling: int) -> Words:
    """Return the words of a name with their roles, given names first."""
    given, family = (spellings(part)[spelling].split() for part in (name.first, name.last))
    middle = spellings(without_nickname(name.full))[spelling].split()
    if not (given or family):
        given, middle, family = middle[:1], middle[1:-1], middle[1:][-1:]
    for word in (*given, *family):
        if word in middle:
            middle.remove(word)
    parts: tuple[tuple[list[str], Role], ...] = ((given, "given"), (middle, "middle"), (family, "family"))
    words = [(word, role) for part, role in parts for word in part]
    return tuple(words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS // 2] + words[-_MAX_WORDS // 2 :])


def _has_another(name: Words, other: Words) -> bool:
    """Return whether a given or family name resembles no word of the other name, whatever their order."""
    texts = [text for text, _ in other]
    return any(
        role != "middle" and counts(word, role) and not any(resembles(word, text) for text in texts)
        for word, role in name
    )


def _orders(a: Words, b: Words) -> Iterator[tuple[Words, Words, float]]:
    """Yield both names as they are, then with the family name of one first, and the factor for the order.

    If both parts are common given names, as in James Thomas, their order tells two people apart.
    """
    yield a, b, 1.0
    if min(len(a), len(b)) > 1:
        factor = ALIKE["second" if is_given_name(a[0][0]) and is_given_name(a[-1][0]) else "swapped"]
        yield _family_first(a), b, factor
        yield a, _family_first(b), factor
    else:  # a name without spaces may lack the middle names: RogerWicker is Roger F. Wicker
        yield _without_middles(a), _without_middles(b), ALIKE["middle"]


def _without_middles(name: Words) -> Words:
    return tuple(word for word in name if word[1] != "middle")


def _family_first(name: Words) -> Words:
    return tuple(sorted(name, key=lambda word: word[1] != "family"))


def _score(left: Words, right: Words) -> float:
    """Return the similarity of two names with their words in this order."""
    alignment = align(left, right)
    levels: dict[Role, float] = {}
    for role, level in alignment.pairs:
        levels[role] = min(level, levels.get(role, 1.0))
    score = prod(levels.values()) if levels else 0.0
    extra = roles(alignment.only_left + alignment.only_right)
    if extra and alignment.only_left and alignment.only_right:
        return score * (MIDDLES_DIFFER if extra == {"middle"} else ANOTHER)
    if extra and min(len(left), len(right)) == 1:
        return score * ALONE
    return score * min(left_out(alignment.only_left, left), left_out(alignment.only_right, right))
