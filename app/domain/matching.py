"""Matching: how alike two names are, how sure a match is, and when it is sure enough.

Confidence is the share of such matches that are the same person, as measured on the labelled pairs of
`tests/domain/test_matching_calibration.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from rapidfuzz.distance import JaroWinkler

from app.domain.names import PersonName, company_key, given_names, name_key, spellings

MATCHED = 0.8
POSSIBLE = 0.5
MARGIN = 0.1
"""A second candidate this close to the first makes the match ambiguous."""

EXACT = {"contact_id": 1.0, "linkedin_url": 0.98, "email": 0.97, "phone": 0.85}
BY_NAME = {"company_domain": 0.95, "company_name": 0.9}
DISAGREES = 0.6
"""A name or company less alike than this speaks against an exact key: keys are shared and handed on."""
AGAINST = 0.6
"""What is left of an exact key's confidence when the name speaks against it."""

ALIKE = {"same": 1.0, "swapped": 0.95, "nickname": 0.95, "part": 0.93, "initial": 0.85, "typo": 0.85}
TYPO = 0.9
"""Two spellings count as one name with a typing error from this similarity (Jaro-Winkler) on."""
LAST, FIRST = 0.5, 0.5


def name_score(a: PersonName, b: PersonName) -> float:
    """Say how alike two people's names are, 0 to 1; the worse of their parts decides.

    Accents, hyphens and the German and Nordic spellings count as the same; nicknames, initials, one of two
    surnames and names in the other order as nearly the same.
    """
    if name_key(a.full) == name_key(b.full):
        return ALIKE["same"]
    straight = _parts_score(a.first, a.last, b.first, b.last)
    swapped = _parts_score(a.last, a.first, b.first, b.last) * ALIKE["swapped"]
    return max(straight, swapped)


def company_score(a: str, b: str) -> float:
    """Say how alike two companies' names are, 0 to 1, legal forms aside."""
    left, right = company_key(a), company_key(b)
    if not left or not right:
        return 0.0
    if left == right:
        return ALIKE["same"]
    if _is_part(left.split(), right.split()):
        return ALIKE["part"]
    return _spelled_alike(left.replace(" ", ""), right.replace(" ", ""))


def confidence(*, matched_on: Collection[str], name: float | None, company: float | None) -> float:
    """Say how sure a match is, 0 to 1.

    An exact key alone: contact_id 1.0, linkedin_url 0.98, email 0.97, phone 0.85 (numbers are shared), less
    where the name speaks against it and more where it agrees. A name with a company: 0.95 by domain, 0.9 by
    name, times how alike the names are, squared: two near misses are worse than one.
    """
    exact = max((EXACT[key] for key in matched_on if key in EXACT), default=None)
    if exact is not None:
        if "contact_id" in matched_on or "linkedin_url" in matched_on:
            return exact
        if name is not None and name < DISAGREES:
            return round(exact * AGAINST, 4)
        return max(exact, BY_NAME["company_domain"]) if name is not None else exact
    base = max((BY_NAME[key] for key in matched_on if key in BY_NAME), default=0.0)
    return round(base * (name or 0.0) ** 2 * (company if company is not None else 1.0) ** 2, 4)


def decide(scores: Sequence[float]) -> Literal["matched", "ambiguous", "none"]:
    """Decide among candidates by their confidence: one clear winner, several, or nobody."""
    best, *others = sorted(scores, reverse=True) or [0.0]
    if best < POSSIBLE:
        return "none"
    rival = others and best - others[0] < MARGIN
    return "ambiguous" if rival or best < MATCHED else "matched"


def _parts_score(first_a: str, last_a: str, first_b: str, last_b: str) -> float:
    last = _best(last_a, last_b)
    first = max(_best(first_a, first_b), _nickname_score(first_a, first_b))
    if not last_a or not last_b:
        return min(first, last) if last_a == last_b else 0.0
    return min(last, first) * LAST + (last * first) * FIRST


def _nickname_score(a: str, b: str) -> float:
    keys = name_key(a), name_key(b)
    if given_names(a) & {keys[1]} or given_names(b) & {keys[0]}:
        return ALIKE["nickname"]
    short, long = sorted(keys, key=len)
    if len(short) == 1 and long.startswith(short):
        return ALIKE["initial"]
    return 0.0


def _best(a: str, b: str) -> float:
    return max(_part_score(left, right) for left in spellings(a) for right in spellings(b))


def _part_score(a: str, b: str) -> float:
    if a.replace(" ", "") == b.replace(" ", ""):
        return ALIKE["same"]
    if _is_part(a.split(), b.split()):
        return ALIKE["part"]
    return _spelled_alike(a, b)


def _is_part(a: list[str], b: list[str]) -> bool:
    """Tell whether one is the beginning or the end of the other, by whole words."""
    short, long = sorted((a, b), key=len)
    return bool(short) and short in (long[: len(short)], long[-len(short) :])


def _spelled_alike(a: str, b: str) -> float:
    """Count a typing error as that; names that merely look alike are other names."""
    alike = JaroWinkler.normalized_similarity(a, b)
    return ALIKE["typo"] if alike >= TYPO else alike * AGAINST
