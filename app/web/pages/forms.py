"""Forms: their fields as text, and the schemas of the API that validate them."""

from __future__ import annotations

import re
from typing import Any

from apiflask import Schema
from flask import request
from marshmallow import ValidationError

from app.domain.errors import FieldError, Unprocessable, ValidationFailed
from app.web.errors import field_errors
from app.web.languages.texts import translate

_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)


class InvalidForm(Exception):  # noqa: N818 -- named after what is wrong
    """A form with invalid fields: messages by the name of the field, without a name for the whole form."""

    def __init__(self, messages: dict[str, str]) -> None:
        """Store the messages."""
        self.messages = messages
        super().__init__(*messages)


def text(name: str) -> str:
    """Return a field of the form, trimmed; an absent one is empty.

    Raises:
        ValidationFailed: it contains U+0000, which no database stores.

    """
    value = request.form.get(name, "").strip()
    if "\0" in value:
        raise ValidationFailed(errors=(FieldError(f"/{name}", "The text contains U+0000."),))
    return value


def number(text: str) -> int | str:
    """Return the number; another text stays as it is, and the schemas refuse it."""
    return int(text) if _NUMBER.fullmatch(text) else text


def texts(*names: str) -> dict[str, str]:
    """Return the fields that are not empty, by name."""
    return {name: value for name in names if (value := text(name))}


def load(schema: Schema, body: dict[str, Any]) -> Any:  # noqa: ANN401 -- what a schema of marshmallow loads
    """Return what a schema of the API makes of the fields.

    Raises:
        InvalidForm: fields are missing or invalid.

    """
    try:
        return schema.load(body)
    except ValidationError as error:
        raise InvalidForm(messages(tuple(field_errors(error.messages)))) from error
    except Unprocessable as problem:
        raise InvalidForm(messages(problem.errors) or {"": translate(problem.title) + "."}) from problem


def messages(errors: tuple[FieldError, ...]) -> dict[str, str]:
    """Return the message of each field by the last step of its pointer."""
    return {error.pointer.rpartition("/")[2]: translate(error.detail) for error in errors}
