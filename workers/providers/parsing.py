"""Reading vendors' JSON: values at a path, and each value in normal form or not at all.

What a vendor documents as an object or a list and sends as something else is an unexpected answer. A value
that cannot be read (a masked address, a number for a name) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.domain.lists.cells import parse_timestamp
from app.domain.normal.countries import country_code
from app.domain.normal.emails import email_kind, normal_email
from app.domain.normal.names import company_key, name_key, parse_name
from app.domain.normal.phones import parse_phone
from app.domain.normal.profiles import normal_company_url, normal_profile_url
from app.domain.normal.vocabularies import department, headcount, seniority
from app.domain.normal.websites import normal_website
from app.infra import clock
from workers.providers.base import ProviderRequest, UnexpectedAnswer

MAX_TEXT_LENGTH = 300
PHONE_TYPES = frozenset({"mobile", "direct", "work", "hq", "other"})
_MASKS = re.compile("[*\u2022\u2026]")
_PHONE_MASKS = re.compile("[*\u2022\u2026]|[xX]{2}|[#_.]{2}")
"""A phone's letters count as digits, so that a run of x would be read as nines."""
T = TypeVar("T")


def source_of(provider: str, at: datetime | None = None) -> Source:
    """Say that the provider said so, at the time its data is of, or now; never in the future."""
    now = clock.now()
    return Source(provider, SourceKind.PROVIDER, min(at or now, now))


