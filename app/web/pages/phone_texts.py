"""Phone numbers as people read them; what is copied or exported is E.164."""

from __future__ import annotations

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat


def readable(e164: str) -> str:
    """Return a number in its international format, such as +49 30 901820; another text as it is."""
    try:
        number = phonenumbers.parse(e164)
    except NumberParseException:
        return e164
    return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
