"""Similarity in sound of names that are transliterated from different scripts.

Transliterations differ in vowels, and in what one script does not tell apart: l and r, b and v, k, g and h.
A word is a chain of sounds, and the cost of changing one chain into another tells how different two are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import permutations

_LETTERS = {
    **dict.fromkeys("bpf", "P"),
    **dict.fromkeys("dt", "T"),
    **dict.fromkeys("lr", "L"),
    **dict.fromkeys("mn", "N"),
    **dict.fromkeys("sz", "S"),
    **dict.fromkeys("kqc", "K"),
    **dict.fromkeys("iy", "i"),
    **dict(zip("aeoujgxhwv", "aeouJGXHWV", strict=True)),
}
_GROUPS = {
    **dict.fromkeys(("tsch", "shch", "sch", "tch", "dzh", "sh", "zh", "dz", "ts", "tz", "cz", "sz"), "S"),
    **dict.fromkeys(("ce", "ci", "cy"), "S"),
    **dict.fromkeys(("kh", "gh", "ck"), "K"),
    "ch": "C",
    "ph": "P",
    "th": "D",
}
_AT_THE_START = {"mp": "b", "nt": "d", "gk": "g"}
"""What Greek and African names begin with: in Greek it is one sound, in the others the first is not heard."""
_START = re.compile("^(?:mp|nt|gk)")
_SOUND = re.compile("|".join(_GROUPS) + "|[a-z]")
_ARTICLE = re.compile("^l(?=[^aeiouyw])")
"""The article as it is transliterated, before a consonant, where no name has an l."""
_BEGINNINGS = [*_LETTERS.items(), *((letters[0], sound) for letters, sound in _GROUPS.items())]
"""The letters and the first letters of groups, each with the sound that it may begin with."""
_SERVANT = re.compile(r"\b(?:abd|bd)(?: ?[aeou]?l)?(?: |(?<=l))(?=[a-z]{2})")
_PARTICLES = frozenset(("al", "el", "ul", "bin", "ben", "ibn", "bn", "binti", "bint", "bnt"))
"""The Arabic article, and what stands between the names of a child and the father."""
_VOWELS = frozenset("aeiou")
_ALSO = {"C": "SKJGXH", "D": "TS", "G": "KSJH", "H": "KXJ", "J": "SiK", "V": "PWuo", "W": "Pu", "X": "SK"}
"""The sounds that are spelt in the same way in another language."""
_WEAK = {"H": 0.2, "W": 0.4, "V": 0.7}
_SKELETON = str.maketrans(
    {"C": "K", "G": "K", "X": "K", "J": "S", "D": "T", "V": "P", "W": "P", **dict.fromkeys("aeiouH", None)}
)
_ALIKE = 0.15
_ANOTHER = 1.0
_OTHER_VOWEL = 0.6
"""The share of a vowel's weight if it is another one."""
_MAX_WORDS = 5
ENOUGH = 0.7
ALPHABETS = frozenset(("", "LATIN", "CYRILLIC", "GREEK", "GEORGIAN", "ARMENIAN"))
"""The scripts, as `script_of` names them, of which every letter has its own in Latin, also the vowels."""
_WITHOUT_VOWELS = frozenset(("ARABIC", "HEBREW"))
_ENOUGH_OF_A_WORD = 0.65


def sound_score(a: str, b: str, scripts: AbstractSet[str]) -> float:
    """Return the similarity in sound of two full names in Latin letters, 0 to 1; 0 below `ENOUGH`.

    The words of the name with fewer are found in the other, in any order, or both names have the same sounds
    with other spaces. `scripts` are those in which the names were written.
    """
    vowels = _weight_of_vowels(scripts)
    left, right = sorted((_words(a), _words(b)), key=len)
    if not left:
        return 0.0
    best = _of_words(left, right, vowels) if len(left) > 1 or len(right) == 1 else 0.0
    if len(left) != len(right):
        whole = "".join(left)
        turned = ("".join((*right[turn:], *right[:turn])) for turn in range(len(right)))
        best = max(best, *(_alike(whole, other, vowels) for other in turned))
    return best if best >= ENOUGH else 0.0


def skeleton(full: str) -> str:
    """Return the consonants of each word of a name in Latin letters, one for those that sound alike."""
    words = (_sounds(word).translate(_SKELETON) for word in _main_words(full) if len(word) > 1)
    return " ".join(filter(None, words))


