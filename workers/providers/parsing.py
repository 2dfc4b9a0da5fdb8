"""Parses vendors' JSON: reads values at a path and normalizes them.

An object or list of the wrong type is an `UnexpectedResponse`. A value that cannot be normalized (a masked
address, a number instead of a name) is omitted.
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
from app.domain.lists.cells.dates import parse_timestamp
from app.domain.normal.companies.company_domains import company_domain
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.companies.employers import employer_name
from app.domain.normal.emails import email_kind
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.name_parts import name_of_parts
from app.domain.normal.names.names import PersonName, parse_name
from app.domain.normal.person_emails import person_email
from app.domain.normal.phones.phones import parse_phone
from app.domain.normal.places.countries import country_code
from app.domain.normal.profiles.profiles import normal_company_url, normal_profile_url
from app.domain.normal.texts.vocabularies import department, headcount, seniority
from app.infra import clock
from workers.providers.base import ProviderRequest, UnexpectedResponse

MAX_TEXT_LENGTH = 300
PHONE_TYPES = frozenset({"mobile", "direct", "work", "hq", "other"})
_MASKS = re.compile("[*\u2022\u2026]")
T = TypeVar("T")


def source_of(provider: str, at: datetime | None = None) -> Source:
    """Return the provider as the source, observed at the time of its data or now; never in the future."""
    now = clock.now()
    return Source(provider, SourceKind.PROVIDER, min(at or now, now))


def object_at(body: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return the object at the path; an empty one if it is missing or null.

    Raises:
        UnexpectedResponse: the value is not an object.

    """
    value: Any = body
    for name in path:
        value = value.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise UnexpectedResponse(name)
    return dict(value)


