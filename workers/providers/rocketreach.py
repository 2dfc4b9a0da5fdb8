"""RocketReach: e-mail, phone, person, company and its people; unfinished lookups are polled for their status.

https://docs.rocketreach.co/reference (API v2: People Lookup, People Lookup Status, People Search, Company
Lookup, Account) and https://docs.rocketreach.co/reference/faq on credits. A repeated lookup is charged again;
its status is free, and so is a search. `return_cached_emails` is false, so that addresses arrive only after
verification; this has been the vendor's default since September 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from math import inf
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from app.infra import clock
from workers.providers import parsing, people_searches
from workers.providers.base import (
    CredentialCheck,
    Pending,
    PeopleQuery,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    Terms,
    UnexpectedResponse,
)
from workers.providers.web import Vendor, VendorResponse

POLL_SECONDS = 3.0
STATUS_PATH = "/person/checkStatus"
LOOKUP_TYPES = {ProviderField.EMAIL: "standard", ProviderField.PHONE: "phone", ProviderField.PERSON: "enrich"}
"""Each type is paid from its own pool and returns only its own field."""

_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})
_UNFINISHED_STATUSES = frozenset({"progress", "searching", "not queued"})
_PAID_GRADES = frozenset({"A", "A-", None})
"""Lower grades are free; an address without a grade counts as paid."""
_VERIFIED_GRADES = frozenset({"A", "A-"})
"""Grades of a phone confirmed as valid."""
_STATUSES = {
    "valid": EmailStatus.VALID,
    "invalid": EmailStatus.INVALID,
    "accept-all": EmailStatus.ACCEPT_ALL,
}
_EMAIL_KINDS = {"professional": "work", "personal": "personal", "role-based": "work"}
_REASONS = {"role-based": ("role",), "disposable": ("disposable",)}
_LEVELS = {
    "founder": ("Founder/Owner",),
    "owner": ("Founder/Owner",),
    "c_suite": ("C-Level",),
    "vp": ("Vice President",),
    "head": ("Head",),
    "director": ("Director",),
    "manager": ("Manager",),
    "senior": ("Senior",),
    "entry": ("Entry",),
    "intern": ("Intern",),
}
_DEPARTMENTS = {
    "engineering": ("Product & Engineering",),
    "information_technology": ("Product & Engineering",),
    "product": ("Product & Engineering",),
    "sales": ("Sales",),
    "marketing": ("Marketing",),
    "finance": ("Finance",),
    "human_resources": ("HR",),
    "operations": ("Operations",),
    "legal": ("Legal",),
    "education": ("Education",),
    "medical_health": ("Health",),
    "executive": ("C-Suite",),
}
"""Inferred from its website: the lists that its documentation refers to are not public."""
_PHONE_KINDS = {"mobile": "mobile", "direct dial": "direct"}


class RocketReach(Vendor):
    """Lookups by profile, by name and employer, by e-mail or by phone."""

    name = "rocketreach"
    base_url = "https://api.rocketreach.co/api/v2"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {
            ProviderField.EMAIL,
            ProviderField.PHONE,
            ProviderField.PERSON,
            ProviderField.COMPANY,
            ProviderField.PEOPLE,
        }
    )
    default_terms = Terms(
        rates=(Rate(10, 1.0),),
        prices=MappingProxyType({**dict.fromkeys(fields, 1.0), ProviderField.PEOPLE: 0.0}),
        poll_timeout=180.0,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"Api-Key": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether the request identifies a person or company."""
        if request.field is ProviderField.PEOPLE:
            return people_searches.is_searchable(request, seniorities=_LEVELS, departments=_DEPARTMENTS)
        return bool(
            _company_parameters(request)
            if request.field is ProviderField.COMPANY
            else _person_parameters(request)
        )

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Start the lookup, or poll for its status."""
        if request.field is ProviderField.COMPANY:
            params = _company_parameters(request)
            return self._company(self.send("GET", "/company/lookup/", seconds=seconds, params=params))
        if request.field is ProviderField.PEOPLE:
            search = _search(request.people, request.subject)
            response = self.send("POST", "/person/search", seconds=seconds, body=search)
            return _people(request.people, response) if response.is_ok else self._error_response(response)
        if request.poll_token is None:
            params = {
                **_person_parameters(request),
                "lookup_type": LOOKUP_TYPES[request.field],
                "return_cached_emails": "false",
            }
            response = self.send("GET", "/person/lookup", seconds=seconds, params=params)
            return _read(request, response.object) if response.is_ok else self._error_response(response)
        response = self.send("GET", STATUS_PATH, seconds=seconds, params={"ids": request.poll_token})
        return self._status(request, request.poll_token, response)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the balance of each credit pool; the text `inf` means unlimited."""
        response = self.send("GET", "/account/", seconds=seconds)
        if response.status == 403:  # noqa: PLR2004 -- the call costs nothing, so it is the key
            return CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)
        pools = parsing.records(response.body or {}, "credit_usage")
        balances = {parsing.text(pool, "credit_type"): _remaining(pool) for pool in pools}
        return self.checked(
            response,
            {name: remaining for name, remaining in balances.items() if name and remaining is not None},
        )

    def _status(
        self, request: ProviderRequest, poll_token: str, response: VendorResponse
    ) -> ProviderResponse | Pending:
        if response.status in _TEMPORARY_STATUSES:  # these do not abandon a paid lookup
            return self.retry_poll(poll_token, response, POLL_SECONDS)
        if not response.is_ok:
            reply = self._error_response(response)
            return (
                ProviderResponse(outcome=TraceOutcome.ERROR) if reply.outcome is TraceOutcome.MISS else reply
            )
        profiles = parsing.records({"profiles": response.items}, "profiles")
        profile = next((profile for profile in profiles if _id(profile) == poll_token), None)
        if profile is None:
            raise UnexpectedResponse("ids")
        return _read(request, profile)

    def _company(self, response: VendorResponse) -> ProviderResponse:
        if not response.is_ok:
            return self._error_response(response)
        if "name" not in response.object and "id" not in response.object:
            raise UnexpectedResponse("name")
        company = _company(response.object, parsing.source_of(self.name))
        if company is None:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        return ProviderResponse(outcome=TraceOutcome.HIT, company=company, cost=1.0)

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome: 403 is a plan without such credits, unless it mentions a permission."""
        if response.status == 403 and response.body is not None:  # noqa: PLR2004 -- the status
            detail = (parsing.text(response.body, "detail") or "").casefold()
            lacks_permission = "permission" in detail or "api key" in detail
            outcome = TraceOutcome.UNCONFIGURED if lacks_permission else TraceOutcome.NO_CREDITS
            return ProviderResponse(outcome=outcome)
        return self.default_response(response)


def _person_parameters(request: ProviderRequest) -> dict[str, str]:
    """Return the strongest single way to identify the person; empty if there is none."""
    subject = request.subject
    employer = subject.company_name or subject.company_domain
    if subject.linkedin_url:
        return {"linkedin_url": subject.linkedin_url}
    if subject.email:
        return {"email": subject.email}
    if subject.name and employer:
        return {"name": subject.name, "current_employer": employer}
    return {"phone": subject.phone} if subject.phone else {}


def _search(query: PeopleQuery, company: Subject) -> dict[str, Any]:
    """Return the body of a search; an empty facet is left out, and pages start at a position from 1."""
    criteria = query.criteria
    facets = {
        "company_domain": [company.company_domain] if company.company_domain else [],
        "company_name": [company.company_name] if not company.company_domain else [],
        "current_title": list(criteria.titles),
        "management_levels": people_searches.words(criteria.seniorities, _LEVELS),
        "department": people_searches.words(criteria.departments, _DEPARTMENTS),
        "geo": people_searches.country_names(query),
    }
    return {
        "query": {name: values for name, values in facets.items() if values},
        "start": query.offset + 1,
        "page_size": query.limit,
    }


def _people(query: PeopleQuery, response: VendorResponse) -> ProviderResponse:
    """Parse the profiles of a search, which is free: a list, in older versions in an object."""
    if response.items is None and "profiles" not in response.object:
        raise UnexpectedResponse("profiles")
    body = response.body if response.items is None else {"profiles": response.items}
    profiles = parsing.records(body or {}, "profiles")
    source = parsing.source_of(RocketReach.name)
    people = (_contact(profile, source) for profile in profiles)
    return people_searches.response(query, people, has_more=len(profiles) >= query.limit, cost=0)


def _company_parameters(request: ProviderRequest) -> dict[str, str]:
    if request.subject.company_domain:
        return {"domain": request.subject.company_domain}
    return {"name": request.subject.company_name} if request.subject.company_name else {}


def _id(body: Mapping[str, Any]) -> str | None:
    profile_id = body.get("id")
    return str(profile_id) if isinstance(profile_id, int | str) and not isinstance(profile_id, bool) else None


def _read(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse | Pending:
    """Parse a profile; the person is complete at once, addresses and numbers arrive later."""
    status, poll_token = parsing.text(body, "status"), _id(body)
    source = parsing.source_of(RocketReach.name)
    contact = _contact(body, source)
    if request.field is ProviderField.PERSON and contact is not None:
        return ProviderResponse(outcome=TraceOutcome.HIT, contact=contact, cost=1.0)
    if status in _UNFINISHED_STATUSES and poll_token is not None:
        return Pending(poll_token, POLL_SECONDS)
    if status != "complete":
        raise UnexpectedResponse("status")
    emails_in_profile, phones_in_profile = parsing.records(body, "emails"), parsing.records(body, "phones")
    if request.field is ProviderField.EMAIL:
        cost = float(any(parsing.text(entry, "grade") in _PAID_GRADES for entry in emails_in_profile))
        emails = parsing.unique_emails(
            (_email(entry, source) for entry in _best_first(body, emails_in_profile)), request.types
        )
        if emails:
            return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=cost)
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    if request.field is ProviderField.PHONE:
        recommended_first = sorted(phones_in_profile, key=lambda entry: entry.get("recommended") is not True)
        phones = parsing.unique_phones(_phone(entry, source) for entry in recommended_first)
        if phones:
            return ProviderResponse(outcome=TraceOutcome.HIT, phones=phones, contact=contact, cost=1.0)
    return ProviderResponse(outcome=TraceOutcome.MISS)


def _best_first(body: Mapping[str, Any], emails: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("recommended_professional_email", "recommended_personal_email", "recommended_email")
    best = {parsing.text(body, name) for name in names} - {None}
    return sorted(emails, key=lambda entry: parsing.text(entry, "email") not in best)


def _email(body: Mapping[str, Any], source: Source) -> FoundEmail | None:
    label = parsing.text(body, "type") or ""
    status = _STATUSES.get(parsing.text(body, "smtp_valid") or "", EmailStatus.UNKNOWN)
    is_known = status is not EmailStatus.UNKNOWN
    return parsing.found_email(
        parsing.text(body, "email"),
        status,
        source,
        kind=_EMAIL_KINDS.get(label),
        reasons=_REASONS.get(label, ()),
        verified_at=(_checked_at(body, "last_validation_check") if is_known else None),
    )


def _phone(body: Mapping[str, Any], source: Source) -> FoundPhone | None:
    is_sure = parsing.text(body, "grade") in _VERIFIED_GRADES
    phone = parsing.found_phone(
        parsing.text(body, "e164") or parsing.text(body, "number"),
        source,
        kind=_PHONE_KINDS.get(parsing.text(body, "type") or "", "other"),
        status="valid" if is_sure else "unknown",
        extension=parsing.text(body, "extension"),
    )
    if phone is None or not is_sure:
        return phone
    return replace(phone, verified_at=_checked_at(body, "last_checked"))


def _checked_at(body: Mapping[str, Any], name: str) -> datetime:
    now = clock.now()
    return min(parsing.time(body, name) or now, now)


def _contact(body: Mapping[str, Any], source: Source) -> FoundContact | None:
    jobs = parsing.records(body, "job_history")
    job = next((job for job in jobs if job.get("is_current") is True), {})
    company = parsing.found_company(
        source,
        name=parsing.text(body, "current_employer"),
        domain=parsing.text(body, "current_employer_domain")
        or parsing.text(body, "current_employer_website"),
        linkedin_url=parsing.text(body, "current_employer_linkedin_url"),
        industry=parsing.text(body, "current_employer_industry"),
    )
    return parsing.found_contact(
        source,
        full_name=parsing.text(body, "name"),
        title=parsing.text(body, "current_title"),
        level=parsing.text(job, "highest_level"),
        area=parsing.text(job, "department"),
        linkedin_url=parsing.text(body, "linkedin_url"),
        city=parsing.text(body, "city"),
        country=parsing.text(body, "country_code") or parsing.text(body, "country"),
        company=company,
    )


def _company(body: Mapping[str, Any], source: Source) -> FoundCompany | None:
    place = parsing.object_at(body, "address")
    return parsing.found_company(
        source,
        name=parsing.text(body, "name"),
        domain=parsing.text(body, "domain") or parsing.text(body, "website_domain"),
        linkedin_url=parsing.text(parsing.object_at(body, "links"), "linkedin"),
        industry=parsing.text(body, "industry"),
        employees=parsing.figure(body, "num_employees"),
        city=parsing.text(place, "city"),
        country=parsing.text(place, "country_code") or parsing.text(place, "country"),
    )


def _remaining(pool: Mapping[str, Any]) -> float | None:
    return inf if pool.get("remaining") == "inf" else parsing.figure(pool, "remaining")
