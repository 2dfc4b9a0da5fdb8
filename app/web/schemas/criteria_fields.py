"""The criteria of searches for people: lists of values, of which any is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from marshmallow import fields, validate

from app.domain.errors import InvalidValue
from app.domain.normal.texts import vocabularies
from app.engine.contacts.seniorities import SENIORITIES

DEPARTMENTS = tuple(sorted(vocabularies.DEPARTMENTS))


def any_of(field: fields.String, *, most: int, example: Sequence[str], description: str) -> fields.List[str]:
    """Return a list of at most so many values."""
    return fields.List(
        field,
        load_default=list,
        validate=validate.Length(max=most),
        metadata={"example": list(example), "description": description},
    )


def _one_of(known: Sequence[str], normalize: Callable[[str], str]) -> Callable[[str], str]:
    """Return the normal form of a word of a vocabulary; a word that it does not have is an error."""

    def normal(text: str) -> str:
        value = normalize(text)
        if value not in known:
            raise InvalidValue(f"This is not known. Use one of {', '.join(known)}.")
        return value

    return normal


seniority = _one_of(SENIORITIES, vocabularies.seniority)
department = _one_of(DEPARTMENTS, vocabularies.department)
