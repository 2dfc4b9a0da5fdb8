"""Parsing of companies from rows of company lists and of people lists."""

from __future__ import annotations

from functools import lru_cache

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.findings import FoundCompany, Source
from app.domain.lists.country_cells import list_country
from app.domain.lists.row_values import RowValues, country_of_state
from app.domain.normal.countries import parse_location
from app.domain.normal.emails import email_kind
from app.domain.normal.profiles import normal_company_url
from app.domain.normal.vocabularies import headcount
from app.domain.normal.websites import normal_website

NO_COMPANY_ERROR = "The row does not identify a company. It needs a domain, a LinkedIn page or a name."

_SOCIAL = frozenset(
    [
        "linkedin.com",
        "facebook.com",
        "twitter.com",
        "x.com",
        "instagram.com",
        "youtube.com",
        "xing.com",
        "tiktok.com",
        "pinterest.com",
        "google.com/maps",
        "github.com",
        "medium.com",
        "crunchbase.com",
        "angel.co",
        "wellfound.com",
        "t.me",
        "wa.me",
        "bit.ly",
        "lnkd.in",
    ]
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


def company_beside(row: RowValues, source: Source, mail_domain: str | None = None) -> FoundCompany | None:
    """Parse the company of a row; None if there is none. `mail_domain` is used if the row has no domain."""
    name = row.text("company_name")
    linkedin_url = row.normal("company_linkedin_url", normal_company_url) or _linkedin_elsewhere(row)
    domain = row.normal("company_domain", _domain) or mail_domain
    if not (name or domain or linkedin_url):
        return None
    city, country = _location(row)
    industry, employees = row.text("company_industry"), row.normal("company_headcount", headcount)
    return _company(source, name, domain, linkedin_url, industry, employees, city, country)


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


@lru_cache(maxsize=8192)
def _domain(text: str) -> str:
    """Parse a company's domain; the domain of a social network or mail provider is invalid."""
    domain = normal_website(text.rpartition("@")[2] if "/" not in text else text)
    if domain in _SOCIAL or email_kind(f"a@{domain}") == "personal":
        raise InvalidValue("This is the domain of a social network or mail provider, not of a company.")
    return domain


def _linkedin_elsewhere(row: RowValues) -> str | None:
    """Return the company's LinkedIn page from columns that may contain any link."""
    for field in ("company_domain", "url"):
        for text in row.all(field):
            if "linkedin." in text.lower():
                try:
                    return normal_company_url(text)
                except NotAProfileUrl:
                    continue
    return None


def _location(row: RowValues) -> tuple[str | None, str | None]:
    city, country = row.text("company_city"), row.normal("company_country", list_country)
    if city is None and country is None and (text := row.text("company_location")):
        city, country = parse_location(text)
    return city, country or country_of_state(row, "company_state")
