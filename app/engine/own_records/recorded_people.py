"""A person as a system of the workspace has them, such as its CRM: what is stored is in normal form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.companies.company_domains import company_domain, mail_company_domain
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.emails import email_domain, email_kind, normal_email
from app.domain.normal.phones.phones import normal_phone
from app.domain.normal.profiles.profiles import normal_profile_url
from app.domain.records.person_matcher import PersonMatcher
from app.engine.lookups.lookup_parts import CurrentCompany


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPerson:
    """A person in a system of the workspace, as it has them or in normal form.

    `domain` is the company's website or its domain.
    """

    name: str = field(default="", repr=False)
    emails: Sequence[str] = field(default=(), repr=False)
    phones: Sequence[str] = field(default=(), repr=False)
    profiles: Sequence[str] = field(default=(), repr=False)
    company: str = field(default="", repr=False)
    domain: str = field(default="", repr=False)

    @property
    def companies(self) -> Sequence[str]:
        """The names of the company: one or none."""
        return (self.company,) if self.company else ()

    @property
    def domains(self) -> Sequence[str]:
        """The domains of the company: of its website and of work addresses; most records lack a website."""
        at_work = (email_domain(email) for email in self.emails if email_kind(email) == "work")
        return tuple(dict.fromkeys(filter(None, (self.domain, *map(mail_company_domain, at_work)))))

    def normal(self) -> Self:
        """Return the person in normal form; values that are not valid are left out."""
        return replace(
            self,
            name=line(self.name),
            emails=_normal(self.emails, normal_email),
            phones=_normal(self.phones, normal_phone),
            profiles=_normal(self.profiles, normal_profile_url),
            company=line(self.company),
            domain=next(iter(_normal([self.domain], company_domain)), ""),
        )

    def stored_values(self, *, without: Collection[str]) -> dict[str, Any]:
        """Return the values by field, without empty ones and those that have columns of their own."""
        names = (one.name for one in dataclasses.fields(self))
        return {name: value for name in names if name not in without and (value := getattr(self, name))}

    def is_outdated(self, current: CurrentCompany | None) -> bool:
        """Return whether the system has another company than the stored one, by what is known of both."""
        if current is None:
            return False
        pairs = ((self.domain, current.domain), (_company_key(self.company), _company_key(current.name)))
        equal = [theirs == ours for theirs, ours in pairs if theirs and ours]
        return bool(equal) and not any(equal)

    def is_sought(self, matcher: PersonMatcher) -> bool:
        """Return whether one with the name of a sought person is nobody else: they have no other profile."""
        fields = {
            "full_name": self.name,
            "company_name": self.company,
            "linkedin_url": next(iter(self.profiles), None),
        }
        return any(matcher.matches(fields | {"company_domain": domain}) for domain in (*self.domains, ""))


_MAX_LINE = 300
"""Characters of a name; longer texts are cut."""
_MAX_VALUES = 20
"""The most addresses, numbers or profiles of one record."""


def _company_key(name: str | None) -> str:
    return company_key(name) if name else ""


def line(text: str) -> str:
    """Return a text on one line, cut if it is long."""
    return " ".join(text.split())[:_MAX_LINE]


def _normal(texts: Iterable[str], form: Callable[[str], str]) -> tuple[str, ...]:
    """Return the distinct normal forms of the texts that have one."""
    found: dict[str, None] = {}
    for text in texts:
        if not text.strip():
            continue
        try:
            found[form(text)] = None
        except (InvalidValue, NotAProfileUrl):
            continue
    return tuple(found)[:_MAX_VALUES]
