"""Hunter (API v2): e-mails, their verification, people and companies.

https://hunter.io/api-documentation/v2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.normal.places.places import parse_location
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

PROFILES = "https://www.linkedin.com/in/"
COMPANIES = "https://www.linkedin.com/company/"
SHORTEST_DURATION, LONGEST_DURATION = 3, 20
MAX_RETRY_AFTER_SECONDS = 30.0
_STATUSES = {
    "valid": EmailStatus.VALID,
    "accept_all": EmailStatus.ACCEPT_ALL,
    "invalid": EmailStatus.INVALID,
    "webmail": EmailStatus.RISKY,
    "disposable": EmailStatus.RISKY,
}
_VERIFIED = frozenset({"valid", "accept_all", "invalid"})
"""Statuses for which the mailbox was checked; a verification is charged only for these."""
_TOO_FAST = ("per second", "per minute", "slow down", "rate limit")
_BLOCKED = ("restricted", "blocked", "suspended")
_IN_PROGRESS, _RETRY_LATER = 202, 222
_BAD_REQUEST, _FORBIDDEN, _TOO_MANY = 400, 403, 429
_OUTCOME_BY_ERROR_ID = {
    "invalid_domain": TraceOutcome.MISS,  # the domain has no mail server, or its owner opted out
    "invalid_email": TraceOutcome.MISS,
    "invalid_first_name": TraceOutcome.INELIGIBLE,
    "invalid_last_name": TraceOutcome.INELIGIBLE,
    "invalid_full_name": TraceOutcome.INELIGIBLE,
}


_EXECUTIVE, _SENIOR, _JUNIOR = ("executive",), ("senior",), ("junior",)
_SENIORITIES = {
    **dict.fromkeys(("founder", "owner", "c_suite", "partner", "vp", "head", "director"), _EXECUTIVE),
    **dict.fromkeys(("manager", "senior"), _SENIOR),
    **dict.fromkeys(("entry", "intern"), _JUNIOR),
}
_DEPARTMENTS = {
    "engineering": ("it",),
    "information_technology": ("it",),
    "data": ("it",),
    "sales": ("sales",),
    "marketing": ("marketing", "communication"),
    "finance": ("finance",),
    "human_resources": ("hr",),
    "operations": ("operations",),
    "legal": ("legal",),
    "support": ("support",),
    "design": ("design",),
    "executive": ("executive", "management"),
    "education": ("education",),
    "medical_health": ("health",),
}
ADDRESSES_PER_CREDIT = 10


class Hunter(Vendor):
    """E-mails by name and company, verification, people and companies, and the people of a domain.

    Prices are for the more expensive of its two kinds of plans, where enrichments and verifications
    cost a credit each (https://help.hunter.io/en/articles/1911617). A miss is free.
    """

    name: ClassVar[str] = "hunter"
    base_url: ClassVar[str] = "https://api.hunter.io/v2"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {
            ProviderField.EMAIL,
            ProviderField.PERSON,
            ProviderField.COMPANY,
            ProviderField.PEOPLE,
            ProviderField.VERIFICATION,
        }
    )
    default_terms: ClassVar[Terms] = Terms(
        rates=(Rate(10, 1), Rate(300, 60)),  # the verifier's; all others allow 1.5 times as many
        prices=MappingProxyType({**dict.fromkeys(fields, 1), ProviderField.PEOPLE: 1 / ADDRESSES_PER_CREDIT}),
        poll_timeout=120,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key; the API would also accept it as a query parameter."""
        return {"X-API-KEY": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether there is a name and company, a profile, an address or a domain, by field."""
        subject = request.subject
        match request.field:
            case ProviderField.EMAIL:
                company = subject.company_domain or subject.company_name
                is_identified = subject.linkedin_url or (subject.name and company)
                return request.wants("work") and bool(is_identified)
            case ProviderField.PERSON:
                return bool(subject.linkedin_url or subject.email)
            case ProviderField.COMPANY:
                return bool(subject.company_domain)
            case ProviderField.VERIFICATION:
                return bool(subject.email)
            case ProviderField.PEOPLE:
                return people_searches.is_searchable(
                    request, seniorities=_SENIORITIES, departments=_DEPARTMENTS
                )
            case _:
                return False

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Request one field; an unfinished verification is polled with the same request."""
        if request.field is ProviderField.PEOPLE:
            response = self._search(request.people, request.subject, seconds)
        else:
            response = self.send(
                "GET", _PATHS[request.field], params=_parameters(request, seconds), seconds=seconds
            )
        if response.status == _IN_PROGRESS:
            return _pending(request.poll_token)
        if not response.is_ok or response.status == _RETRY_LATER:
            return self._error_response(response)
        return _READERS[request.field](request, _data(response))

    def _search(self, query: PeopleQuery, company: Subject, seconds: float) -> VendorResponse:
        """Search the people of a domain, which is a POST if they are to be in certain countries."""
        parameters = _search_parameters(query, company)
        if not query.criteria.countries:
            return self.send("GET", "/domain-search", params=parameters, seconds=seconds)
        places = {"include": [{"country": code} for code in query.criteria.countries]}
        body = parameters | {"location": places}
        return self.send("POST", "/domain-search", body=body, seconds=seconds)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the account, which is free."""
        response = self.send("GET", "/account", seconds=seconds)
        if not response.is_ok:
            outcome = self._error_response(response).outcome
            return CredentialCheck(outcome=TraceOutcome.ERROR if outcome is TraceOutcome.MISS else outcome)
        pools = parsing.object_at(_data(response), "requests")
        return self.checked(
            response,
            {pool: remaining for pool in pools if (remaining := _remaining(pools, pool)) is not None},
        )

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome: Hunter uses 403 for its rate limit and 429 for exhausted credits."""
        code, details = _error(response)
        reply = self.default_response(response)
        outcome = reply.outcome
        if response.body is None:
            return reply
        if code == "claimed_email":
            outcome = TraceOutcome.SUPPRESSED
        elif response.status == _BAD_REQUEST:
            outcome = _OUTCOME_BY_ERROR_ID.get(code, TraceOutcome.ERROR)
        elif response.status == _TOO_MANY:
            is_rate_limit = response.retry_after is not None or any(phrase in details for phrase in _TOO_FAST)
            outcome = TraceOutcome.RATE_LIMITED if is_rate_limit else TraceOutcome.NO_CREDITS
        elif response.status == _FORBIDDEN:
            is_blocked = any(phrase in details for phrase in _BLOCKED)
            outcome = TraceOutcome.UNCONFIGURED if is_blocked else TraceOutcome.RATE_LIMITED
        return ProviderResponse(outcome=outcome, retry_after=reply.retry_after)


def _parameters(request: ProviderRequest, seconds: float) -> dict[str, Any]:
    subject = request.subject
    handle = subject.linkedin_url.removeprefix(PROFILES) if subject.linkedin_url else None
    match request.field:
        case ProviderField.COMPANY:
            return {"domain": subject.company_domain}
        case ProviderField.PERSON:
            return {"linkedin_handle": handle} if handle else {"email": subject.email}
        case ProviderField.VERIFICATION:
            return {"email": subject.email}
        case _:
            return _finder(subject, handle) | {"max_duration": _duration(seconds)}


def _finder(subject: Subject, handle: str | None) -> dict[str, Any]:
    """Return the strongest identifiers: name and domain, else the profile, else name and company."""
    if handle and not (subject.name and subject.company_domain):
        return {"linkedin_handle": handle}
    if subject.company_domain:
        company = {"domain": subject.company_domain}
    else:
        company = {"company": str(subject.company_name)}
    if subject.first_name and subject.last_name:
        return {"first_name": subject.first_name, "last_name": subject.last_name, **company}
    return {"full_name": subject.name, **company}


def _duration(seconds: float) -> int:
    """Return the seconds that Hunter may take, so that it responds before the call times out."""
    return min(max(int(seconds) - 1, SHORTEST_DURATION), LONGEST_DURATION)


def _pending(poll_token: str | None) -> Pending:
    """Return a wait of 2, 4, 8 … seconds, at most 30; the poll token counts the polls."""
    polls = int(poll_token) if poll_token and poll_token.isdecimal() else 0
    return Pending(str(polls + 1), min(2.0 ** min(polls + 1, 10), MAX_RETRY_AFTER_SECONDS))


def _data(response: VendorResponse) -> dict[str, Any]:
    """Return the `data` of the response; empty if it is null."""
    if "data" not in response.object:
        raise UnexpectedResponse("data")
    return parsing.object_at(response.object, "data")


def _error(response: VendorResponse) -> tuple[str, str]:
    """Return the first error's id and details in lower case; a list and an object are documented."""
    errors = (response.body or {}).get("errors")
    first = errors[0] if isinstance(errors, list) and errors else errors
    if not isinstance(first, dict):
        return "", ""
    return (parsing.text(first, "id") or "").lower(), (parsing.text(first, "details") or "").lower()


def _email(request: ProviderRequest, data: Mapping[str, Any]) -> ProviderResponse:
    email = _address(parsing.text(data, "email"), data, parsing.figure(data, "score"))
    emails = parsing.unique_emails([email], ("work",))
    cost = 1 if email else 0
    if not emails:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    source = parsing.source_of(Hunter.name)
    contact = parsing.found_contact(
        source,
        first_name=parsing.text(data, "first_name"),
        last_name=parsing.text(data, "last_name"),
        title=parsing.text(data, "position"),
        linkedin_url=parsing.text(data, "linkedin_url"),
        company=parsing.found_company(
            source, name=parsing.text(data, "company"), domain=parsing.text(data, "domain")
        ),
    )
    if not parsing.records(data, "sources"):  # without a source they echo the request
        contact = parsing.without_echo(contact, request)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=cost)


def _address(address: str | None, entry: Mapping[str, Any], score: float | None) -> FoundEmail | None:
    """Build an address with the verification that Hunter sends along if it is at most a month old."""
    verification = parsing.object_at(entry, "verification")
    status = (parsing.text(verification, "status") or "").lower()
    now = clock.now()
    verified_at = min(parsing.time(verification, "date") or now, now)
    return parsing.found_email(
        address,
        _STATUSES.get(status, EmailStatus.UNKNOWN),
        parsing.source_of(Hunter.name),
        reasons=[status] if status in {"webmail", "disposable"} else [],
        confidence=_confidence(score),
        verified_at=verified_at if status in _VERIFIED else None,
    )


def _verification(request: ProviderRequest, data: Mapping[str, Any]) -> ProviderResponse:
    """Parse a verdict; an undecided one is a miss, so that another provider is called."""
    status = (parsing.text(data, "status") or "").lower()
    if not status:
        raise UnexpectedResponse("status")
    source = parsing.source_of(Hunter.name)
    flags = {"disposable": data.get("disposable"), "webmail": data.get("webmail")}
    reasons = [reason for reason, applies in flags.items() if applies is True or reason == status]
    if data.get("mx_records") is False:
        reasons.append("no_mx")
    verdict = parsing.found_email(
        request.subject.email,
        _STATUSES.get(status, EmailStatus.UNKNOWN),
        source,
        reasons=reasons,
        confidence=_confidence(parsing.figure(data, "score")),
        verified_at=source.at if status in _VERIFIED else None,
    )
    if verdict is None or verdict.status is EmailStatus.UNKNOWN:
        return ProviderResponse(outcome=TraceOutcome.MISS)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(verdict,), cost=1 if status in _VERIFIED else 0)


