"""A person as a push writes it, and the record of a person in a CRM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from app.features.crm.vendors.errors import Refusal
from app.features.crm.vendors.notes import Note


class CrmField(StrEnum):
    """The fields of a contact that can be written to a CRM."""

    FIRST_NAME = "first_name"
    LAST_NAME = "last_name"
    EMAIL = "email"
    PHONE = "phone"
    TITLE = "title"
    SENIORITY = "seniority"
    DEPARTMENT = "department"
    COMPANY = "company"
    WEBSITE = "website"
    LINKEDIN_URL = "linkedin_url"
    COUNTRY = "country"
    LIST = "list"
    RECEIPT_LINK = "receipt_link"
    MARKS = "marks"
    """What is outdated in the record, as runs of schedules found it; empty if nothing is."""


IDENTITY = (CrmField.FIRST_NAME, CrmField.LAST_NAME, CrmField.EMAIL)
"""The fields without which a record does not say whose it is."""


@dataclass(frozen=True, slots=True)
class Employer:
    """The company of a person, for CRMs in which it is a record of its own."""

    name: str | None
    domain: str | None


@dataclass(frozen=True, slots=True)
class CompanyRecord:
    """The record of a company in the CRM."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A contact as it is pushed: its values by field, without empty ones, and what it is found by.

    The fields are those of `CrmField`, and one for each constant.

    `emails` are all addresses of the person that the workspace owns, the one to write first.
    `country` is an ISO 3166-1 alpha-2 code.
    """

    values: Mapping[str, str] = field(repr=False)
    employer: Employer = field(repr=False)
    emails: Sequence[str] = field(repr=False)
    country: str | None = None

    def rank(self, emails: Sequence[str]) -> int:
        """Return the place of the first of the person's addresses that is among these; after all without."""
        present = {email.strip().casefold() for email in emails}
        ranks = (rank for rank, email in enumerate(self.emails) if email.casefold() in present)
        return next(ranks, len(self.emails))

    def has_any(self, emails: Sequence[str]) -> bool:
        """Return whether one of these is an address of the person."""
        return self.rank(emails) < len(self.emails)


@dataclass(frozen=True, slots=True)
class CrmRecord:
    """A person in the CRM: its id, and the values of the mapped properties, without empty ones."""

    id: str
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    notes: Sequence[Note] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The value of each property to write, and the properties that the CRM is known not to accept."""

    values: Mapping[str, str] = field(repr=False)
    refused: Mapping[str, Refusal] = field(default_factory=lambda: MappingProxyType({}))
