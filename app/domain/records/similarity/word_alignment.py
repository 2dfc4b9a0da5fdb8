"""Alignment of the words of two names in their order."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from app.domain.records.similarity.word_similarity import ALIKE, joined_similarity, word_similarity

Role: TypeAlias = Literal["given", "middle", "family"]
Word: TypeAlias = tuple[str, Role]
Words: TypeAlias = tuple[Word, ...]

_LEFT_OUT = 0.5
"""The cost of a word without a counterpart. Two of them cost more than any pair."""
_MANY = (2, 3)
_SIZES = ((1, 1), *((1, many) for many in _MANY), *((many, 1) for many in _MANY))
"""How many words of each name make a pair: one and one, or one and several."""


class Alignment(NamedTuple):  # faster to make than a dataclass
    """The similarity of each pair of words with the role in the first name, and the words without a pair."""

    cost: float
    pairs: tuple[tuple[Role, float], ...]
    only_left: Words
    only_right: Words


@lru_cache(maxsize=4096)
def align(left: Words, right: Words) -> Alignment:
    """Return the cheapest alignment of two names; equal words are paired as soon as they meet.

    One word and several are a pair if it joins them (Jinping and Jin Ping) or consists of their initials (JC
    and Jean-Claude).
    """
    if not (left and right):
        return Alignment(_LEFT_OUT * (len(left) + len(right)), (), left, right)
    if left[0][0] == right[0][0]:
        return _with_pair(left[0][1], ALIKE["same"], align(left[1:], right[1:]))
    if len(left) == len(right) == 1:
        level = _level(left, right)
        pairs: tuple[tuple[Role, float], ...] = ((left[0][1], level),)
        return Alignment(1 - level, pairs, (), ()) if level else Alignment(2 * _LEFT_OUT, (), left, right)
    cost, pairs, only_left, only_right = align(left[1:], right)
    options = [Alignment(cost + _LEFT_OUT, pairs, (left[0], *only_left), only_right)]
    cost, pairs, only_left, only_right = align(left, right[1:])
    options.append(Alignment(cost + _LEFT_OUT, pairs, only_left, (right[0], *only_right)))
    for i, j in _SIZES:
        if i <= len(left) and j <= len(right) and (level := _level(left[:i], right[:j])):
            options.append(_with_pair(left[0][1], level, align(left[i:], right[j:])))
    return min(options, key=lambda option: option.cost)


def _with_pair(role: Role, level: float, rest: Alignment) -> Alignment:
    cost, pairs, only_left, only_right = rest
    return Alignment(cost + 1 - level, ((role, level), *pairs), only_left, only_right)


def _level(left: Words, right: Words) -> float:
    """Return the similarity of one word with one or several of the other name, 0 if they differ."""
    (a, role), (b, other_role) = left[0], right[0]
    if len(right) > 1:
        return joined_similarity(a, [text for text, _ in right])
    if len(left) > 1:
        return joined_similarity(b, [text for text, _ in left])
    level = word_similarity(a, b, given=not role == other_role == "family")
    if level == ALIKE["initial"] and role == other_role == "middle":
        return ALIKE["same"]
    return level
