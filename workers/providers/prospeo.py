"""Prospeo: work e-mail, mobile, person and company, and the people of a company.

https://prospeo.io/api-docs/enrich-person, /enrich-company, /search-person and /account-information;
filters and pages of a search: https://github.com/prospeo-v2/prospeo-mcp-server.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_kind
from app.domain.normal.places.countries import country_code
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from workers.providers import parsing, people_searches
from workers.providers.base import (
    CredentialCheck,
    PeopleQuery,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    Terms,
    UnexpectedResponse,
)
from workers.providers.people_searches import Part
from workers.providers.web import MAX_RETRY_AFTER_SECONDS, Vendor, VendorResponse

PRICE, PRICE_WITH_MOBILE = 1.0, 10.0
_OUTCOMES = {
    "NO_MATCH": TraceOutcome.MISS,
    "INVALID_DATAPOINTS": TraceOutcome.INELIGIBLE,
    "INVALID_FILTERS": TraceOutcome.INELIGIBLE,
    "INSUFFICIENT_CREDITS": TraceOutcome.NO_CREDITS,
    "RATE_LIMITED": TraceOutcome.RATE_LIMITED,
    "INVALID_API_KEY": TraceOutcome.UNCONFIGURED,
    "ACCOUNT_RESTRICTED": TraceOutcome.UNCONFIGURED,
}
"""By `error_code`; every other code is an error."""
PEOPLE_PER_PAGE = 25
_SENIORITIES = {
    "founder": ("Owner",),
    "owner": ("Owner",),
    "c_suite": ("C-Suite",),
    "partner": ("Partner",),
    "vp": ("VP",),
    "head": ("Head",),
    "director": ("Director",),
    "manager": ("Manager",),
    "senior": ("Senior",),
    "entry": ("Entry", "Junior"),
    "intern": ("Intern",),
}
_DEPARTMENTS = {
    "engineering": ("Engineering",),
    "sales": ("Sales",),
    "marketing": ("Marketing",),
    "finance": ("Finance",),
}
"""The words that its documentation names; its list has more, and it refuses words that are not on it."""
_STATUSES = {"VERIFIED": EmailStatus.VALID, "UNVERIFIED": EmailStatus.RISKY}
_WINDOWS = ("daily", "minute")


class Prospeo(Vendor):
    """People with their work e-mail and mobile, and companies.

    A record costs one credit, with a mobile ten; a miss is free, as is a record bought before
    (`free_enrichment`). The rates are the limits of the smallest plan with an API
    (https://help.prospeo.io/en/article/api-rate-limits-19vqf50); daily limits are handled by its 429.
    """

    name: ClassVar[str] = "prospeo"
    base_url: ClassVar[str] = "https://api.prospeo.io"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {
            ProviderField.EMAIL,
            ProviderField.PHONE,
            ProviderField.PERSON,
            ProviderField.COMPANY,
            ProviderField.PEOPLE,
        }
    )
    default_terms: ClassVar[Terms] = Terms(
        rates=(Rate(5, 1), Rate(300, 60)),
        prices=MappingProxyType(
            {
                ProviderField.EMAIL: PRICE,
                ProviderField.PHONE: PRICE_WITH_MOBILE,
                ProviderField.PERSON: PRICE,
                ProviderField.COMPANY: PRICE,
                ProviderField.PEOPLE: PRICE / PEOPLE_PER_PAGE,
            }
        ),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"X-KEY": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether it sells the type and there is a profile, a work e-mail, or a name and a company."""
        subject = request.subject
        company = subject.company_domain or subject.company_name
        match request.field:
            case ProviderField.COMPANY:
                return bool(company)
            case ProviderField.EMAIL | ProviderField.PHONE | ProviderField.PERSON:
                is_identified = subject.linkedin_url or _work_email(subject) or (subject.name and company)
                return _sells(request) and bool(is_identified)
            case ProviderField.PEOPLE:
                return people_searches.is_searchable(
                    request, seniorities=_SENIORITIES, departments=_DEPARTMENTS
                )
            case _:
                return False

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Request one field; a mobile, at ten times the price, only for a phone request."""
        if request.field is ProviderField.PEOPLE:
            return self._search(request, seconds)
        if request.field is ProviderField.COMPANY:
            response = self.send(
                "POST", "/enrich-company", body={"data": _employer(request.subject)}, seconds=seconds
            )
        else:
            response = self.send("POST", "/enrich-person", body=_body(request), seconds=seconds)
        if _is_refusal(response):
            return self._error_response(response)
        return _READERS[request.field](request, response.object)

    def _search(self, request: ProviderRequest, seconds: float) -> ProviderResponse:
        """Read the pages of the search, of 25 people each, that have the people of the query."""
        query, deadline = request.people, time.monotonic() + seconds
        first, skipped = divmod(query.offset, PEOPLE_PER_PAGE)
        last = (query.offset + query.limit - 1) // PEOPLE_PER_PAGE
        pages = range(first + 1, last + 2)
        requests = (partial(self._page, request, page, deadline) for page in pages)
        return people_searches.in_parts(query, requests, skipped=skipped)

    def _page(self, request: ProviderRequest, page: int, deadline: float) -> Part | ProviderResponse:
        """Read a page, which costs a credit if it has results."""
        body = {"page": page, "filters": _filters(request.people, request.subject)}
        response = self.send("POST", "/search-person", body=body, seconds=deadline - time.monotonic())
        if _is_refusal(response):
            return self._error_response(response)
        if "results" not in response.object:
            raise UnexpectedResponse("results")
        results = parsing.records(response.object, "results")
        return Part(
            people=list(map(_contact, results)),
            cost=_cost(response.object, PRICE) if results else 0.0,
            total=parsing.figure(parsing.object_at(response.object, "pagination"), "total_count") or 0.0,
            is_last=len(results) < PEOPLE_PER_PAGE,
        )

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the account, which is free."""
        response = self.send("GET", "/account-information", seconds=seconds)
        if _is_refusal(response):
            return self.refused_check(self._error_response(response))
        remaining = parsing.figure(parsing.object_at(response.object, "response"), "remaining_credits")
        return self.checked(response, {} if remaining is None else {"credits": remaining})

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome: nearly all are a 400 and differ only by their code."""
        reply = self.default_response(response)
        code = parsing.text(response.body or {}, "error_code")
        outcome = _OUTCOMES.get(code, TraceOutcome.ERROR) if code else reply.outcome
        wait = _until_reset(response) if outcome is TraceOutcome.RATE_LIMITED else None
        return ProviderResponse(
            outcome=outcome, retry_after=wait if reply.retry_after is None else reply.retry_after
        )


def _sells(request: ProviderRequest) -> bool:
    """Return whether it has a requested type: work addresses and mobiles."""
    types = {ProviderField.EMAIL: "work", ProviderField.PHONE: "mobile"}
    return request.field not in types or request.wants(types[request.field])


def _body(request: ProviderRequest) -> dict[str, Any]:
    """Return a request that matches, and charges for, only a record with the field."""
    return {
        "only_verified_email": request.field is ProviderField.EMAIL,
        "enrich_mobile": request.field is ProviderField.PHONE,
        "only_verified_mobile": request.field is ProviderField.PHONE,
        "data": _datapoints(request.subject),
    }


def _datapoints(subject: Subject) -> dict[str, str]:
    """Return all known identifiers, as its documentation recommends."""
    known = {"linkedin_url": subject.linkedin_url, "email": _work_email(subject)}
    if subject.first_name and subject.last_name:
        known |= {"first_name": subject.first_name, "last_name": subject.last_name}
    else:
        known["full_name"] = subject.name
    return {name: value for name, value in known.items() if value} | _employer(subject)


def _employer(subject: Subject) -> dict[str, str]:
    known = {"company_website": subject.company_domain, "company_name": subject.company_name}
    return {name: value for name, value in known.items() if value}


def _filters(query: PeopleQuery, company: Subject) -> dict[str, Any]:
    """Return the filters of a search; an empty one is left out."""
    criteria = query.criteria
    lists = {
        "person_job_title": list(criteria.titles),
        "person_seniority": people_searches.words(criteria.seniorities, _SENIORITIES),
        "person_department": people_searches.words(criteria.departments, _DEPARTMENTS),
        "person_location_search": people_searches.country_names(query),
    }
    employer = {"websites": {"include": [company.company_domain]}}
    if not company.company_domain:
        employer = {"names": {"include": [company.company_name]}}
    return {"company": employer, **{name: {"include": values} for name, values in lists.items() if values}}


def _work_email(subject: Subject) -> str | None:
    return subject.email if subject.email and email_kind(subject.email) == "work" else None


def _is_refusal(response: VendorResponse) -> bool:
    return not response.is_ok or (response.body or {}).get("error") is True


def _until_reset(response: VendorResponse) -> float | None:
    """Return the seconds until the exhausted window resets, by the headers; by default, one second's."""
    used_up = (window for window in _WINDOWS if response.headers.get(f"x-{window}-request-left") == "0")
    window = next(used_up, "second")
    seconds = parsing.figure(response.headers, f"x-{window}-reset-seconds")
    return None if seconds is None else min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)


