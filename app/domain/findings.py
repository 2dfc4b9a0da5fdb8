"""What is found out about a person or company, as values that carry where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EmailStatus(StrEnum):
    """How sure a mailbox is (contract 2.7)."""

    VALID = "valid"
    ACCEPT_ALL = "accept_all"
    RISKY = "risky"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class SourceKind(StrEnum):
    """How a value came to be known."""

    IMPORT = "import"
    PROVIDER = "provider"
    PATTERN = "pattern"


@dataclass(frozen=True, slots=True)
class Source:
    """Who said so: the provider's or file's name, how, and when it was said (not when it was stored)."""

    provider: str
    kind: SourceKind
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEmail:
    """An address somebody gave for a person; `email` is in normal form, `confidence` 0 to 1 or None."""

    email: str
    type: str
    status: EmailStatus
    source: Source
    reasons: tuple[str, ...] = ()
    confidence: float | None = None
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPhone:
    """A number somebody gave for a person; `e164` in normal form, `type` as in contract 2.7.

    `do_not_call_at` is when its do-not-call entry was looked up, as told.
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
    """What somebody said of a company; every value in normal form or None."""

    source: Source
    name: str | None = None
    domain: str | None = None
    linkedin_url: str | None = None
    industry: str | None = None
    headcount: str | None = None
    city: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundContact:
    """What somebody said of a person; every value in normal form or None."""

    source: Source
    full_name: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    title: str | None = None
    seniority: str | None = None
    department: str | None = None
    linkedin_url: str | None = None
    city: str | None = None
    country: str | None = None
    company: FoundCompany | None = None
    emails: tuple[FoundEmail, ...] = field(default=())
    phones: tuple[FoundPhone, ...] = field(default=())
