"""Similarity of names, the confidence of a match, and the thresholds for accepting it.

A confidence estimates the share of such matches that are the same person. The synthetic labelled pairs of
`tests/domain/records/test_matching_calibration.py` check the figures.

| matched on                              | name             | confidence |
|-----------------------------------------|------------------|------------|
| contact_id                              | any              | 1.00       |
| linkedin_url                            | any              | 0.98       |
| email; phone                            | not given        | 0.97; 0.90 |
| email; phone                            | agrees           | half the doubt: 0.985; 0.95 |
| email; phone                            | disagrees        | 0.58; 0.54 |
| company_domain; company_name            | the same         | 0.95; 0.90 |
| company_domain; company_name            | nickname         | 0.86; 0.81 |
| company_domain; company_name            | one of two parts | 0.82; 0.78 |
| company_domain; company_name            | initial, typo,   |            |
|                                         | second given name | 0.64; 0.61 |
| full_name alone                         | the same         | 0.30       |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Literal

from rapidfuzz.distance import OSA, JaroWinkler

from app.domain.normal.names import PersonName, given_names, name_key, spellings

MATCHED = 0.8
POSSIBLE = 0.5
MARGIN = 0.05
"""If the second candidate is closer to the first than this, the match is ambiguous."""

EXACT = {"contact_id": 1.0, "linkedin_url": 0.98, "email": 0.97, "phone": 0.9}
CERTAIN = frozenset(("contact_id", "linkedin_url"))
"""Keys that are never reassigned to another person, so that a different name is a changed name."""
BY_NAME = {"company_domain": 0.95, "company_name": 0.9, "full_name": 0.3}
AGREES = 0.8
DISAGREES = 0.6
"""Below this name score, an e-mail or phone match is doubtful: both are shared and reassigned."""
SHORTENED = 0.6
"""The factor on the confidence of an e-mail or phone match when the name disagrees."""

ALIKE = {
    "same": 1.0,
    "swapped": 0.95,
    "nickname": 0.95,
    "part": 0.93,
    "initial": 0.82,
    "second": 0.82,
    "typo": 0.82,
}
MIDDLES_DIFFER = 0.8
"""The factor on the score of two similar names when their middle names differ."""
HALF = 0.5
"""The factor for a given or family name alone, and for keys that only resemble each other."""
MIN_TYPO_LENGTH = 4
"""Shorter names that differ in one letter are different names: Jon and Jan."""


def name_score(a: PersonName, b: PersonName) -> float:
    """Return the similarity of two people's names, 0 to 1.

    Names that differ in accents, hyphens or German and Nordic spellings are the same. Nicknames, initials,
    one of two surnames, one typing error and swapped given and family names are nearly the same.
    """
    if name_key(a.full) == name_key(b.full):
        return ALIKE["same"]
    given = _given_score(a.first, b.first)
    straight = given * _part_score(a.last, b.last)
    if _middles_differ(a, b):
        straight *= MIDDLES_DIFFER
    if not (a.first and b.first and a.last and b.last):
        return max(straight, HALF * given, HALF * _part_score(a.last, b.last))
    swapped = _part_score(a.first, b.last) * _part_score(a.last, b.first)
    shortened = given * ALIKE["part"] if _is_shortened(a, b) else 0.0
    return max(straight, swapped * ALIKE["swapped"], shortened)


def confidence(*, matched_on: Collection[str], name: float | None, company: float | None) -> float:
    """Return the confidence of a match, 0 to 1, by the table above.

    The doubt (1 - confidence) of several exact keys is the product of their doubts. Without an exact key, the
    confidence is that of the company's domain or name, times the squares of the name and company scores, so
    that two near misses are worse than one.
    """
    keys = [key for key in matched_on if key in EXACT]
    if not keys:
        base = max((BY_NAME[key] for key in matched_on if key in BY_NAME), default=0.0)
        return round(base * (name or 0.0) ** 2 * (1.0 if company is None else company) ** 2, 4)
    doubt = prod(1 - EXACT[key] for key in keys)
    if name is None or CERTAIN.intersection(keys):
        return round(1 - doubt, 4)
    if name < DISAGREES:
        return round((1 - doubt) * SHORTENED, 4)
    return round(1 - doubt * (HALF if name >= AGREES else 1), 4)


def decide(scores: Sequence[float]) -> Literal["matched", "ambiguous", "none"]:
    """Return the outcome for the candidates' confidences: one clear match, several possible, or none."""
    best, *others = sorted(scores, reverse=True) or [0.0]
    if best < POSSIBLE:
        return "none"
    rival = bool(others) and best - others[0] < MARGIN
    return "ambiguous" if rival or best < MATCHED else "matched"


def _given_score(a: str, b: str) -> float:
    """Return the similarity of two given names; nicknames and initials match."""
    left, right = name_key(a), name_key(b)
    alike = _part_score(a, b)
    if right in given_names(a) or left in given_names(b):
        return max(alike, ALIKE["nickname"])
    short, long = sorted((left, right), key=len)
    initials = "".join(word[0] for word in long.split())
    if (len(short) == 1 and long.startswith(short)) or (len(short) > 1 and short == initials):
        return max(alike, ALIKE["initial"])  # J or JC for Jean-Claude
    if alike == ALIKE["part"] and not long.startswith(short):
        return ALIKE["second"]  # Lena may be Anna-Lena, or a colleague
    return alike


def _part_score(a: str, b: str) -> float:
    """Return the highest similarity among the spellings of two name parts."""
    return max(_key_score(left, right) for left in spellings(a) for right in spellings(b))


def _key_score(a: str, b: str) -> float:
    """Return the score of two keys: same, prefix or suffix, one typing error, or Jaro-Winkler similarity."""
    left, right = a.replace(" ", ""), b.replace(" ", "")
    if left == right:
        return ALIKE["same"]
    short, long = sorted((a.split(), b.split()), key=len)
    if short and short in (long[: len(short)], long[-len(short) :]):
        return ALIKE["part"]
    if min(len(left), len(right)) >= MIN_TYPO_LENGTH and OSA.distance(left, right, score_cutoff=1) <= 1:
        return ALIKE["typo"]
    return HALF * JaroWinkler.normalized_similarity(left, right)


def _is_shortened(a: PersonName, b: PersonName) -> bool:
    """Return whether one name is the other without some words: Ines Duarte, Ines Duarte Lima."""
    left, right = set(name_key(a.full).split()), set(name_key(b.full).split())
    return left <= right or right <= left


def _middles_differ(a: PersonName, b: PersonName) -> bool:
    """Return whether both have a middle name that none of the other's resembles.

    Words that both have say nothing: in Nguyen Thi Lan Ha and Nguyen Thi Thu Ha, Lan and Thu differ.
    """
    left, right = _middle(a), _middle(b)
    only_left = [word for word in left if word not in right]
    only_right = [word for word in right if word not in left]
    return bool(only_left and only_right) and not any(
        x.startswith(y) or y.startswith(x) for x in only_left for y in only_right
    )


def _middle(name: PersonName) -> list[str]:
    """Return the words of the full name that are neither given nor family name."""
    own = {*name_key(name.first).split(), *name_key(name.last).split()}
    return [word for word in name_key(name.full).split() if word not in own]
