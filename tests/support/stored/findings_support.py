"""Short constructors of source records of people and companies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ADA = "https://www.linkedin.com/in/ada-demo"
BOB = "https://www.linkedin.com/in/bob-demo"


def a_source(at: datetime = NOW, by: str = "list.csv", kind: SourceKind = SourceKind.IMPORT) -> Source:
    return Source(by, kind, at)


def email(text: str = "ada.lovelace@acme.example", at: datetime = NOW, **more: Any) -> FoundEmail:
    values = {"type": "work", "status": EmailStatus.VALID, "source": a_source(at)} | more
    return FoundEmail(email=text, **values)


def phone(e164: str = "+16175550101", at: datetime = NOW, **more: Any) -> FoundPhone:
    values = {"type": "mobile", "status": "valid", "source": a_source(at)} | more
    return FoundPhone(e164=e164, **values)


def company(
    name: str | None = "Acme Inc.", domain: str | None = None, at: datetime = NOW, **more: Any
) -> FoundCompany:
    return FoundCompany(source=a_source(at), name=name, domain=domain, **more)


def person(name: str | None = "Ada Lovelace", at: datetime = NOW, **more: Any) -> FoundContact:
    first, _, last = (name or "").partition(" ")
    values = {
        "full_name": name,
        "first_name": first or None,
        "last_name": last or None,
        "source": a_source(at),
    } | more
    return FoundContact(**values)
