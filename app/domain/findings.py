"""Findings about people and companies: values with their sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EmailStatus(StrEnum):
    """The verification status of an e-mail address or phone."""

    VALID = "valid"
    ACCEPT_ALL = "accept_all"
    RISKY = "risky"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class SourceKind(StrEnum):
    """The origin of a value."""

    IMPORT = "import"
    PROVIDER = "provider"
    PATTERN = "pattern"


PERSON = "person"
"""The name of the person as the source of a value: it is above every other source."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a value: the provider's or file's name, and when it was observed (not stored).

    `url` is the public page where the value stands, if it was read from one.
    """

    provider: str
    kind: SourceKind
    at: datetime
    url: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEmail:
    """An address of a person from one source; `email` is in normal form, `confidence` is 0 to 1 or None."""

    email: str
    type: str
    status: EmailStatus
    source: Source
    reasons: tuple[str, ...] = ()
    confidence: float | None = None
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPhone:
    """A phone number of a person from one source; `e164` is in normal form.

    `type` is mobile, direct, work, hq or other. `do_not_call_at` is when the source checked the do-not-call
    registry, as reported by it.
    """

    e164: str
    source: Source
    type: str = "other"
    status: str = "unknown"
    extension: str | None = None
    confidence: float | None = None
    do_not_call: bool | None = None
    do_not_call_at: datetime | None = None
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCompany:
    """The values of a company from one source; each is in normal form or None."""

    source: Source
    name: str | None = None
    domain: str | None = None
    linkedin_url: str | None = None
    industry: str | None = None
    headcount: str | None = None
    city: str | None = None
    country: str | None = None


PERSON_FIELDS = (
    "full_name", "first_name", "last_name", "title", "seniority", "department", "linkedin_url", "member_url",
    "city", "country",
)  # fmt: skip
"""The values of a person that are one text: attributes of `FoundContact`, and columns of contacts."""
COMPANY_FIELDS = ("name", "domain", "linkedin_url", "industry", "headcount", "city", "country")
"""The values of a company: attributes of `FoundCompany`, and columns of companies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundContact:
    """The values of a person from one source; each is in normal form or None.

    `member_url` is a second profile URL, with an id of the member, if `linkedin_url` has the chosen name.
    A weak profile was written as a handle that may be another's: it identifies only people of one name.
    """

    source: Source
    full_name: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    title: str | None = None
    seniority: str | None = None
    department: str | None = None
    linkedin_url: str | None = None
    member_url: str | None = None
    is_profile_weak: bool | None = None
    city: str | None = None
    country: str | None = None
    company: FoundCompany | None = None
    emails: tuple[FoundEmail, ...] = field(default=())
    phones: tuple[FoundPhone, ...] = field(default=())
