"""Whether two people of one name at one company are two: their addresses and numbers say so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from app.domain.findings import EmailStatus, FoundContact
from app.domain.normal.emails import email_reasons

GONE = frozenset(("bounced", "disabled", "former"))
"""Reasons for which a person has another address than this one."""


@dataclass(frozen=True, slots=True)
class ContactValues:
    """What tells namesakes apart: work addresses in use, mobile numbers, and all addresses and numbers."""

    work_emails: frozenset[str] = frozenset()
    mobiles: frozenset[str] = frozenset()
    all: frozenset[str] = frozenset()

    @classmethod
    def of(cls, record: FoundContact) -> Self:
        """Return the values of a record."""
        emails = [(email.email, email.type, email.status.value, email.reasons) for email in record.emails]
        return cls.from_values(emails, [(phone.e164, phone.type) for phone in record.phones])

    @classmethod
    def from_values(
        cls, emails: Iterable[tuple[str, str, str, Iterable[str]]], phones: Iterable[tuple[str, str]]
    ) -> Self:
        """Return the values; an address comes with its type, status and reasons, a number with its type."""
        emails, phones = list(emails), list(phones)
        return cls(
            frozenset(
                email for email, type_, status, reasons in emails if _is_used(email, type_, status, reasons)
            ),
            frozenset(number for number, type_ in phones if type_ == "mobile"),
            frozenset((*(entry[0] for entry in emails), *(number for number, _ in phones))),
        )

    def joined(self, other: ContactValues) -> ContactValues:
        """Return the values of both."""
        return ContactValues(
            self.work_emails | other.work_emails, self.mobiles | other.mobiles, self.all | other.all
        )


def are_namesakes(a: ContactValues, b: ContactValues) -> bool:
    """Return whether two records with one name and one employer are about two people.

    They are if both have a work address or both a mobile number, and nothing agrees: no address, no number,
    and no local part, which one person keeps at each domain of an employer.
    """
    if not a.all.isdisjoint(b.all):
        return False
    if a.work_emails and b.work_emails:
        return _local_parts(a).isdisjoint(_local_parts(b))
    return bool(a.mobiles and b.mobiles)


def _local_parts(values: ContactValues) -> set[str]:
    return {email.partition("@")[0] for email in values.work_emails}


def _is_used(email: str, type_: str, status: str, reasons: Iterable[str]) -> bool:
    is_role = "role" in email_reasons(email)
    return type_ == "work" and status != EmailStatus.INVALID and GONE.isdisjoint(reasons) and not is_role
