"""The subject of a request: the identifiers of a person, in normal form."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from app.domain.errors import InsufficientIdentifiers, InvalidValue
from app.domain.normal.names import names
from app.domain.normal.names.generations import generation_of
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.name_lexicon import is_initials
from app.domain.normal.names.name_parts import name_of_parts, plain_full_name
from app.domain.normal.profiles.member_ids import is_member_url

EXACT = ("linkedin_url", "email", "phone")
"""The fields that each identify one person on their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The identifiers of a person in a request; every field is in normal form or None.

    `member_url` is a second profile URL of a row of a list, with an id of the member.
    """

    contact_id: str | None = None
    linkedin_url: str | None = None
    member_url: str | None = None
    email: str | None = None
    full_name: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    company_domain: str | None = None
    company_name: str | None = None
    phone: str | None = None

    def require_identifiers(self, detail: str = "") -> Self:
        """Return the subject if it identifies one person; the error's `detail` says what was left out."""
        if not self.is_identified:
            raise InsufficientIdentifiers(detail)
        return self

    @property
    def is_identified(self) -> bool:
        """Return whether the fields identify one person."""
        return self.has_exact_key or bool(self.name and (self.company_domain or self.company_name))

    def with_plain_names(self) -> Self:
        """Return the subject with its names without credentials and notes, None if no person's.

        A name without a letter, or of more than 200 characters, is left out like LinkedIn Member or Unknown.
        """
        first, last = self.first_name, self.last_name
        try:
            full = plain_full_name(self.full_name) if self.full_name else None
        except InvalidValue:
            full = None
        try:
            if first or last:
                parts = name_of_parts(first or "", last or "")
                first, last = parts.first or None, parts.last or None
        except InvalidValue:
            first = last = None
        return replace(self, full_name=full, first_name=first, last_name=last)

    def without_member_id(self) -> Self:
        """Return the subject without the id of a member, if a provider knows the person without it.

        Few providers know these ids (`Provider.takes_member_ids`), and none leads to another identifier.
        """
        if not self._has_member_id:
            return self
        plain = replace(self, linkedin_url=None)
        return plain if replace(plain, contact_id=None).is_identified else self

    def as_sent(self, *, with_member_id: bool) -> Self:
        """Return what a provider is asked by: a member's id only if it takes one, and no hidden family name.

        Pages show people whom the user is not connected with as Ada L.: with the company alone, a provider
        would return any Ada whose family name begins with L.
        """
        sent = replace(self, linkedin_url=None) if self._has_member_id and not with_member_id else self
        if not (sent.linkedin_url or sent.email or sent.phone) and self._hides_family_name:
            sent = replace(sent, full_name=None, first_name=None, last_name=None)
        return sent

    @property
    def _has_member_id(self) -> bool:
        return self.linkedin_url is not None and is_member_url(self.linkedin_url)

    @property
    def _hides_family_name(self) -> bool:
        if self.last_name:
            return is_initials(self.last_name)
        try:
            return bool(self.full_name) and is_initials(names.parse_name(str(self.full_name)).last)
        except InvalidValue:
            return False

    @property
    def has_exact_key(self) -> bool:
        """Return whether one field alone identifies the person."""
        return bool(self.contact_id or self.linkedin_url or self.email or self.phone)

    @property
    def name(self) -> str | None:
        """The full name, joined from first and last name if needed; None if one of them is missing."""
        if self.full_name:
            return self.full_name
        if self.first_name and self.last_name:
            return f"{self.first_name} {self.last_name}"
        return None

    @property
    def only_identifier(self) -> tuple[str, str] | None:
        """Return the kind and value of the profile, e-mail or phone if it is the only identifier, else None.

        The id of a stored contact and a second profile URL are never sent to a provider and do not count.
        """
        unsent = {"contact_id", "member_url"}
        given = [(kind, value) for kind, value in self.as_dict().items() if kind not in unsent]
        return given[0] if len(given) == 1 and given[0][0] in EXACT else None

    @property
    def names_one_way(self) -> bool:
        """Return whether every provider must match the person by the same identifier.

        This holds for one profile, one e-mail, one phone, or one name at one company. With several
        identifiers, each provider may match by a different one, so their results may be about different
        people.
        """
        companies = [kind for kind in ("company_domain", "company_name") if getattr(self, kind)]
        ways = [kind for kind in EXACT if getattr(self, kind)] + companies
        if not companies and self.name:
            ways.append("name")
        return len(ways) == 1 and not self._has_two_names

    @property
    def _has_two_names(self) -> bool:
        if not (self.full_name and self.first_name and self.last_name):
            return False
        joined = f"{self.first_name} {self.last_name}"
        return person_key(generation_of(self.full_name).name) != person_key(generation_of(joined).name)

    def as_dict(self) -> dict[str, str]:
        """Return the fields that are set, for a JSON column; `Subject(**…)` restores the subject."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def question(self) -> dict[str, Any]:
        """Return the deduplication key of a subject: its fields, with all names case-folded."""
        key = self.as_dict()
        if self.name:
            key = {k: v for k, v in key.items() if k not in {"full_name", "first_name", "last_name"}}
            key["name"] = self.name.casefold()
        if self.company_name:
            key["company_name"] = self.company_name.casefold()
        return key
