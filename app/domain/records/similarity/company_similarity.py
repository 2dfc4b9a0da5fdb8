"""Similarity of companies' names.

Two names are the same company if their words are, however they are joined. They are nearly the same if one
has additional general words (Acme, Acme Technologies), if initials or "international" are at another place,
or if words differ by a typing error after their first letter. Other abbreviations, different numbers, and
legal forms of different classes (AG, GmbH) are different companies.
"""

from __future__ import annotations

import re
from string import ascii_lowercase

from rapidfuzz.distance import OSA, JaroWinkler

from app.domain.normal.companies.company_names import have_different_forms, parse_company
from app.domain.normal.texts import wordlists

SAME = 1.0
GENERAL_WORD = 0.93
TYPO = 0.82
ANOTHER_FORM = 0.7
"""The factor on the score of companies with different legal forms; below the threshold for candidates."""
RESEMBLES = 0.5
"""The factor on the similarity of names that only resemble each other."""
MIN_LENGTH = 5
"""Shorter names that differ in a space are different: Visa and Vi SA."""
MIN_TYPO_LENGTH = 5
"""Shorter words that differ in a letter are different: LIC and LIG."""
MIN_LENGTH_OF_TWO_TYPOS = 9
"""Words of fewer letters have one typing error."""
MIN_JOINED_LENGTH = 9
"""Shorter names that differ in a letter and in spaces are different."""
_MIN_PLURAL = 4
_MIN_JOINED = 3
"""The length of the words between which "and" may be missing."""
_MAX_INITIALS = 2
_MOVABLE = frozenset({"international"})
_VOWEL = re.compile(r"[aeiouy]|[^\x00-\x7f]")
_CAPITALS = re.compile(r"\b[A-Z]{2,5}\b")
GENERAL = wordlists.words("companies/general_company_words.txt")
"""Words that are often added to a company's name, and rarely tell two companies apart."""
ATTACHED_FORMS = ("ag", "corp", "gmbh", "inc", "llc", "ltd", "plc", "sa", "se")
"""The legal forms that are often joined to a name, as in `siemensag`."""
MAX_SIMILAR_WORDS = 16
MAX_SIMILAR_LENGTH = 200
"""The longest names to which others are similar: the keys of one grow with the square of its words."""
MISSPELT_WITHIN = 8
"""The number of letters at the start of a name in which a typing error is searched for by exact keys."""
_COUNTRIES = {"iceland", "ireland"}
"""The names of countries (CLDR) that differ in one letter within the word."""
_LETTERS = f"{ascii_lowercase} "
_NUMBER = re.compile(r"\w*\d\w*|x{0,3}(?:ix|iv|v?i{0,3})")


def company_score(a: str, b: str) -> float:
    """Return the similarity of two companies' names, 0 to 1."""
    left, right = parse_company(a), parse_company(b)
    if not (left.words and right.words):
        return 0.0
    shortest = min(len("".join(name.words)) for name in (left, right))
    if left.joined == right.joined and shortest >= MIN_LENGTH:
        return SAME
    return _words_score(_without_and(left.words), _without_and(right.words), _acronyms(a, b)) * (
        ANOTHER_FORM if have_different_forms(a, b) else 1
    )


def similar_keys(words: tuple[str, ...]) -> list[str]:
    """Return keys of names that are the same or nearly the same as these words.

    They are the words joined, with and without general words and "and", without a legal form that is joined
    to them, in another order, and with a typing error or another space within the first letters. Names with a
    later error are next to this one in alphabetical order. A name that is longer than those of companies has
    no keys but itself.
    """
    if len(words) > MAX_SIMILAR_WORDS or sum(map(len, words)) > MAX_SIMILAR_LENGTH:
        return sorted({" ".join(words), "".join(words)})
    key, short = " ".join(words), " ".join(core(words))
    general = {short} | {f"{short} {word}" for word in GENERAL}
    attached = {key.removesuffix(form) for form in ATTACHED_FORMS}
    connected = {" ".join((*words[:at], "and", *words[at:])) for at in range(1, len(words))}
    connected.add(" ".join(_without_and(words)))
    found = {key, "".join(words)} | general | attached | connected | _misspelt(key) | _turned(words)
    return sorted(found - {""})


