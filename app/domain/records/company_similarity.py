"""Similarity of companies' names.

Two names are the same company if their words are, however they are joined. They are nearly the same if one
has an additional general word (Acme, Acme Technologies), or if there is one typing error in the name or in
each of its words. Different numbers and legal forms of different classes (AG, GmbH) are different companies.
"""

from __future__ import annotations

import re
from string import ascii_lowercase

from rapidfuzz.distance import OSA, JaroWinkler

from app.domain.normal import wordlists
from app.domain.normal.company_names import have_different_forms, parse_company

SAME = 1.0
GENERAL_WORD = 0.93
TYPO = 0.82
ANOTHER_FORM = 0.7
"""The factor on the score of companies with different legal forms; below the threshold for candidates."""
RESEMBLES = 0.5
"""The factor on the similarity of names that only resemble each other."""
MIN_TYPO_LENGTH = 5
"""Shorter names and words that differ in one letter or space are different: BP and BD, Visa and Vi SA."""
GENERAL = wordlists.words("general_company_words.txt")
"""Words that are often added to a company's name, and rarely tell two companies apart."""
ATTACHED_FORMS = ("ag", "corp", "gmbh", "inc", "llc", "ltd", "plc", "sa", "se")
"""The legal forms that are often joined to a name, as in `siemensag`."""
MISSPELT_WITHIN = 8
"""The number of letters at the start of a name in which a typing error is searched for by exact keys."""
_COUNTRIES = ({"gambia", "zambia"}, {"iceland", "ireland"}, {"iran", "iraq"})
"""The names of countries (CLDR) that differ in one letter."""
_LETTERS = f"{ascii_lowercase} "
_NUMBER = re.compile(r"\w*\d\w*|x{0,3}(?:ix|iv|v?i{0,3})")


def company_score(a: str, b: str) -> float:
    """Return the similarity of two companies' names, 0 to 1."""
    left, right = parse_company(a), parse_company(b)
    if not (left.words and right.words):
        return 0.0
    shortest = min(len("".join(name.words)) for name in (left, right))
    if left.joined == right.joined and shortest >= MIN_TYPO_LENGTH:
        return SAME
    return _words_score(left.words, right.words) * (ANOTHER_FORM if have_different_forms(a, b) else 1)


def similar_keys(words: tuple[str, ...]) -> list[str]:
    """Return keys of names that are the same or nearly the same as these words.

    They are the words joined, with and without general words, without a legal form that is joined to them,
    and with a typing error or another space within the first letters. Names with a later error are next to
    this one in alphabetical order.
    """
    key, short = " ".join(words), " ".join(core(words))
    others = [f"{short} {word}" for word in GENERAL] + [key.removesuffix(form) for form in ATTACHED_FORMS]
    return sorted({key, "".join(words), short, *others, *_misspelt(key)} - {""})


def _misspelt(key: str) -> set[str]:
    """Return the key with one letter or space missing, added, replaced, or swapped with its neighbour."""
    found: set[str] = set()
    for at in range(min(len(key), MISSPELT_WITHIN)):
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


def _words_score(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    a, b = "".join(left), "".join(right)
    if a == b:
        return SAME
    if _numbers(left) == _numbers(right):
        if "".join(core(left)) == "".join(core(right)) and (core(left) == left or core(right) == right):
            return GENERAL_WORD
        if set(left) ^ set(right) not in _COUNTRIES and (_is_typo(a, b) or _has_typos(left, right)):
            return TYPO
    return RESEMBLES * JaroWinkler.normalized_similarity(a, b)


def _numbers(words: tuple[str, ...]) -> list[str]:
    """Return the words that contain a digit or are a Roman number below 40."""
    return [word for word in words if _NUMBER.fullmatch(word)]


def _has_typos(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Return whether the names differ only in words that differ by a typing error."""
    pairs = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
    return len(left) == len(right) and all(_is_typo(a, b) for a, b in pairs)


def _is_typo(a: str, b: str) -> bool:
    """Return whether one letter is missing, added, replaced, or swapped with its neighbour."""
    return min(len(a), len(b)) >= MIN_TYPO_LENGTH and OSA.distance(a, b, score_cutoff=1) <= 1
