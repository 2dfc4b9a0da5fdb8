"""Whether two people who are listed with the same e-mail address are different people."""

from __future__ import annotations

from app.domain.normal.names import PersonName, name_key, person_key
from app.domain.normal.nicknames import given_names
from app.domain.records.name_similarity import name_score
from app.domain.records.similarity import DISAGREES


def are_different_people(a: PersonName, b: PersonName) -> bool:
    """Return whether the names differ so much that an equal address is an error or a shared mailbox.

    A name is not another one if it has the same given name (after a marriage), is part of it, or is similar.
    Names in different scripts are different.
    """
    left, right = person_key(a.full), person_key(b.full)
    words = set(left.split()), set(right.split())
    if words[0] <= words[1] or words[1] <= words[0]:
        return False
    if a.first and b.first and name_key(b.first) in given_names(a.first):
        return False
    return name_score(a, b) < DISAGREES
