"""Whether a name that a person enters is a correction of the name that a source gave, or another name."""

from __future__ import annotations

from app.domain.normal.names.name_keys import nickname_of, person_key
from app.domain.normal.names.names import PersonName
from app.domain.records.shared_addresses import are_different_people

MAX_MORE_WORDS = 1
"""Such as a middle name or a second family name; with more, a whole other name could be added."""


def is_correction(source: PersonName, corrected: PersonName) -> bool:
    """Return whether the corrected name is a form of the source's name, also one after a marriage.

    It has at most one word more. Each name by which the person would then be found is one that
    `are_different_people` does not tell from the source's: the full name, the given with the family name, and
    a new nickname with the family name.
    """
    more = len(person_key(corrected.full).split()) - len(person_key(source.full).split())
    if more > MAX_MORE_WORDS:
        return False
    return not any(are_different_people(source, name) for name in _names_found_by(source, corrected))


def _names_found_by(source: PersonName, corrected: PersonName) -> list[PersonName]:
    first, last = corrected.first, corrected.last
    names = [corrected, PersonName(first, last, f"{first} {last}")]
    nickname = nickname_of(corrected.full)
    if nickname and nickname != nickname_of(source.full):
        names.append(PersonName(nickname, last, f"{nickname} {last}"))
    return names
