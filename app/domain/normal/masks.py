"""Masks of e-mails and phones that are not revealed yet; the number of dots is constant."""

from __future__ import annotations

import re

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

from app.domain.errors import InvalidValue

_EMAIL_DOTS = "•" * 5
_PHONE_DOTS = "•" * 7
_E164 = re.compile(r"\+([1-9][0-9]{5,14})")
_MAX_COUNTRY_CODE_LENGTH = 3


def mask_email(email: str) -> str:
    """Return the first character and the domain: `ada@acme.com` and `a@acme.com` become `a•••••@acme.com`."""
    local, at, domain = email.rpartition("@")
    if not (local and at and domain):
        raise InvalidValue("This is not an e-mail address: a part before or after the @ is missing.")
    return f"{local[0]}{_EMAIL_DOTS}@{domain}"


def mask_phone(e164: str) -> str:
    """Return the country code and the last two digits: `+16502530023` becomes `+1 •••••••23`."""
    found = _E164.fullmatch(e164)
    digits = found[1] if found else ""
    for length in range(1, _MAX_COUNTRY_CODE_LENGTH + 1):
        if found and int(digits[:length]) in COUNTRY_CODE_TO_REGION_CODE:
            return f"+{digits[:length]} {_PHONE_DOTS}{digits[-2:]}"
    raise InvalidValue("This is not a phone number in E.164 format, such as +16502530000.")
