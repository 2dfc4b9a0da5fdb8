"""Parsing of people from the rows of a list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from app.domain.errors import InvalidValue
from app.domain.findings import FoundCompany, FoundContact, FoundEmail
from app.domain.lists.cells import name_value
from app.domain.lists.column_mapping import ColumnMapping
from app.domain.lists.company_rows import company_beside
from app.domain.lists.country_cells import list_country
from app.domain.lists.email_cells import emails_of
from app.domain.lists.phone_cells import PhoneRegions, phone_regions, phones_of
from app.domain.lists.profile_cells import profiles_of
from app.domain.lists.row_values import RowValues, country_of_state
from app.domain.normal.countries import parse_location
from app.domain.normal.emails import email_domain, email_kind
from app.domain.normal.names import MAX_NAME_LENGTH, PersonName, nickname_of, parse_name
from app.domain.normal.phones import PhoneNumber
from app.domain.normal.vocabularies import department, seniority
from app.domain.normal.websites import normal_website

NO_PERSON_ERROR = (
    "The row does not identify a person. It needs an e-mail, a phone, a LinkedIn profile, or a full name "
    "with a company or its domain."
)

_PLAIN_NAME = re.compile(r"[^\W\d_]{2,}(?:[ '-][^\W\d_]{2,}){0,2}")
_SALUTATIONS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "dr",
        "prof",
        "herr",
        "frau",
        "m",
        "mme",
        "mr.",
        "mrs.",
        "ms.",
        "dr.",
        "prof.",
        "m.",
        "sr",
        "sra",
    ]
)


@dataclass(frozen=True, slots=True)
class ParsedPerson:
    """The person of a row, with the parsed phone numbers, so that callers do not parse them again.

    `digest` is that of the row, if an import of the same row would find the same at any later time. `line` is
    the row's first line in its file, from 1.
    """

    found: FoundContact
    numbers: Mapping[tuple[str, str | None], PhoneNumber] = field(default_factory=dict)
    digest: bytes | None = None
    line: int = 0


def person_of(row: RowValues, layout: ColumnMapping) -> ParsedPerson:
    """Parse a row of a list of people.

    Raises:
        InvalidValue: the row does not identify a person (contract 2.4).

    """
    row_time = row.time(row.text("updated_at"), "updated_at")
    row_time = row_time or row.time(row.text("email_verified_at"), "email_verified_at")
    emails = emails_of(row, layout.emails, row_time)
    city, country = _location(row)
    source = row.source(row_time)
    company = company_beside(row, source, _mail_domain(emails))
    phones = phones_of(row, layout.phones, partial(_phone_regions, row, country, company, emails), row_time)
    name, is_full_name = _name(row)
    profiles = profiles_of(row, name)
    if not (profiles.linkedin_url or emails or phones or (is_full_name and _is_named(company))):
        raise InvalidValue(NO_PERSON_ERROR)
    found = FoundContact(
        source=source,
        full_name=name.full if name else None,
        first_name=(name.first or None) if name else None,
        last_name=(name.last or None) if name else None,
        title=_title(row),
        seniority=row.normal("seniority", seniority) or None,
        department=row.normal("department", department) or None,
        linkedin_url=profiles.linkedin_url,
        member_url=profiles.member_url,
        is_profile_weak=profiles.is_weak or None,
        city=city,
        country=country,
        company=company,
        emails=emails,
        phones=tuple(phone for phone, _ in phones),
    )
    return ParsedPerson(found, {(number.e164, number.extension): number for _, number in phones})


def _phone_regions(
    row: RowValues, country: str | None, company: FoundCompany | None, emails: tuple[FoundEmail, ...]
) -> PhoneRegions:
    """Return the countries of the row's phone numbers without a country code."""
    domains = [email_domain(email.email) for email in emails]
    if company:
        domains.append(company.domain or "")
    return phone_regions(row.defaults, (country, company.country if company else None), domains)


def _is_named(company: FoundCompany | None) -> bool:
    return company is not None and bool(company.name or company.domain)


def _name(row: RowValues) -> tuple[PersonName | None, bool]:
    """Return the name from its parts or the full name, and whether it is a full name."""
    first, last = _part(row, "first_name"), _part(row, "last_name")
    middle, full = _part(row, "middle_name"), _part(row, "full_name")
    try:
        if len(first or "") > MAX_NAME_LENGTH or len(last or "") > MAX_NAME_LENGTH:
            raise InvalidValue("The name is too long.")  # noqa: TRY301 -- as `parse_name` does for the full name
        if first and last:
            return _from_parts(first, last, full or " ".join(filter(None, (first, middle, last)))), True
        if full and full in {first, last}:  # as an export writes a name of one part
            return PersonName(first or "", last or "", full), True
        if text := full or first or last:
            return _parsed(text) if full or first else PersonName("", text, text), bool(full)
    except InvalidValue:
        row.warn("full_name")
    return None, False


def _from_parts(first: str, last: str, full: str) -> PersonName:
    """Return the name from its parts if they are plain; else parse it to drop credentials and nicknames."""
    if len(full) <= MAX_NAME_LENGTH and _PLAIN_NAME.fullmatch(first) and _PLAIN_NAME.fullmatch(last):
        return PersonName(first, last, full)
    parsed = _parsed(full)
    return PersonName(first, last, full) if parsed.full == full and not nickname_of(full) else parsed


def _parsed(full: str) -> PersonName:
    """Return the name in the text.

    Raises:
        InvalidValue: as in `parse_name`, or the name is an empty marker beside signs that no name has.

    """
    name = parse_name(full)
    if name_value(name.full) is None:
        raise InvalidValue("The name is empty.")
    return name


def _part(row: RowValues, name: str) -> str | None:
    for cell in row.raw(name):
        if text := name_value(cell):
            return None if "@" in text else text
    return None


def _title(row: RowValues) -> str | None:
    return next((text for text in row.all("title") if text.lower() not in _SALUTATIONS), None)


def _location(row: RowValues) -> tuple[str | None, str | None]:
    """Return the city and the country; a row without a country has that of its state."""
    city, country = row.text("city"), row.normal("country", list_country)
    if city is None and country is None and (text := row.text("location")):
        city, country = parse_location(text)
    return city, country or country_of_state(row, "state")


def _mail_domain(emails: tuple[FoundEmail, ...]) -> str | None:
    """Return the registrable domain of the first work e-mail that is not at a mail provider."""
    for email in emails:
        if email.type == "work" and (website := _website(email_domain(email.email))):
            return website
    return None


@lru_cache(maxsize=8192)
def _website(domain: str) -> str | None:
    """Return the website of a mail domain; None for a mail provider or an invalid domain."""
    if email_kind(f"a@{domain}") == "personal":
        return None
    try:
        return normal_website(domain)
    except InvalidValue:
        return None
