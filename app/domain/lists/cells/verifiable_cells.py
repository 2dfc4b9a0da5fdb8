"""The addresses and numbers of a cell that is to be verified, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import emails_in, phones_in
from app.domain.lists.cells.email_cells import read_email
from app.domain.messages import Message
from app.domain.normal.phones.phones import parse_phone
from app.domain.normal.texts.text_forms import unescaped

NEITHER = Message(
    "This is neither an e-mail address nor a phone number. Send an address such as ada@acme.com, or a number "
    "with its country code, such as +1 650 253 0000."
)
_FULL_WIDTH_AT = "\uff20"
_MIN_DIGITS = 5
"""A text with fewer is not meant as a phone number."""
_DIGIT = re.compile(r"\d")

Field = Literal["email", "phone"]


class Value(NamedTuple):
    """An address or a number in normal form."""

    field: Field
    text: str

    def request(self) -> dict[str, str]:
        """Return the request of an item of a job."""
        return {self.field: self.text}


def read_cell(text: str, country: str | None, *, only: Field | None = None) -> Iterator[Value | InvalidValue]:
    """Yield the values of a cell, or why a part of it is not one: addresses with an @, otherwise numbers.

    `only` is what the cell is known to contain, `country` that of national numbers.
    """
    is_address = "@" in text or "@" in unescaped(text) or _FULL_WIDTH_AT in text
    field: Field = only or ("email" if is_address else "phone")
    for part in emails_in(text) if field == "email" else phones_in(text):
        try:
            yield Value(field, read_email(part) if field == "email" else parse_phone(part, country).e164)
        except InvalidValue as error:
            is_meant = "@" in part or only or len(_DIGIT.findall(part)) >= _MIN_DIGITS
            yield error if is_meant else InvalidValue(NEITHER)
