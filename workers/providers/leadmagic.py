"""LeadMagic (API v1): work e-mails, mobiles, employees of a company, and verification.

Documented (https://leadmagic.io/docs, https://github.com/LeadMagic/leadmagic-openapi 1.4.35): paths,
parameters, responses, prices, the format of errors and the five statuses. Inferred: a mobile of digits only
(`12077523358` in its example) begins with the country code, a rejected value (400) is not a failure of the
service, and a plan without the endpoint (403) is a matter of configuration.

Employees (`/v1/people/employee-finder`) follow the reference of that repository (llms-full.txt, April 2026):
the company by domain, a limit, the list as `employees` or `data`, 0.05 credits each. The fields of a row and
the limit of 50 are those of the OpenAPI document there. It documents neither filters nor further pages for a
domain, so only searches for everybody are taken, and one page. The newer `/v3/people/search` has filters, but
nothing that could be read says what its rows contain: it is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundContact, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_kind
from app.domain.providers.rates import Rate
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
from workers.providers.web import MAX_RETRY_AFTER_SECONDS, Vendor, VendorResponse

EMAIL_PRICE, MOBILE_PRICE, VERIFICATION_PRICE = 1.0, 5.0, 0.25
EMPLOYEE_PRICE = 0.05
MAX_EMPLOYEES = 50
_STATUSES = {
    "valid": EmailStatus.VALID,
    "valid_catch_all": EmailStatus.ACCEPT_ALL,  # seen in use, but the server accepts any address
    "catch_all": EmailStatus.ACCEPT_ALL,
    "invalid": EmailStatus.INVALID,
}
"""Every other value (`unknown`, null) is an unknown status, not verified."""
_UNPAID = frozenset({"catch_all", "unknown"})
"""Statuses that cost nothing."""
_NOT_TAKEN = "validation_error"
_BAD_REQUEST, _FORBIDDEN = 400, 403
_MIN_INTERNATIONAL_DIGITS = 11
_NOT_A_DIGIT = re.compile(r"\D")


class LeadMagic(Vendor):
    """Work e-mails by name and company, mobiles by profile or address, verification.

    A miss is free, and every response states its cost. 600 a minute is the documented limit, 50 a second the
    burst limit.
    """

    name: ClassVar[str] = "leadmagic"
    base_url: ClassVar[str] = "https://api.leadmagic.io"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.EMAIL, ProviderField.PHONE, ProviderField.PEOPLE, ProviderField.VERIFICATION}
    )
    default_terms: ClassVar[Terms] = Terms(
        rates=(Rate(50, 1), Rate(600, 60)),
        prices=MappingProxyType(
            {
                ProviderField.EMAIL: EMAIL_PRICE,
                ProviderField.PHONE: MOBILE_PRICE,
                ProviderField.PEOPLE: EMPLOYEE_PRICE,
                ProviderField.VERIFICATION: VERIFICATION_PRICE,
            }
        ),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"X-API-Key": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether there is a name and company (e-mail), a profile or address (mobile), or a domain."""
        subject = request.subject
        match request.field:
            case ProviderField.EMAIL:
                company = subject.company_domain or subject.company_name
                return request.wants("work") and bool(subject.name and company)
            case ProviderField.PHONE:
                return request.wants("mobile") and bool(subject.linkedin_url or subject.email)
            case ProviderField.PEOPLE:
                return bool(subject.company_domain) and _is_of_everybody(request.people)
            case ProviderField.VERIFICATION:
                return bool(subject.email)
            case _:
                return False

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Call the endpoint of the requested field."""
        path, body_of = _ENDPOINTS[request.field]
        response = self.send("POST", path, body=body_of(request), seconds=seconds)
        if not response.is_ok:
            return self._error_response(response)
        return _READERS[request.field](request, response.object)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the balance, which is free; frozen credits are excluded, because they cannot be spent."""
        response = self.send("GET", "/v1/credits", seconds=seconds)
        if not response.is_ok:
            return self.refused_check(self._error_response(response))
        remaining = parsing.figure(response.object, "credits_liquid")
        remaining = parsing.figure(response.object, "credits") if remaining is None else remaining
        return self.checked(response, {} if remaining is None else {"credits": remaining})

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error, a list of RFC 9457 problems, to an outcome."""
        reply = self.default_response(response)
        problem = _problem(response.body or {})
        code = (parsing.text(problem, "code") or "").lower()
        outcome, wait = reply.outcome, reply.retry_after
        if response.status == _BAD_REQUEST and code == _NOT_TAKEN:
            outcome = TraceOutcome.INELIGIBLE
        elif response.status == _FORBIDDEN and response.body is not None:
            outcome = TraceOutcome.UNCONFIGURED
        elif outcome is TraceOutcome.RATE_LIMITED and wait is None:
            wait = parsing.figure(parsing.object_at(problem, "context"), "retry_after_seconds")
            wait = None if wait is None else min(max(wait, 0.0), MAX_RETRY_AFTER_SECONDS)
        return ProviderResponse(outcome=outcome, retry_after=wait)


def _is_of_everybody(query: PeopleQuery) -> bool:
    """Return whether a search has no criteria but the company, and is for its first people."""
    criteria = query.criteria
    filters = (criteria.titles, criteria.seniorities, criteria.departments, criteria.countries)
    return query.page == 1 and not any(filters)


def _company_and_limit(request: ProviderRequest) -> dict[str, Any]:
    limit = min(request.people.limit, MAX_EMPLOYEES)
    return {"company_domain": request.subject.company_domain, "limit": limit}


def _name_and_company(request: ProviderRequest) -> dict[str, Any]:
    """Return the name and the company, by domain if known, because company names are ambiguous."""
    subject = request.subject
    company = {"domain": subject.company_domain}
    if not subject.company_domain:
        company = {"company_name": subject.company_name}
    if subject.first_name and subject.last_name:
        return {"first_name": subject.first_name, "last_name": subject.last_name, **company}
    return {"full_name": subject.name, **company}


def _profile_and_address(request: ProviderRequest) -> dict[str, Any]:
    subject = request.subject
    parameters: dict[str, Any] = {"profile_url": subject.linkedin_url}
    if subject.email:
        parameters[f"{email_kind(subject.email)}_email"] = subject.email
    return parameters


def _address(request: ProviderRequest) -> dict[str, Any]:
    return {"email": request.subject.email}


def _problem(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first problem; empty for older responses, which have only a message for humans."""
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else {}
    return first if isinstance(first, dict) else {}