def _turned(words: tuple[str, ...]) -> set[str]:
    """Return the keys with a word that says less than the others at each other place."""
    return {
        " ".join((*rest[:at], word, *rest[at:]))
        for word in _movable(words)
        for rest in (_without(words, word),)
        for at in range(len(rest) + 1)
    }


def _without_and(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words without "and" between two words that are not abbreviations, as in H&M."""
    if "and" not in words:
        return words
    around = zip(("", *words), words, (*words[1:], ""), strict=False)
    return tuple(
        word for before, word, after in around if word != "and" or min(len(before), len(after)) < _MIN_JOINED
    )


def _misspelt(key: str) -> set[str]:
    """Return the key with a letter or space after the first missing, added, replaced or swapped."""
    found: set[str] = set()
    for at in range(1, min(len(key), MISSPELT_WITHIN)):
        before, here, after = key[:at], key[at], key[at + 1 :]
        found |= {before + after, before + after[:1] + here + after[1:]}
        found |= {before + letter + rest for letter in _LETTERS for rest in (after, here + after)}
    return found


def core(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a name without general words at the end, if another word is left."""
    end = len(words)
    while end and words[end - 1] in GENERAL:
        end -= 1
    return words[:end] or words


def _words_score(left: tuple[str, ...], right: tuple[str, ...], acronyms: frozenset[str]) -> float:
    a, b = "".join(left), "".join(right)
    if a == b:
        return SAME
    if _numbers(left) == _numbers(right):
        if _adds_general_words(left, right) or _adds_general_words(right, left):
            return GENERAL_WORD
        if _is_turned(left, right) or _is_misspelt(left, right, acronyms):
            return TYPO
    return RESEMBLES * JaroWinkler.normalized_similarity(a, b)


def _numbers(words: tuple[str, ...]) -> list[str]:
    """Return the words that contain a digit or are a Roman number below 40."""
    return [word for word in words if _NUMBER.fullmatch(word)]


def _adds_general_words(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Return whether the long name is the short one, which has a word of its own, and general words."""
    name, added = "".join(short), list(long)
    while added and GENERAL.issuperset(added[-1:]) and "".join(added) != name:
        added.pop()
    return "".join(added) == name and not GENERAL.issuperset(short)


def _is_turned(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Return whether a word that says less than the others is at another place: A. O. Smith, Smith A O."""
    if sorted(left) != sorted(right):
        return False
    return any(_without(left, word) == _without(right, word) for word in _movable(left))


def _without(words: tuple[str, ...], left_out: str) -> list[str]:
    return [word for word in words if word != left_out]


def _movable(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if len(word) <= _MAX_INITIALS or word in _MOVABLE]


def _is_misspelt(left: tuple[str, ...], right: tuple[str, ...], acronyms: frozenset[str]) -> bool:
    """Return whether the names differ by typing errors, perhaps without the general words of one of them."""
    if set(left) ^ set(right) == _COUNTRIES:
        return False
    pairs = {(left, right), (core(left), right), (left, core(right))}
    return any(_has_typos(a, b, acronyms) for a, b in pairs)


def _has_typos(left: tuple[str, ...], right: tuple[str, ...], acronyms: frozenset[str]) -> bool:
    """Return whether the names differ only in words that differ by typing errors, or in one and in spaces."""
    if len(left) != len(right):
        a, b = "".join(left), "".join(right)
        return min(len(a), len(b)) >= MIN_JOINED_LENGTH and _is_typo(a, b, errors=1)
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    return all(_is_typo(a, b) and acronyms.isdisjoint((a, b)) for a, b in pairs)


def _is_typo(a: str, b: str, errors: int = 2) -> bool:
    """Return whether one word is the other with a typing error, or long words with up to this many.

    A word with another first letter, a short word and one without vowels are other words: HDFC and IDFC.
    """
    shortest = min(len(a), len(b))
    if a[0] != b[0] or not (_VOWEL.search(a) and _VOWEL.search(b)):
        return False
    if shortest < MIN_TYPO_LENGTH:
        return shortest >= _MIN_PLURAL and b in {f"{a}s", a.removesuffix("s")}
    errors = errors if shortest >= MIN_LENGTH_OF_TWO_TYPOS else 1
    return OSA.distance(a, b, score_cutoff=errors) <= errors


def _acronyms(*names: str) -> frozenset[str]:
    """Return the words in capitals of names that are not written in capitals, in the form of keys."""
    return frozenset(word.lower() for name in names if not name.isupper() for word in _CAPITALS.findall(name))
