"""E-mail addresses in normal form, and what their text alone tells: personal or work, and why to be wary."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from disposable_email_domains import blocklist
from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

from app.domain.errors import InvalidValue
from app.domain.normal.wordlists import words

_FREE_MAIL = words("freemail.txt")
_FREE_MAIL_FAMILY = re.compile(
    r"(?:yahoo|ymail|rocketmail|hotmail|outlook|live|msn|gmx|yandex)\.(?:com|fr|[a-z]{2}|com?\.[a-z]{2})"
)
_ROLES = words("roles.txt")
# What the library is sure to accept as it stands: most addresses, thirty times as fast.
_PLAIN = re.compile(r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+([a-z]{2,})")
_MAX_PLAIN_LENGTH = 63  # every part is within its limit then
_NUMBER_OR_TAG = re.compile(r"[-_.]?[0-9]+$|\+.*$")


def normal_email(text: str) -> str:
    """Give the address trimmed and lower-case, its domain in A-labels; the syntax is looked at, no DNS.

    Raises:
        InvalidValue: it is not one plain address at a public domain.

    """
    address = text.strip().lower()
    plain = _PLAIN.fullmatch(address)
    if plain and len(address) <= _MAX_PLAIN_LENGTH and plain[1] not in SPECIAL_USE_DOMAIN_NAMES:
        return address
    try:
        found = validate_email(address, check_deliverability=False, test_environment=True, strict=True)
    except EmailNotValidError as error:
        raise InvalidValue("This is not an e-mail address such as ada@acme.com.") from error
    return f"{unicodedata.normalize('NFC', found.local_part.lower())}@{found.ascii_domain.lower()}"


def email_domain(email: str) -> str:
    """Give what follows the @ of an address in normal form."""
    return email.rpartition("@")[2]


def email_kind(email: str) -> Literal["work", "personal"]:
    """Tell a person's own mailbox, at a free or throw-away mail provider, from one at a workplace."""
    domain = email_domain(email)
    return "personal" if _is_webmail(domain) or _is_disposable(domain) else "work"


def email_reasons(email: str) -> tuple[str, ...]:
    """Give the reasons to be wary that the text shows, out of role, disposable and webmail."""
    local, _, domain = email.rpartition("@")
    told = {
        "role": _NUMBER_OR_TAG.sub("", local) in _ROLES,
        "disposable": _is_disposable(domain),
        "webmail": _is_webmail(domain),
    }
    return tuple(reason for reason, applies in told.items() if applies)


@lru_cache(maxsize=8192)
def _is_webmail(domain: str) -> bool:
    """Tell whether anybody can have a mailbox there."""
    return domain in _FREE_MAIL or _FREE_MAIL_FAMILY.fullmatch(domain) is not None


@lru_cache(maxsize=8192)
def _is_disposable(domain: str) -> bool:
    """Tell whether the domain or one above it gives mailboxes to throw away; webmail in the list is none."""
    if _is_webmail(domain):
        return False
    while domain and domain not in blocklist:
        domain = domain.partition(".")[2]
    return bool(domain)
