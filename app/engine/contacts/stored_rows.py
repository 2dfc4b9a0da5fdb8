"""Rows of the people, companies, e-mails and phones as the hot path reads them: values, never written back.

A test compares the fields with the columns of the tables.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple

from app.domain.call_registers import Listing


class StoredContact(NamedTuple):
    """The columns of a contact that matching and lookups read; two are equal if their ids are."""

    id: str
    full_name: str | None
    first_name: str | None
    last_name: str | None
    name_key: str | None
    title: str | None
    seniority: str | None
    department: str | None
    linkedin_url: str | None
    member_url: str | None
    linkedin_shared: bool
    city: str | None
    country: str | None
    company_id: str | None
    provenance: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return bool(self.id == getattr(other, "id", None))

    def __hash__(self) -> int:
        return hash(self.id)


class StoredCompany(NamedTuple):
    """The columns of a company that matching and lookups read; two are equal if their ids are."""

    id: str
    name: str | None
    name_key: str | None
    domain: str | None
    linkedin_url: str | None
    industry: str | None
    headcount: str | None
    city: str | None
    country: str | None
    provenance: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return bool(self.id == getattr(other, "id", None))

    def __hash__(self) -> int:
        return hash(self.id)


class CompanyCard(NamedTuple):
    """The columns of a company that are public."""

    id: str
    name: str | None
    domain: str | None
    linkedin_url: str | None
    industry: str | None
    headcount: str | None
    city: str | None
    country: str | None


class StoredEmail(NamedTuple):
    """An e-mail as one workspace sees it.

    `bounce_id` is the bounce that the workspace reported, while it is unconfirmed; `report_kind` and
    `report_at` are of its last report of any kind. `owned_as` is set if the workspace owns the value under
    any contact.
    """

    kind: Literal["email"]
    id: str
    contact_id: str
    email_index: str
    email: str
    type: str
    status: str
    status_reasons: list[str]
    confidence: float | None
    verified_at: datetime | None
    last_seen_at: datetime
    sources: list[dict[str, Any]]
    bounce_id: str | None
    report_kind: str | None
    report_at: datetime | None
    owned_as: str | None


class StoredPhone(NamedTuple):
    """A phone as one workspace sees it; `is_switchboard` is whether it is the number of a company.

    `report_kind` and `report_at` are as of an e-mail. `has_registers` is whether there are do-not-call
    registers, `listings` what they say about it, None until they are asked.
    """

    kind: Literal["phone"]
    id: str
    contact_id: str
    e164_index: str
    e164: str
    national: str
    extension: str | None
    country: str | None
    type: str
    line_type: str
    status: str
    confidence: float | None
    do_not_call: bool | None
    do_not_call_at: datetime | None
    verified_at: datetime | None
    last_seen_at: datetime
    sources: list[dict[str, Any]]
    is_switchboard: bool
    report_kind: str | None
    report_at: datetime | None
    owned_as: str | None
    has_registers: bool
    listings: tuple[Listing, ...] | None