def object_at(body: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Give the object at the path; an empty one where there is none or null.

    Raises:
        UnexpectedAnswer: something else is there.

    """
    found: Any = body
    for name in path:
        found = found.get(name)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise UnexpectedAnswer(name)
    return dict(found)


def required(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Give the object of this name.

    Raises:
        UnexpectedAnswer: there is none.

    """
    found = body.get(name)
    if not isinstance(found, dict):
        raise UnexpectedAnswer(name)
    return found


def records(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Give the objects of the list of this name; none where there is none or null.

    Raises:
        UnexpectedAnswer: something else is there.

    """
    found = body.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UnexpectedAnswer(name)
    return found


def texts(body: Mapping[str, Any], name: str) -> list[str]:
    """Give the texts of the list of this name; whatever else is in it is left out."""
    found = body.get(name)
    return [one for one in map(_text, found) if one] if isinstance(found, list) else []


def text(body: Mapping[str, Any], name: str) -> str | None:
    """Give the text of this name, trimmed; None where there is none, or something else."""
    return _text(body.get(name))


def figure(body: Mapping[str, Any], name: str) -> float | None:
    """Give the number of this name, also out of digits in a text; None where there is none."""
    found = body.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        value = float(found)
    except (ValueError, OverflowError):
        return None
    return value if abs(value) < float("inf") else None


def time(body: Mapping[str, Any], name: str) -> datetime | None:
    """Give the time of this name, out of a date or RFC 3339; None where there is none."""
    found = text(body, name)
    return normal(parse_timestamp, found)


def normal(form: Callable[[str], T], said: str | None) -> T | None:
    """Give the normal form of what is said; None of what has none."""
    if not said:
        return None
    try:
        return form(said)
    except (InvalidValue, NotAProfileUrl, OverflowError):  # the last: times at either end of the calendar
        return None


def found_email(
    said: str | None,
    status: EmailStatus,
    source: Source,
    *,
    kind: str | None = None,
    reasons: Iterable[str] = (),
    confidence: float | None = None,
    verified_at: datetime | None = None,
) -> FoundEmail | None:
    """Put an address together; None if it is none, or masked.

    `kind` is work or personal, told from the domain if None; `confidence` from 0 to 1.
    """
    if not said or _MASKS.search(said):
        return None
    email = normal(normal_email, said)
    if email is None:
        return None
    return FoundEmail(
        email=email,
        type=kind or email_kind(email),
        status=status,
        source=source,
        reasons=tuple(dict.fromkeys(reasons)),
        confidence=confidence,
        verified_at=verified_at,
    )


def found_phone(  # noqa: PLR0913 -- the columns of a row
    said: str | None,
    source: Source,
    *,
    kind: str = "other",
    country: str | None = None,
    status: str = "unknown",
    extension: str | None = None,
    confidence: float | None = None,
    do_not_call: bool | None = None,
    do_not_call_at: datetime | None = None,
) -> FoundPhone | None:
    """Put a number together; None if it is none, or masked. `country` is where a national one is read."""
    if not said or _PHONE_MASKS.search(said):
        return None
    number = normal(lambda one: parse_phone(one, country), said)
    if number is None:
        return None
    return FoundPhone(
        e164=number.e164,
        source=source,
        type=kind if kind in PHONE_TYPES else "other",
        status=status,
        extension=extension or number.extension,
        confidence=confidence,
        do_not_call=do_not_call,
        do_not_call_at=do_not_call_at,
    )


def found_company(
    source: Source,
    *,
    name: str | None = None,
    domain: str | None = None,
    linkedin_url: str | None = None,
    industry: str | None = None,
    employees: str | float | None = None,
    city: str | None = None,
    country: str | None = None,
) -> FoundCompany | None:
    """Put a company together; None if nothing names it. `employees` is a number or a range such as 51-200."""
    found = FoundCompany(
        source=source,
        name=name,
        domain=normal(normal_website, domain),
        linkedin_url=normal(normal_company_url, linkedin_url),
        industry=industry,
        headcount=normal(headcount, _headcount(employees)),
        city=city,
        country=normal(country_code, country),
    )
    return found if found.name or found.domain or found.linkedin_url else None


def found_contact(  # noqa: PLR0913 -- the columns of a row
    source: Source,
    *,
    full_name: str | None = None,
    first_name: str | None = None,
    last_name: str | None = None,
    title: str | None = None,
    level: str | None = None,
    area: str | None = None,
    linkedin_url: str | None = None,
    city: str | None = None,
    country: str | None = None,
    company: FoundCompany | None = None,
) -> FoundContact | None:
    """Put a person together; None if nothing names them. `level` is a seniority, `area` a department.

    A name with a masked part is left out whole; of one part alone the other is not made up.
    """
    if any(part and "*" in part for part in (full_name, first_name, last_name)):
        full_name = first_name = last_name = None
    name = normal(parse_name, full_name or " ".join(filter(None, (first_name, last_name))))
    parsed = name if full_name or (first_name and last_name) else None
    found = FoundContact(
        source=source,
        full_name=name.full if name else None,
        first_name=first_name or (parsed.first if parsed else None) or None,
        last_name=last_name or (parsed.last if parsed else None) or None,
        title=title,
        seniority=normal(seniority, level) or None,
        department=normal(department, area) or None,
        linkedin_url=normal(normal_profile_url, linkedin_url),
        city=city,
        country=normal(country_code, country),
        company=company,
    )
    return found if found.full_name or found.linkedin_url else None


def without_echo(contact: FoundContact | None, ask: ProviderRequest) -> FoundContact | None:
    """Return what a vendor says beyond the question, for one that sends the words of the question back.

    A word that comes back confirms nothing: it may be wrong, and stored it would be a caller's word under the
    vendor's name. What was asked by stored facts may come back; it is stored already.
    """
    asked = ask.subject
    if contact is None or asked.contact_id is not None:
        return contact
    if asked.name and contact.full_name and name_key(asked.name) == name_key(contact.full_name):
        contact = replace(contact, full_name=None, first_name=None, last_name=None)
    if contact.linkedin_url == asked.linkedin_url:
        contact = replace(contact, linkedin_url=None)
    contact = replace(contact, company=contact.company and _company_without_echo(contact.company, ask))
    return contact if contact.full_name or contact.linkedin_url else None


def _company_without_echo(company: FoundCompany, ask: ProviderRequest) -> FoundCompany | None:
    asked = ask.subject
    if company.domain == asked.company_domain:
        company = replace(company, domain=None)
    if company.name and asked.company_name and company_key(company.name) == company_key(asked.company_name):
        company = replace(company, name=None)
    return company if company.name or company.domain or company.linkedin_url else None


def unique_emails(found: Iterable[FoundEmail | None], types: Iterable[str]) -> tuple[FoundEmail, ...]:
    """Keep the addresses that are some, and of one of the types asked for; each once, as first named."""
    wanted = frozenset(types)
    kept: dict[str, FoundEmail] = {}
    for one in found:
        if one is not None and (not wanted or one.type in wanted):
            kept.setdefault(one.email, one)
    return tuple(kept.values())


def unique_phones(found: Iterable[FoundPhone | None]) -> tuple[FoundPhone, ...]:
    """Keep the numbers that are some, each once, as first named."""
    kept: dict[str, FoundPhone] = {}
    for one in found:
        if one is not None:
            kept.setdefault(one.e164, one)
    return tuple(kept.values())


def _text(found: object) -> str | None:
    """Give a text that can be kept; a database takes neither a NUL nor half a surrogate pair."""
    if not isinstance(found, str) or "\0" in found or any("\ud800" <= one <= "\udfff" for one in found):
        return None
    return found.strip()[:MAX_TEXT_LENGTH] or None


def _headcount(employees: str | float | None) -> str | None:
    if employees is None or isinstance(employees, str):
        return employees
    return str(int(employees)) if employees >= 1 else None  # 0 employees are not known ones
