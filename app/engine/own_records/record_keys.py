"""The keys by which people in a workspace's own systems are found: digests of what identifies them.

A digest is keyed and contains the workspace, so that equal people of two workspaces have different ones. It
is made of an address, a number, a profile, or a name with its company or the company's domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from app.domain.errors import InvalidValue
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.name_parts import plain_full_name
from app.domain.records.person_matcher import PersonMatcher
from app.engine.lookups.lookup_parts import LookedUp
from app.infra.crypto.digest_keys import DigestKeys

_PURPOSE = "own_records"
_DIGEST_BYTES = 16
PROFILE, EMAIL, PHONE, NAME = "linkedin_url", "email", "phone", "name"
CERTAINTY = (PROFILE, EMAIL, PHONE, NAME)
"""What a recorded person is recognized by, the most certain first."""


class Identified(Protocol):
    """A person with identifiers in normal form: one who is looked up, or one in a system of the workspace."""

    @property
    def profiles(self) -> Sequence[str]:
        """The profile URLs."""

    @property
    def emails(self) -> Sequence[str]:
        """The addresses."""

    @property
    def phones(self) -> Sequence[str]:
        """The numbers, in E.164."""

    @property
    def name(self) -> str:
        """The full name, empty if it is not known."""

    @property
    def companies(self) -> Sequence[str]:
        """The names of the company."""

    @property
    def domains(self) -> Sequence[str]:
        """The domains of the company."""


class Key(NamedTuple):
    """A key before it is digested: what it is of, one of `CERTAINTY`, and its text."""

    matched_on: str
    text: str


def keys_of(person: Identified) -> Iterator[Key]:
    """Yield the keys of a person; a name counts only with its company."""
    for matched_on, values in ((PROFILE, person.profiles), (EMAIL, person.emails), (PHONE, person.phones)):
        yield from (Key(matched_on, value) for value in values)
    if name := name_key(person.name):
        companies = filter(None, map(company_key, person.companies))
        yield from (key_of_name(name, employer) for employer in (*person.domains, *companies))


def keys_of_sought(workspace_id: str, matcher: PersonMatcher) -> list[Key]:
    """Return the keys of a person whose data is sought, for an erasure."""
    sought = LookedUp(
        workspace_id=workspace_id,
        profiles=sorted(matcher.linkedin_urls),
        emails=sorted(matcher.emails),
        phones=sorted(matcher.phones),
    )
    return [*keys_of(sought), *(key_of_name(*pair) for pair in matcher.names)]


def key_of_name(name: str, employer: str) -> Key:
    """Return the key of a name's key at an employer: a domain, or the key of a company's name."""
    return Key(NAME, f"{name}\0{employer}")


def digests(keys: DigestKeys, workspace_id: str, of: Iterable[Key]) -> dict[bytes, str]:
    """Return the digest of each key, with what it is of."""
    return {
        keys.digest(_PURPOSE, f"{workspace_id}\0{key.matched_on}\0{key.text}")[:_DIGEST_BYTES]: key.matched_on
        for key in of
    }


def rows(keys: DigestKeys, workspace_id: str, record_id: str, person: Identified) -> list[dict[str, Any]]:
    """Return the rows of a stored record's keys."""
    return [
        {"workspace_id": workspace_id, "digest": digest, "record_id": record_id, "matched_on": matched_on}
        for digest, matched_on in digests(keys, workspace_id, keys_of(person)).items()
    ]


@lru_cache(maxsize=4096)  # parsing a name takes longer than the rest of a lookup's digests
def name_key(name: str) -> str:
    """Return the key of a full name; empty for a text that names nobody, and for a name of one word."""
    try:
        key = person_key(plain_full_name(name)) if name else ""
    except InvalidValue:
        return ""
    return key if " " in key else ""