def turned(words: str) -> tuple[str, ...]:
    """Return the words written together in the orders that names have, the family name first or last."""
    parts = words.split()
    turns = dict.fromkeys((0, len(parts) - 1, 1)) if len(parts) > 1 else (0,)
    return tuple("".join((*parts[turn:], *parts[:turn])) for turn in turns)


@lru_cache(maxsize=16384)
def initials(word: str) -> frozenset[str]:
    """Return the letters with which a word that sounds alike may begin.

    A vowel may be left out at the start, and so it may be between two consonants.
    """
    sounds = _sounds(word)
    consonants = [sound for sound in sounds if sound not in _VOWELS]
    first = [*sounds[:1], *consonants[: 2 if word.startswith("l") else 1]]
    alike = {letter for letter, sound in _BEGINNINGS for one in first if _change(one, sound, 1.0) < _ANOTHER}
    has_vowel_second = sounds[:1] not in _VOWELS and sounds[1:2] in _VOWELS
    return frozenset(alike if has_vowel_second else alike | _VOWELS)


def _weight_of_vowels(scripts: AbstractSet[str]) -> float:
    """Return the weight of a vowel beside a consonant: little if a script leaves them out."""
    if scripts & _WITHOUT_VOWELS:
        return 0.1
    return 0.3 if scripts <= ALPHABETS else 0.2


def _words(full: str) -> tuple[str, ...]:
    """Return the sounds of the words, without initials; of a long name, those at both ends."""
    words = [_sounds(word) for word in _main_words(full) if len(word) > 1]
    if len(words) > _MAX_WORDS:
        words = [*words[:2], *words[2 - _MAX_WORDS :]]
    return tuple(filter(None, words))


def _main_words(full: str) -> list[str]:
    """Return the words without articles and words for son and daughter; Abd al Aziz is one word."""
    words = _SERVANT.sub("abdul", full).split()
    main = [word for index, word in enumerate(words) if not index or word not in _PARTICLES]
    return main if len(main) > 1 else words


@lru_cache(maxsize=16384)
def _sounds(word: str) -> str:
    """Return the sounds of a word without the Arabic article; two equal ones in a row are one.

    Not so m and n, or l and r: in Ghanim a vowel is between them, which Arabic does not write.
    """
    sounds: list[str] = []
    before = ""
    word = _START.sub(lambda found: _AT_THE_START[found[0]], _ARTICLE.sub("", word))
    for letters in _SOUND.findall(word):
        sound = _GROUPS.get(letters) or _LETTERS[letters]
        if sounds[-1:] != [sound] or (sound in "LN" and letters != before):
            sounds.append(sound)
        before = letters
    return "".join(sounds)


def _of_words(left: Sequence[str], right: Sequence[str], vowels: float) -> float:
    """Return the similarity of the best pairs of words, by weight; 0 if a word resembles none."""
    best = 0.0
    for chosen in permutations(right, len(left)):
        pairs = list(zip(left, chosen, strict=True))
        scores = [_alike(x, y, vowels) for x, y in pairs]
        if min(scores) >= _ENOUGH_OF_A_WORD:
            weights = [max(_weight(x, vowels), _weight(y, vowels)) for x, y in pairs]
            total = sum(score * weight for score, weight in zip(scores, weights, strict=True))
            best = max(best, total / sum(weights))
    return best


@lru_cache(maxsize=65536)
def _alike(a: str, b: str, vowels: float) -> float:
    """Return the similarity of two chains of sounds: one minus the cheapest change, by their weight."""
    costs = [0.0]
    for y in b:
        costs.append(costs[-1] + _weight(y, vowels))
    for x in a:
        row = [costs[0] + _weight(x, vowels)]
        for column, y in enumerate(b):
            changed = costs[column] + _change(x, y, vowels)
            row.append(min(changed, costs[column + 1] + _weight(x, vowels), row[-1] + _weight(y, vowels)))
        costs = row
    return 1 - costs[-1] / max(_weight(a, vowels), _weight(b, vowels))


def _change(x: str, y: str, vowels: float) -> float:
    """Return the cost of one sound for another."""
    if x == y:
        return 0.0
    if x in _VOWELS and y in _VOWELS:
        return _OTHER_VOWEL * vowels
    return _ALIKE if y in _ALSO.get(x, "") or x in _ALSO.get(y, "") else _ANOTHER


def _weight(sounds: str, vowels: float) -> float:
    """Return the cost of leaving out the sounds."""
    return sum(vowels if sound in _VOWELS else _WEAK.get(sound, 1.0) for sound in sounds)