def _email(_request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    person = parsing.required(body, "person")
    emails = parsing.unique_emails([_address(parsing.object_at(person, "email"))], ("work",))
    cost = _cost(body, PRICE)
    if not emails:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=_contact(body), cost=cost)


def _phone(_request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    mobile = parsing.object_at(parsing.required(body, "person"), "mobile")
    phones = parsing.unique_phones([_mobile(mobile)])
    cost = _cost(body, PRICE_WITH_MOBILE if mobile.get("revealed") is True or phones else PRICE)
    if not phones:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, phones=phones, contact=_contact(body), cost=cost)


def _person(_request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    parsing.required(body, "person")
    contact = _contact(body)
    outcome = TraceOutcome.HIT if contact else TraceOutcome.MISS
    return ProviderResponse(outcome=outcome, contact=contact, cost=_cost(body, PRICE))


def _company(_request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    company = _firm(parsing.required(body, "company"), parsing.source_of(Prospeo.name))
    outcome = TraceOutcome.HIT if company else TraceOutcome.MISS
    return ProviderResponse(outcome=outcome, company=company, cost=_cost(body, PRICE))


def _cost(body: Mapping[str, Any], price: float) -> float:
    return 0.0 if body.get("free_enrichment") is True else price


def _address(email: Mapping[str, Any]) -> FoundEmail | None:
    """Parse the address; return None if it is not revealed, because it is masked."""
    if email.get("revealed") is False:
        return None
    source = parsing.source_of(Prospeo.name)
    status = _STATUSES.get(parsing.text(email, "status") or "", EmailStatus.UNKNOWN)
    verified_at = source.at if status is EmailStatus.VALID else None
    return parsing.found_email(parsing.text(email, "email"), status, source, verified_at=verified_at)


def _mobile(mobile: Mapping[str, Any]) -> FoundPhone | None:
    """Parse the number; return None if it is not revealed, because it is masked."""
    if mobile.get("revealed") is False:
        return None
    source = parsing.source_of(Prospeo.name)
    number = parsing.text(mobile, "mobile") or parsing.text(mobile, "mobile_international")
    country = parsing.text(mobile, "mobile_country_code") or parsing.text(mobile, "mobile_country")
    is_verified = parsing.text(mobile, "status") == "VERIFIED"
    phone = parsing.found_phone(
        number,
        source,
        kind="mobile",
        country=parsing.normal(country_code, country),
        status="valid" if is_verified else "unknown",
    )
    return replace(phone, verified_at=source.at) if phone and is_verified else phone


def _contact(body: Mapping[str, Any]) -> FoundContact | None:
    source = parsing.source_of(Prospeo.name)
    person = parsing.required(body, "person")
    location = parsing.object_at(person, "location")
    jobs = parsing.records(person, "job_history")
    job = next((job for job in jobs if job.get("current") is True), {})
    return parsing.found_contact(
        source,
        full_name=parsing.text(person, "full_name"),
        first_name=parsing.text(person, "first_name"),
        last_name=parsing.text(person, "last_name"),
        title=parsing.text(person, "current_job_title"),
        level=parsing.text(job, "seniority"),
        area=next(iter(parsing.texts(job, "departments")), None),
        linkedin_url=parsing.text(person, "linkedin_url"),
        city=parsing.text(location, "city"),
        country=parsing.text(location, "country_code") or parsing.text(location, "country"),
        company=_firm(parsing.object_at(body, "company"), source),
    )


def _firm(company: Mapping[str, Any], source: Source) -> FoundCompany | None:
    location = parsing.object_at(company, "location")
    return parsing.found_company(
        source,
        name=parsing.text(company, "name"),
        domain=parsing.text(company, "domain") or parsing.text(company, "website"),
        linkedin_url=parsing.text(company, "linkedin_url"),
        industry=parsing.text(company, "industry"),
        employees=parsing.figure(company, "employee_count") or parsing.text(company, "employee_range"),
        city=parsing.text(location, "city"),
        country=parsing.text(location, "country_code") or parsing.text(location, "country"),
    )


_READERS = {
    ProviderField.EMAIL: _email,
    ProviderField.PHONE: _phone,
    ProviderField.PERSON: _person,
    ProviderField.COMPANY: _company,
}
