"""Parsing of people from the rows of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.findings import FoundCompany, FoundContact, FoundEmail
from app.domain.lists.cells.cells import phones_in
from app.domain.lists.cells.domain_cells import country_site
from app.domain.lists.cells.email_cells import emails_of
from app.domain.lists.cells.location_cells import OF_PERSON, location_of
from app.domain.lists.cells.name_cells import name_of
from app.domain.lists.cells.opt_outs import refuse_opted_out
from app.domain.lists.cells.profile_cells import profiles_of
from app.domain.lists.company_rows import company_beside
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.phone_cells.phone_cells import phone_regions, phones_of
from app.domain.lists.phone_cells.phone_reading import PhoneRegions
from app.domain.lists.row_values import RowValues
from app.domain.messages import Message
from app.domain.normal.emails import email_domain
from app.domain.normal.phones.phones import PhoneNumber
from app.domain.normal.texts.vocabularies import department, seniority

NO_PERSON_ERROR = Message(
    "The row does not identify a person. It needs an e-mail, a phone, a LinkedIn profile, or a full name "
    "with a company or its domain."
)

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


class ParsedPerson(NamedTuple):  # faster to make than a dataclass
    """The person of a row, with the parsed phone numbers, so that callers do not parse them again.

    `digest` is the digest of the row, if an import of the same row would find the same at any later time.
    `line` is the row's first line in its file, from 1.
    """

    found: FoundContact
    numbers: Mapping[tuple[str, str | None], PhoneNumber] = MappingProxyType({})
    digest: bytes | None = None
    line: int = 0


def person_of(row: RowValues, layout: ColumnMapping) -> ParsedPerson:
    """Parse a row of a list of people.

    Raises:
        InvalidValue: the row does not identify a person, or the person opted out.

    """
    refuse_opted_out(row, layout)
    row_time = row.first_time("updated_at") or row.first_time("email_verified_at")
    emails = emails_of(row, layout.emails, row_time)
    domains = (email_domain(email.email) for email in emails)
    city, country = location_of(row, OF_PERSON, _numbers(row, layout), domains)
    source = row.source(row_time)
    company = company_beside(row, source, _work_hosts(emails))
    phones = phones_of(row, layout.phones, partial(_phone_regions, row, country, company, emails), row_time)
    name, is_full_name = name_of(row, layout)
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
        domains.append(company.domain or country_site(row) or "")
    return phone_regions(row.defaults, (country, company.country if company else None), domains)


def _is_named(company: FoundCompany | None) -> bool:
    return company is not None and bool(company.name or company.domain)


def _title(row: RowValues) -> str | None:
    return next((text for text in row.all("title") if text.lower() not in _SALUTATIONS), None)


def _numbers(row: RowValues, layout: ColumnMapping) -> Iterator[str]:
    """Yield the phone numbers of a row as they are written."""
    for column in layout.phones:
        yield from phones_in(row.cells[column.index])


def _work_hosts(emails: tuple[FoundEmail, ...]) -> list[str]:
    """Return the domains of the person's work e-mails."""
    return [email_domain(email.email) for email in emails if email.type == "work"]
