"""The keyed digests by which identifiers of people are compared with the suppression list.

A digest is an HMAC of the SHA-256 that others publish of an identifier, so that their lists can be loaded
without the values.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.suppression_lists import forms
from app.domain.suppression_lists.forms import Form
from app.domain.suppression_lists.hashed_values import hash_of
from app.infra.crypto.digest_keys import DigestKeys


@dataclass(frozen=True, slots=True)
class Identifier:
    """What a person is known by: `value` is in normal form.

    `kind` is email, linkedin_url, phone, domain (of the employer) or name (`forms.employment`).
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A digest to put on a list."""

    kind: str
    digest: bytes


def digest(keys: DigestKeys, identifier: Identifier) -> bytes:
    """Return the 32-byte digest of an identifier in normal form."""
    return _of_form(keys, (identifier.kind, identifier.value))


def hashed_entry(keys: DigestKeys, kind: str, sha256: bytes) -> Entry:
    """Return the entry of an identifier of which only the published SHA-256 is known."""
    return Entry(kind, keys.published_digest(kind, sha256))


def entry_of_form(keys: DigestKeys, form: Form) -> Entry:
    """Return the entry of a form in plain text."""
    return Entry(form[0], _of_form(keys, form))


def own_digests(keys: DigestKeys, item: Identifier) -> list[bytes]:
    """Return the digests of the entries that stand for this value itself."""
    return [_of_form(keys, form) for form in forms.own(item.kind, item.value)]


def checked_digests(keys: DigestKeys, item: Identifier, cache: dict[Form, bytes]) -> list[bytes]:
    """Return the digests of every entry that suppresses this value; people share the forms of a domain."""
    digests = []
    for form in forms.checked(item.kind, item.value):
        if form not in cache:
            cache[form] = _of_form(keys, form)
        digests.append(cache[form])
    return digests


def _of_form(keys: DigestKeys, form: Form) -> bytes:
    return keys.published_digest(form[0], hash_of(form[1]))
