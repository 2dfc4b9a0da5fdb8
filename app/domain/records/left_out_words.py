"""What the words that only one of two names has tell about the person."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.normal.names.nicknames import equivalents
from app.domain.normal.texts.wordlists import words
from app.domain.records.similarity.word_alignment import Role, Word, Words
from app.domain.records.similarity.word_similarity import ALIKE

_PARTICLES = words("names/particles.txt")
_EAST_ASIAN = words("names/east_asian_surnames.txt")
_ARABIC = words("names/arabic_given_names.txt")
_AFTER_THE_PROPHET = frozenset(
    ("md", "mohamad", "mohamed", "mohammad", "mohammed", "mohd", "muhamad", "muhammad", "muhammed", "muhd")
)
_SONS = frozenset(("ben", "bin", "ibn"))


def roles(extra: Words) -> set[Role]:
    """Return the roles of the words that are not particles."""
    return {role for text, role in extra if counts(text, role)}


def counts(text: str, role: Role) -> bool:
    """Return whether the word is not a particle; a given name such as Al or Van is not one."""
    return role == "given" or text not in _PARTICLES


def left_out(extra: Words, name: Words) -> float:
    """Return the factor for the words of a name that the other does not have."""
    full_words = [word for word in extra if len(word[0]) > 1]
    if full_words and _is_east_asian(name):
        return ALIKE["second"]  # Wei and Wei-Ming are different given names
    given = [word for word in name if word[1] == "given"]
    if given and given[0] in extra:  # Lena may be Anna-Lena, or a colleague; but Morgan is H. Morgan
        return ALIKE["second" if any(word in given for word in full_words) else "middle"]
    if _lacks_family_name(extra, name) or _is_shortened_chain(full_words, name):
        return ALIKE["second"]
    if any(role != "middle" or text in _PARTICLES for text, role in extra):
        return ALIKE["part"]
    return ALIKE["middle" if full_words else "same"]


def _is_east_asian(name: Words) -> bool:
    """Return whether the name has a Chinese or Korean family name and no Western given name."""
    others = [text for text, _ in name if text not in _EAST_ASIAN]
    return len(others) < len(name) and not any(map(equivalents, others))


def _lacks_family_name(extra: Sequence[Word], name: Words) -> bool:
    """Return whether no word of the family name is left: Nessa is no family name in Fajilatun Nessa Bappy."""
    family = [word for word in name if word[1] == "family" and counts(*word)]
    return bool(family) and all(word in extra for word in family)


def _is_shortened_chain(extra: Sequence[Word], name: Words) -> bool:
    """Return whether a chain of Arabic given names lacks a name that tells people apart.

    If the last is the grandfather's, it is one in the middle: Ahmed Ali is not Ahmed Hassan Ali. Of those who
    are named after the Prophet, it is the second: Mohamed Faizal Trabelsi is called Faizal.
    """
    middle = [word for word in name if word[1] == "middle"]
    if name and name[-1][0] in _ARABIC:
        return any(word in extra for word in middle)
    is_second = bool(middle) and middle[0] in extra and middle[0][0] not in _SONS
    return is_second and name[0][0] in _AFTER_THE_PROPHET