def _email(_request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    if not {"email", "status"} & body.keys():
        raise UnexpectedResponse("email")
    email = _found_email(parsing.text(body, "email"), parsing.text(body, "status"))
    emails = parsing.unique_emails([email], ("work",))
    if not emails:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=_cost(body, 0.0))
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, cost=_cost(body, EMAIL_PRICE))


def _phone(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    if not {"mobile_number", "credits_consumed", "message"} & body.keys():
        raise UnexpectedResponse("mobile_number")
    number = parsing.text(body, "mobile_number")
    phone = parsing.found_phone(
        _with_plus(number), parsing.source_of(LeadMagic.name), kind="mobile", country=request.country
    )
    if phone is None:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=_cost(body, 0.0))
    return ProviderResponse(outcome=TraceOutcome.HIT, phones=(phone,), cost=_cost(body, MOBILE_PRICE))


def _people(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    """Parse the employees, of whom a row has the name, the title and the company."""
    name = next((name for name in ("employees", "data") if name in body), None)
    if name is None and not {"message", "total_count"} & body.keys():
        raise UnexpectedResponse("employees")
    rows = parsing.records(body, name) if name else []
    cost = _cost(body, EMPLOYEE_PRICE * len(rows))
    return people_searches.response(request.people, map(_employee, rows), has_more=False, cost=cost)


def _employee(row: Mapping[str, Any]) -> FoundContact | None:
    source = parsing.source_of(LeadMagic.name)
    return parsing.found_contact(
        source,
        first_name=parsing.text(row, "first_name"),
        last_name=parsing.text(row, "last_name"),
        title=parsing.text(row, "title"),
        company=parsing.found_company(
            source, name=parsing.text(row, "company_name"), domain=parsing.text(row, "website")
        ),
    )


def _verification(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    """Parse a verdict; an undecided one is a miss, so that another provider is called."""
    status = parsing.text(body, "email_status")
    if status is None:
        raise UnexpectedResponse("email_status")
    verdict = _found_email(request.subject.email, status)
    cost = _cost(body, 0.0 if status.lower() in _UNPAID else VERIFICATION_PRICE)
    if verdict is None or verdict.status is EmailStatus.UNKNOWN:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(verdict,), cost=cost)


def _found_email(address: str | None, status_text: str | None) -> FoundEmail | None:
    source = parsing.source_of(LeadMagic.name)
    status = _STATUSES.get((status_text or "").lower(), EmailStatus.UNKNOWN)
    verified_at = None if status is EmailStatus.UNKNOWN else source.at
    return parsing.found_email(address, status, source, verified_at=verified_at)


def _cost(body: Mapping[str, Any], price: float) -> float:
    consumed = parsing.figure(body, "credits_consumed")
    return price if consumed is None or consumed < 0 else consumed


def _with_plus(number: str | None) -> str | None:
    """Add the plus that LeadMagic omits from numbers with a country code.

    Ten digits may also be a national number, and a leading 0 marks one: these are parsed for the person's
    country, and omitted without it.
    """
    if number is None or number.startswith(("+", "0")):
        return number
    has_country_code = len(_NOT_A_DIGIT.sub("", number)) >= _MIN_INTERNATIONAL_DIGITS
    return f"+{number}" if has_country_code else number


_ENDPOINTS = {
    ProviderField.EMAIL: ("/v1/people/email-finder", _name_and_company),
    ProviderField.PHONE: ("/v1/people/mobile-finder", _profile_and_address),
    ProviderField.PEOPLE: ("/v1/people/employee-finder", _company_and_limit),
    ProviderField.VERIFICATION: ("/v1/people/email-validation", _address),
}
_READERS = {
    ProviderField.EMAIL: _email,
    ProviderField.PHONE: _phone,
    ProviderField.PEOPLE: _people,
    ProviderField.VERIFICATION: _verification,
}
