"""Whether two people who are listed with the same e-mail address are different people."""

from __future__ import annotations

from app.domain.normal.names.generations import are_two_generations
from app.domain.normal.names.name_keys import name_key, person_key
from app.domain.normal.names.names import PersonName
from app.domain.normal.names.nicknames import given_names
from app.domain.records.similarity.name_similarity import name_score
from app.domain.records.similarity.similarity import DISAGREES


def are_different_people(a: PersonName, b: PersonName) -> bool:
    """Return whether the names differ so much that an equal address is an error or a shared mailbox.

    Names do not differ if their given names are the same (as after a marriage), if one has all words of the
    other, or if they are similar, also in sound in different scripts. The names of two generations differ.
    """
    if are_two_generations(a.full, b.full):
        return True
    left, right = person_key(a.full), person_key(b.full)
    words = set(left.split()), set(right.split())
    if words[0] <= words[1] or words[1] <= words[0]:
        return False
    if a.first and b.first and name_key(b.first) in given_names(a.first):
        return False
    return name_score(a, b) < DISAGREES
