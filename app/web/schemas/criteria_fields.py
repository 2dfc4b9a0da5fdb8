"""The criteria of searches for people: lists of values, of which any is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from marshmallow import fields, validate

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.texts import vocabularies
from app.domain.normal.texts.title_words import searched_words
from app.engine.contacts.seniorities import SENIORITIES

MAX_TITLE = 200
DEPARTMENTS = tuple(sorted(vocabularies.DEPARTMENTS))


def any_of(field: fields.String, *, most: int, example: Sequence[str], description: str) -> fields.List[str]:
    """Return a list of at most so many values."""
    return fields.List(
        field,
        load_default=list,
        validate=validate.Length(max=most),
        metadata={"example": list(example), "description": description},
    )


def job_title(text: str) -> str:
    """Return the words of a job title on one line; a text without words is an error."""
    if len(text) > MAX_TITLE:
        raise InvalidValue(Message("Longer than {max} characters.", max=MAX_TITLE))
    if not searched_words(text):
        raise InvalidValue("Send words of a job title, such as VP Sales.")
    return " ".join(text.split())


def _one_of(known: Sequence[str], normalize: Callable[[str], str]) -> Callable[[str], str]:
    """Return the normal form of a word of a vocabulary; a word that it does not have is an error."""

    def normal(text: str) -> str:
        value = normalize(text)
        if value not in known:
            raise InvalidValue(Message("This is not known. Use one of {names}.", names=", ".join(known)))
        return value

    return normal


seniority = _one_of(SENIORITIES, vocabularies.seniority)
department = _one_of(DEPARTMENTS, vocabularies.department)