def required(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object of this name.

    Raises:
        UnexpectedResponse: it is missing, or not an object.

    """
    value = body.get(name)
    if not isinstance(value, dict):
        raise UnexpectedResponse(name)
    return value


def records(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the list of objects of this name; an empty list if it is missing or null.

    Raises:
        UnexpectedResponse: the value is not a list of objects.

    """
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UnexpectedResponse(name)
    return value


def texts(body: Mapping[str, Any], name: str) -> list[str]:
    """Return the strings in the list of this name; other elements are omitted."""
    values = body.get(name)
    return [item for item in map(_text, values) if item] if isinstance(values, list) else []


def text(body: Mapping[str, Any], name: str) -> str | None:
    """Return the string of this name, trimmed; None if it is missing or not a string."""
    return _text(body.get(name))


def stated_text(body: Mapping[str, Any], name: str) -> str | None:
    """Return the string of this name, trimmed; None if it is null, which is how a vendor states a miss.

    Raises:
        UnexpectedResponse: the name is missing, or its value is not a string.

    """
    if not isinstance(body.get(name, ...), str | None):
        raise UnexpectedResponse(name)
    return _text(body[name])


def figure(body: Mapping[str, Any], name: str) -> float | None:
    """Return the number of this name, parsed if it is a string; None if it is missing or not a number."""
    raw = body.get(name)
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        return None
    return value if abs(value) < float("inf") else None


def time(body: Mapping[str, Any], name: str) -> datetime | None:
    """Return the timestamp of this name, from a date or RFC 3339; None if it is missing or invalid."""
    return normal(parse_timestamp, text(body, name))


def normal(form: Callable[[str], T], value: str | None) -> T | None:
    """Return the normalized value; None if it is missing or invalid."""
    if not value:
        return None
    try:
        return form(value)
    except (InvalidValue, NotAProfileUrl):
        return None


def found_email(
    value: str | None,
    status: EmailStatus,
    source: Source,
    *,
    kind: str | None = None,
    reasons: Iterable[str] = (),
    confidence: float | None = None,
    verified_at: datetime | None = None,
) -> FoundEmail | None:
    """Build an e-mail address; return None if it is invalid or masked.

    `kind` is work or personal, derived from the domain if None; `confidence` is from 0 to 1.
    """
    if not value or _MASKS.search(value):
        return None
    email = normal(person_email, value)
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
    value: str | None,
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
    """Build a phone number; return None if it is invalid or masked. `country` applies to national formats."""
    number = normal(lambda text: parse_phone(text, country), value)
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
    """Build a company; return None without a name, domain or profile. `employees`: a number or 51-200."""
    own_domain = normal(lambda text: company_domain(text, name), domain)
    found = FoundCompany(
        source=source,
        name=employer_name(name, own_domain),
        domain=own_domain,
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
    """Build a person; return None without a name or profile. `level` is a seniority, `area` a department.

    A name with a masked part is omitted. If only one part is given, the other is not derived from it.
    """
    name = _person_name(full_name or "", first_name or "", last_name or "")
    found = FoundContact(
        source=source,
        full_name=name.full if name else None,
        first_name=(name.first or None) if name else None,
        last_name=(name.last or None) if name else None,
        title=title,
        seniority=normal(seniority, level) or None,
        department=normal(department, area) or None,
        linkedin_url=normal(normal_profile_url, linkedin_url),
        city=city,
        country=normal(country_code, country),
        company=company,
    )
    return found if found.full_name or found.linkedin_url else None


def _person_name(full: str, first: str, last: str) -> PersonName | None:
    """Return the name, None if it is masked or no person's; a single part says nothing of the other."""
    if "*" in f"{full}{first}{last}":
        return None
    try:
        if first and last:
            return name_of_parts(first, last, full=full)
        name = parse_name(full or first or last)
    except InvalidValue:
        return None
    if full:
        return replace(name, first=first or name.first, last=last or name.last)
    return PersonName(first and name.full, last and name.full, name.full)


def without_echo(contact: FoundContact | None, request: ProviderRequest) -> FoundContact | None:
    """Return the contact without the values of the request, for a vendor that echoes them.

    An echoed value confirms nothing: stored, it would be the caller's data under the vendor's name. A request
    by contact id was made from stored values, which may be echoed.
    """
    subject = request.subject
    if contact is None or subject.contact_id is not None:
        return contact
    if subject.name and contact.full_name and person_key(subject.name) == person_key(contact.full_name):
        contact = replace(contact, full_name=None, first_name=None, last_name=None)
    if contact.linkedin_url == subject.linkedin_url:
        contact = replace(contact, linkedin_url=None)
    contact = replace(contact, company=contact.company and _company_without_echo(contact.company, request))
    return contact if contact.full_name or contact.linkedin_url else None


def _company_without_echo(company: FoundCompany, request: ProviderRequest) -> FoundCompany | None:
    subject = request.subject
    if company.domain == subject.company_domain:
        company = replace(company, domain=None)
    requested_name = subject.company_name
    if company.name and requested_name and company_key(company.name) == company_key(requested_name):
        company = replace(company, name=None)
    return company if company.name or company.domain or company.linkedin_url else None


def unique_emails(found: Iterable[FoundEmail | None], types: Iterable[str]) -> tuple[FoundEmail, ...]:
    """Return the addresses of the requested types, in order, without None and duplicates."""
    requested = frozenset(types)
    unique: dict[str, FoundEmail] = {}
    for email in found:
        if email is not None and (not requested or email.type in requested):
            unique.setdefault(email.email, email)
    return tuple(unique.values())


def unique_phones(found: Iterable[FoundPhone | None]) -> tuple[FoundPhone, ...]:
    """Return the numbers without None and duplicates, in order; the first one wins."""
    unique: dict[str, FoundPhone] = {}
    for phone in found:
        if phone is not None:
            unique.setdefault(phone.e164, phone)
    return tuple(unique.values())


def _text(value: object) -> str | None:
    """Return the trimmed text; None if a database could not store it (NUL, lone surrogates)."""
    if not isinstance(value, str) or "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return None
    return value.strip()[:MAX_TEXT_LENGTH] or None


def _headcount(employees: str | float | None) -> str | None:
    if employees is None or isinstance(employees, str):
        return employees
    return str(int(employees)) if employees >= 1 else None  # 0 means unknown
