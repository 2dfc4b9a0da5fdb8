"""Parsing of companies from rows of company lists and of people lists."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.findings import FoundCompany, Source
from app.domain.lists.cells.domain_cells import domain_of
from app.domain.lists.cells.location_cells import OF_COMPANY, location_of
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import NO_EMPLOYER, SHARED_HOST
from app.domain.messages import Message
from app.domain.normal.companies.company_domains import is_named_after, mail_company_domain
from app.domain.normal.companies.employers import employer_name, given_employer, is_website
from app.domain.normal.profiles.profiles import normal_company_url
from app.domain.normal.texts.vocabularies import headcount

NO_COMPANY_ERROR = Message(
    "The row does not identify a company. It needs a domain, a LinkedIn page or a name."
)


def company_of(row: RowValues) -> FoundCompany:
    """Parse a row of a list of companies.

    Raises:
        InvalidValue: the row does not name a company.

    """
    found = company_beside(row, row.source(row.first_time("updated_at")))
    if found is None:
        raise InvalidValue(NO_COMPANY_ERROR)
    return found


def company_beside(row: RowValues, source: Source, mail_hosts: Iterable[str] = ()) -> FoundCompany | None:
    """Parse the company of a row; None if there is none.

    `mail_hosts` are the domains of the person's work e-mails, used if the row has no domain.
    """
    column, text = next(iter(row.filled("company_name")), (None, None))
    site, text = (text, None) if text and is_website(text) else (None, text)
    linkedin_url = row.normal("company_linkedin_url", normal_company_url) or _linkedin_elsewhere(row)
    domain = domain_of(row, text, linkedin_url) or given_employer(site, None).domain
    if site and not (domain or linkedin_url):
        row.warn("company_name", SHARED_HOST, column)
    domain = domain or _mail_domain(mail_hosts, text)
    name = employer_name(text, domain)
    if name != text:
        row.warn("company_name", NO_EMPLOYER, column)
    if not (name or domain or linkedin_url):
        return None
    city, country = location_of(row, OF_COMPANY, (), (domain,) if domain else ())
    industry, employees = row.text("company_industry"), row.normal("company_headcount", headcount)
    return _company(source, name, domain, linkedin_url, industry, employees, city, country)


def _mail_domain(hosts: Iterable[str], name: str | None) -> str | None:
    """Return the mail domain that the company's name shows, else the first that identifies a company."""
    domains = list(filter(None, (mail_company_domain(host, name) for host in hosts)))
    named = [domain for domain in domains if is_named_after(domain, name)] if name and domains[1:] else []
    return next(iter([*named, *domains]), None)


@lru_cache(maxsize=1024)
def _company(  # noqa: PLR0917 -- the key of the cache
    source: Source,
    name: str | None,
    domain: str | None,
    linkedin_url: str | None,
    industry: str | None,
    employees: str | None,
    city: str | None,
    country: str | None,
) -> FoundCompany:
    """Return the company; equal ones are one object, so that callers can compare them by identity."""
    return FoundCompany(
        source=source,
        name=name,
        domain=domain,
        linkedin_url=linkedin_url,
        industry=industry,
        headcount=employees,
        city=city,
        country=country,
    )


def _linkedin_elsewhere(row: RowValues) -> str | None:
    """Return the company's LinkedIn page from columns that may contain any link."""
    for field in ("company_domain", "url", "company_name"):
        for text in row.all(field):
            if "linkedin." in text.lower():
                try:
                    return normal_company_url(text)
                except NotAProfileUrl:
                    continue
    return None