def _person(_request: ProviderRequest, data: Mapping[str, Any]) -> ProviderResponse:
    source = parsing.source_of(Hunter.name)
    name, job = parsing.object_at(data, "name"), parsing.object_at(data, "employment")
    handle = parsing.text(parsing.object_at(data, "linkedin"), "handle")
    city, country = _location(data)
    contact = parsing.found_contact(
        source,
        full_name=parsing.text(name, "fullName"),
        first_name=parsing.text(name, "givenName"),
        last_name=parsing.text(name, "familyName"),
        title=parsing.text(job, "title"),
        level=parsing.text(job, "seniority"),
        area=parsing.text(job, "role"),
        linkedin_url=PROFILES + handle if handle else None,
        city=city,
        country=country,
        company=parsing.found_company(
            source, name=parsing.text(job, "name"), domain=parsing.text(job, "domain")
        ),
    )
    if contact is None:
        return ProviderResponse(outcome=TraceOutcome.MISS)
    return ProviderResponse(outcome=TraceOutcome.HIT, contact=contact, cost=1)


def _company(_request: ProviderRequest, data: Mapping[str, Any]) -> ProviderResponse:
    metrics = parsing.object_at(data, "metrics")
    handle = parsing.text(parsing.object_at(data, "linkedin"), "handle")
    city, country = _location(data)
    company = parsing.found_company(
        parsing.source_of(Hunter.name),
        name=parsing.text(data, "name"),
        domain=parsing.text(data, "domain"),
        linkedin_url=COMPANIES + handle.removeprefix("company/") if handle else None,
        industry=parsing.text(parsing.object_at(data, "category"), "industry"),
        employees=parsing.text(metrics, "employeesRange") or _employees(metrics),
        city=city,
        country=country,
    )
    if company is None:
        return ProviderResponse(outcome=TraceOutcome.MISS)
    return ProviderResponse(outcome=TraceOutcome.HIT, company=company, cost=1)


