"""A person as a CRM has them: what a vendor reads from a record, in normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.companies.company_domains import company_domain, mail_company_domain
from app.domain.normal.emails import email_domain, email_kind, normal_email
from app.domain.normal.phones.phones import normal_phone
from app.domain.normal.profiles.profiles import normal_profile_url


class RecordKind(StrEnum):
    """What a record is in its CRM."""

    CONTACT = "contact"
    LEAD = "lead"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmPerson:
    """A person in a CRM, as it has them or in normal form.

    `changed_at` is when the record was changed, by the clock of the CRM. `domain` is the company's website or
    its domain, `owner` the name of the colleague who owns the record, `stage` the CRM's name of its status.
    """

    crm_id: str
    kind: RecordKind
    changed_at: datetime | None = None
    name: str = field(default="", repr=False)
    emails: Sequence[str] = field(default=(), repr=False)
    phones: Sequence[str] = field(default=(), repr=False)
    profiles: Sequence[str] = field(default=(), repr=False)
    company: str = field(default="", repr=False)
    domain: str = field(default="", repr=False)
    owner: str = field(default="", repr=False)
    stage: str = field(default="", repr=False)

    @property
    def companies(self) -> Sequence[str]:
        """The names of the company: one or none."""
        return (self.company,) if self.company else ()

    @property
    def domains(self) -> Sequence[str]:
        """The domains of the company: of its website and of work addresses; most records lack a website."""
        at_work = (email_domain(email) for email in self.emails if email_kind(email) == "work")
        return tuple(dict.fromkeys(filter(None, (self.domain, *map(mail_company_domain, at_work)))))

    def normal(self) -> CrmPerson:
        """Return the person in normal form; values that are not valid are left out."""
        return replace(
            self,
            name=_line(self.name),
            emails=_normal(self.emails, normal_email),
            phones=_normal(self.phones, normal_phone),
            profiles=_normal(self.profiles, normal_profile_url),
            company=_line(self.company),
            domain=next(iter(_normal([self.domain], company_domain)), ""),
            owner=_line(self.owner),
            stage=_line(self.stage),
        )


_MAX_LINE = 300
"""Characters of a name; longer texts of a CRM are cut."""
_MAX_VALUES = 20
"""The most addresses, numbers or profiles of one record."""


def _line(text: str) -> str:
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
