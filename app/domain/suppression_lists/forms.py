"""The forms of an identifier whose SHA-256 stands in published suppression lists.

An e-mail address is trimmed and lower-case. Of a phone number, California's DROP hashes the last ten digits
(https://privacy.ca.gov/drop-for-data-brokers/technical-specifications/working-with-data/), others hash it in
E.164, with or without the plus.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TypeAlias

import idna

from app.domain.normal.emails import email_domain
from app.domain.normal.names.generations import generation_of
from app.domain.normal.websites import parent_domains
from app.domain.records.profile_links import spellings

Form: TypeAlias = tuple[str, str]
"""The kind and the text of a form."""

HASHED_KINDS = ("email", "phone", "linkedin_url", "domain")
"""The kinds of values that a list of hashes may hold."""
_GMAIL = frozenset({"gmail.com", "googlemail.com"})
_LAST_DIGITS = 10


def listed(kind: str, value: str) -> tuple[Form, ...]:
    """Return the forms under which a value is put on the list: its normal form and its mailbox's."""
    return ((kind, value), *_mailbox(value)) if kind == "email" else ((kind, value),)


def own(kind: str, value: str) -> tuple[Form, ...]:
    """Return the forms under which a list may contain the value itself, the normal form first."""
    if kind == "email":
        return tuple(dict.fromkeys(((kind, value), *_mailbox(value), *_in_unicode(value))))
    if kind == "phone":
        digits = value.removeprefix("+")
        return tuple(dict.fromkeys(((kind, value), (kind, digits), (kind, digits[-_LAST_DIGITS:]))))
    return tuple((kind, spelled) for spelled in spellings(value))


def checked(kind: str, value: str) -> tuple[Form, ...]:
    """Return every form that suppresses the value: its own ones, and its domain and those above it."""
    if kind == "email":
        return own(kind, value) + _domains(email_domain(value))
    return _domains(value) if kind == "domain" else own(kind, value)


def employment(name_key: str, employer: str) -> str:
    """Return the value of the kind `name`: a person who has no identifier but a name at a company.

    `employer` is the company's domain, or the key of its name. The generation does not count: a list may
    leave out that a person is Jr., and the person stays hidden.
    """
    return json.dumps([generation_of(name_key).name, employer])


@lru_cache(maxsize=8192)
def _domains(host: str) -> tuple[Form, ...]:
    return tuple(("domain", domain) for domain in parent_domains(host))


def _mailbox(email: str) -> tuple[Form, ...]:
    """Return the one spelling of a Gmail address: Google ignores dots, and what follows a plus."""
    local, _, domain = email.rpartition("@")
    if domain not in _GMAIL:
        return ()
    return (("email", f"{local.partition('+')[0].replace('.', '')}@gmail.com"),)


def _in_unicode(email: str) -> tuple[Form, ...]:
    """Return an address with its domain in Unicode, as a list that only folds case contains it."""
    local, _, domain = email.rpartition("@")
    if "xn--" not in domain:
        return ()
    try:
        return (("email", f"{local}@{idna.decode(domain)}"),)
    except idna.IDNAError:
        return ()