def _employees(metrics: Mapping[str, Any]) -> str | float | None:
    """Return the employees: a range such as 11-50 in Hunter's own format, a number in Clearbit's."""
    return parsing.text(metrics, "employees") or parsing.figure(metrics, "employees")


def _search_parameters(query: PeopleQuery, company: Subject) -> dict[str, Any]:
    """Return the parameters of a domain search; an empty list is left out.

    Titles are separated by commas, so that one with a comma counts as two, of which any is enough.
    """
    criteria = query.criteria
    lists = {
        "job_titles": ",".join(criteria.titles),
        "seniority": ",".join(people_searches.words(criteria.seniorities, _SENIORITIES)),
        "department": ",".join(people_searches.words(criteria.departments, _DEPARTMENTS)),
    }
    return {
        "domain": company.company_domain,
        "company": None if company.company_domain else company.company_name,
        "type": "personal",
        "limit": query.limit,
        "offset": query.offset or None,
        **{name: value for name, value in lists.items() if value},
    }


def _people(request: ProviderRequest, data: Mapping[str, Any]) -> ProviderResponse:
    """Parse the people of a domain with their addresses; every ten addresses cost one credit."""
    company = parsing.found_company(
        parsing.source_of(Hunter.name),
        name=parsing.text(data, "organization"),
        domain=parsing.text(data, "domain") or request.subject.company_domain,
        country=parsing.text(data, "country"),
    )
    entries = parsing.records(data, "emails")
    people = [_listed_person(entry, company) for entry in entries]
    cost = -(-len(entries) // ADDRESSES_PER_CREDIT)
    has_more = len(entries) >= request.people.limit
    return people_searches.response(request.people, people, has_more=has_more, cost=cost)


def _listed_person(entry: Mapping[str, Any], company: FoundCompany | None) -> FoundContact | None:
    """Parse one address of a domain search; return None if it names no person."""
    email = _address(parsing.text(entry, "value"), entry, parsing.figure(entry, "confidence"))
    contact = parsing.found_contact(
        parsing.source_of(Hunter.name),
        first_name=parsing.text(entry, "first_name"),
        last_name=parsing.text(entry, "last_name"),
        title=parsing.text(entry, "position"),
        level=parsing.text(entry, "seniority"),
        area=parsing.text(entry, "department"),
        linkedin_url=parsing.text(entry, "linkedin"),
        company=company,
    )
    is_person = parsing.text(entry, "type") != "generic"
    return replace(contact, emails=(email,)) if contact and email and is_person else None


def _location(data: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the city and the country from `geo`, or else from the text of `location`."""
    geo = parsing.object_at(data, "geo")
    city, country = (
        parsing.text(geo, "city"),
        parsing.text(geo, "countryCode") or parsing.text(geo, "country"),
    )
    if city or country:
        return city, country
    return parse_location(parsing.text(data, "location") or "")


def _confidence(percent: float | None) -> float | None:
    return None if percent is None else min(max(percent / 100, 0.0), 1.0)


def _remaining(pools: Mapping[str, Any], pool: str) -> float | None:
    """Return the remaining balance of a pool; `available` is the plan's total, including the used ones."""
    balance = pools.get(pool)
    if not isinstance(balance, dict):
        return None
    available, used = parsing.figure(balance, "available"), parsing.figure(balance, "used")
    return None if available is None else max(available - (used or 0), 0.0)


_PATHS = {
    ProviderField.EMAIL: "/email-finder",
    ProviderField.PERSON: "/people/find",
    ProviderField.COMPANY: "/companies/find",
    ProviderField.VERIFICATION: "/email-verifier",
}
_READERS = {
    ProviderField.EMAIL: _email,
    ProviderField.PERSON: _person,
    ProviderField.COMPANY: _company,
    ProviderField.PEOPLE: _people,
    ProviderField.VERIFICATION: _verification,
}
