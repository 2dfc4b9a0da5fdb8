"""Apollo.io: e-mail, person, company and the people of a company in the response, phone by polling.

https://docs.apollo.io/reference/people-enrichment, /reference/poll-webhook-result,
/reference/people-api-search, /reference/bulk-people-enrichment, /reference/organization-enrichment,
/reference/view-credit-usage-stats and /docs/retrieve-mobile-phone-numbers-for-contacts. The
parameters of people/match are sent in the query. Errors are identified by `error_details.code`; the older
fields at the root will be removed in February 2027.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers import parsing, people_searches
from workers.providers.base import (
    CredentialCheck,
    Pending,
    PeopleQuery,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Terms,
    UnexpectedResponse,
)
from workers.providers.people_searches import Part
from workers.providers.web import Vendor, VendorResponse

UNUSED_WEBHOOK_URL = "https://apollo.invalid/"
"""Apollo looks up phones only if a webhook URL is given. This name never resolves (RFC 2606): the phones are
polled for and are sent nowhere else, unless the operator sets `APOLLO_WEBHOOK_URL`."""
POLL_SECONDS = 10.0
CREDITS_FOR_PERSON = 1.0
CREDITS_FOR_MOBILE = 8.0
MAX_MATCHES = 10
"""The most people that one request names."""

_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})
_LOCKED = "email_not_unlocked"
_BY_CODE_PREFIX = {
    "AUTH.": TraceOutcome.UNCONFIGURED,
    "USAGE.RATE_LIMIT.": TraceOutcome.RATE_LIMITED,
    "API_INACCESSIBLE": TraceOutcome.UNCONFIGURED,
}
_STATUSES = {
    "verified": EmailStatus.VALID,
    "unverified": EmailStatus.RISKY,
    "extrapolated": EmailStatus.RISKY,
    "guessed": EmailStatus.RISKY,
    "bounced": EmailStatus.INVALID,
}
_GUESSED = frozenset({"extrapolated", "guessed"})
_PHONE_KINDS = {
    "mobile": "mobile",
    "work_direct": "direct",
    "work_direct_phone": "direct",
    "direct_dial": "direct",
    "direct": "direct",
    "work": "work",
    "work_hq": "hq",
    "company_hq": "hq",
    "hq": "hq",
}
_PHONE_STATUSES = {"valid_number": "valid", "invalid_number": "invalid"}
_CONFIDENCES = {"high": 0.9, "medium": 0.6, "low": 0.3}
_NOT_LISTED = frozenset({"not_found"})
_NOT_LOOKED_UP = frozenset({"", "no_status", "unknown", "pending"})


class Apollo(Vendor):
    """People and organizations. A person costs one credit, a mobile number eight more."""

    name = "apollo"
    base_url = "https://api.apollo.io/api/v1"
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
        rates=(Rate(50, 60.0),),  # the free plan; paid plans allow up to 1,000
        prices=MappingProxyType(
            {
                ProviderField.EMAIL: CREDITS_FOR_PERSON,
                ProviderField.PHONE: CREDITS_FOR_PERSON + CREDITS_FOR_MOBILE,
                ProviderField.PERSON: CREDITS_FOR_PERSON,
                ProviderField.COMPANY: 1.0,
                ProviderField.PEOPLE: CREDITS_FOR_PERSON,
            },
        ),
        poll_timeout=600.0,
    )

    def __init__(self, access: ProviderSettings) -> None:
        super().__init__(access)
        self._webhook_url = access.webhook_url or UNUSED_WEBHOOK_URL

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"x-api-key": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether the request identifies a person or company."""
        subject = request.subject
        company = subject.company_domain or subject.company_name
        if request.field is ProviderField.COMPANY:
            return bool(company)
        if request.field is ProviderField.PEOPLE:  # no filter by department is documented
            return bool(subject.company_domain) and not request.people.criteria.departments
        return bool(subject.linkedin_url or subject.email or (subject.name and company))

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Enrich the person or the company, or poll for the phones."""
        if request.field is ProviderField.COMPANY:
            params = _company_parameters(request)
            return self._company(self.send("GET", "/organizations/enrich", seconds=seconds, params=params))
        if request.field is ProviderField.PEOPLE:
            return self._people(request.people, request.subject, time.monotonic() + seconds)
        if request.poll_token is not None:
            path = f"/webhook_result/{quote(request.poll_token, safe='')}"
            return self._result(request.poll_token, self.send("GET", path, seconds=seconds))
        params = {**_person_parameters(request), **_reveal_parameters(request, self._webhook_url)}
        return self._match(request, self.send("POST", "/people/match", seconds=seconds, params=params))

    def check(self, *, seconds: float) -> CredentialCheck:
        """Check the key, then request the balance, which needs a key with permission for that."""
        response = self.send("GET", "/auth/health", seconds=seconds / 2)
        if response.is_ok and response.body is not None and response.body.get("is_logged_in") is False:
            return CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)
        if not response.is_ok or response.body is None:
            return CredentialCheck(outcome=self._error_response(response).outcome)
        return self.checked(response, self._remaining(seconds / 2))

    def _remaining(self, seconds: float) -> dict[str, float]:
        try:
            response = self.send("POST", "/usage_stats/credit_usage_stats", seconds=seconds)
        except (ProviderTimeout, UnexpectedResponse):  # the key works; the balance stays unknown
            return {}
        stats = parsing.object_at(response.body or {}, "credit_usage_stats") if response.is_ok else {}
        remaining = {
            pool: parsing.figure(stat, "left_over") for pool, stat in stats.items() if isinstance(stat, dict)
        }
        return {pool: count for pool, count in remaining.items() if count is not None}

    def _match(self, request: ProviderRequest, response: VendorResponse) -> ProviderResponse | Pending:
        if not response.is_ok:
            return self._error_response(response)
        body = response.object
        if "person" not in body and "match_confidence" not in body:
            raise UnexpectedResponse("person")
        person = parsing.object_at(body, "person")
        if not person or parsing.text(body, "match_confidence") == "none":
            return ProviderResponse(outcome=TraceOutcome.MISS)
        if request.field is ProviderField.PHONE:
            return Pending(_poll_token(body), POLL_SECONDS)
        source = parsing.source_of(self.name)
        contact = _contact(person, source)
        if request.field is ProviderField.EMAIL:
            emails = parsing.unique_emails(_emails(person, source), request.types)
            if emails:
                return ProviderResponse(
                    outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=CREDITS_FOR_PERSON
                )
        elif contact is not None:
            return ProviderResponse(outcome=TraceOutcome.HIT, contact=contact, cost=CREDITS_FOR_PERSON)
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=CREDITS_FOR_PERSON)

    def _result(self, poll_token: str, response: VendorResponse) -> ProviderResponse | Pending:
        if response.status in _TEMPORARY_STATUSES:  # these do not abandon a pending request
            return self.retry_poll(poll_token, response, POLL_SECONDS)
        body = response.body or {}
        if "result_pending" in (parsing.text(body, "error_code"), _code(body)):
            return Pending(poll_token, parsing.figure(body, "retry_after_seconds") or POLL_SECONDS)
        if not response.is_ok:
            reply = self._error_response(response)
            is_unknown_id = reply.outcome is TraceOutcome.MISS  # unknown, expired or invalid: not a miss
            return ProviderResponse(outcome=TraceOutcome.ERROR) if is_unknown_id else reply
        result = parsing.required(response.object, "webhook_result")
        source = parsing.source_of(self.name)
        people = parsing.records(result, "people")
        phones = parsing.unique_phones(
            _phone(phone, source) for person in people for phone in parsing.records(person, "phone_numbers")
        )
        charged = parsing.figure(result, "credits_consumed")
        has_mobile = any(phone.type == "mobile" for phone in phones)
        documented = CREDITS_FOR_PERSON + (CREDITS_FOR_MOBILE if has_mobile else 0.0)
        cost = documented if charged is None else charged
        return ProviderResponse(
            outcome=TraceOutcome.HIT if phones else TraceOutcome.MISS, phones=phones, cost=cost
        )

    def _people(self, query: PeopleQuery, company: Subject, deadline: float) -> ProviderResponse:
        """Search for people, which is free, and request those whom the search names only in part.

        The search needs a key with permission for it, and returns neither last names nor profiles; each
        person who is requested by the id costs a credit.
        """
        params = _search_parameters(query, company)
        response = self.send(
            "POST", "/mixed_people/api_search", params=params, seconds=deadline - time.monotonic()
        )
        if not response.is_ok:
            return self._error_response(response)
        if "people" not in response.object:
            raise UnexpectedResponse("people")
        ids = [parsing.text(person, "id") for person in parsing.records(response.object, "people")]
        total = parsing.figure(response.object, "total_entries") or 0.0
        groups = _grouped([person_id for person_id in ids if person_id][: query.limit])
        return people_searches.in_parts(
            query, (partial(self._matches, group, total, deadline) for group in groups)
        )

    def _matches(self, ids: Sequence[str], total: float, deadline: float) -> Part | ProviderResponse:
        """Request people by their ids; the place of one who was not found is null."""
        body = {"details": [{"id": person_id} for person_id in ids]}
        response = self.send("POST", "/people/bulk_match", body=body, seconds=deadline - time.monotonic())
        if not response.is_ok:
            return self._error_response(response)
        matches = response.object.get("matches")
        if not isinstance(matches, list):
            raise UnexpectedResponse("matches")
        source, found = parsing.source_of(self.name), [one for one in matches if isinstance(one, dict)]
        charged = parsing.figure(response.object, "credits_consumed")
        cost = CREDITS_FOR_PERSON * len(found) if charged is None else charged
        return Part(people=[_with_emails(one, source) for one in found], cost=cost, total=total)

    def _company(self, response: VendorResponse) -> ProviderResponse:
        if not response.is_ok:
            return self._error_response(response)
        if "organization" not in response.object:
            raise UnexpectedResponse("organization")
        company = _company(parsing.object_at(response.object, "organization"), parsing.source_of(self.name))
        if company is None:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        return ProviderResponse(outcome=TraceOutcome.HIT, company=company, cost=1.0)

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome, by its code first; 403 is a key or a plan without the permission."""
        reply = self.default_response(response)
        if response.body is None:
            return reply
        code = _code(response.body)
        known = (outcome for prefix, outcome in _BY_CODE_PREFIX.items() if code.startswith(prefix))
        outcome = next(known, None)
        is_client_error = response.status in range(400, 500)
        if outcome is None and is_client_error and "credit" in _error_text(response.body, code):
            outcome = TraceOutcome.NO_CREDITS
        if outcome is None and response.status == 403:  # noqa: PLR2004 -- the status
            outcome = TraceOutcome.UNCONFIGURED
        return reply if outcome is None else replace(reply, outcome=outcome)


def _code(body: Mapping[str, Any]) -> str:
    details = body.get("error_details")
    code = parsing.text(details, "code") if isinstance(details, dict) else None
    return code or parsing.text(body, "error_code") or ""


def _error_text(body: Mapping[str, Any], code: str) -> str:
    """Return the text of an error: no code is documented for a lack of credits."""
    details = body.get("error_details")
    message = parsing.text(details, "message") if isinstance(details, dict) else None
    at_root = (parsing.text(body, name) for name in ("error", "message", "error_message"))
    return " ".join(filter(None, (code, message, *at_root))).casefold()


def _poll_token(body: Mapping[str, Any]) -> str:
    """Return the request id, a signed 64-bit number, as a string, which no JSON parser rounds."""
    request_id = body.get("request_id")
    if isinstance(request_id, bool) or not isinstance(request_id, int | str) or not str(request_id).strip():
        raise UnexpectedResponse("request_id")
    return str(request_id).strip()


def _person_parameters(request: ProviderRequest) -> dict[str, str | None]:
    subject = request.subject
    is_split = bool(subject.first_name and subject.last_name)
    return {
        "linkedin_url": subject.linkedin_url,
        "email": subject.email,
        "first_name": subject.first_name if is_split else None,
        "last_name": subject.last_name if is_split else None,
        "name": None if is_split else subject.name,
        "domain": subject.company_domain,
        "organization_name": subject.company_name,
    }


def _reveal_parameters(request: ProviderRequest, webhook_url: str) -> dict[str, str]:
    """Return the parameters for values at extra cost, only for the requested field and types."""
    if request.field is ProviderField.PHONE:
        return {"reveal_phone_number": "true", "webhook_url": webhook_url}
    if request.field is ProviderField.EMAIL and "personal" in request.types:
        return {"reveal_personal_emails": "true"}
    return {}


def _search_parameters(query: PeopleQuery, company: Subject) -> dict[str, Any]:
    """Return the parameters of a search; its seniorities have the same names."""
    criteria = query.criteria
    lists = {
        "q_organization_domains_list[]": [company.company_domain],
        "person_titles[]": list(criteria.titles),
        "person_seniorities[]": list(criteria.seniorities),
        "person_locations[]": people_searches.country_names(query),
    }
    pages = {"page": query.page, "per_page": query.limit}
    return {name: values for name, values in lists.items() if values} | pages


def _grouped(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the ids in groups of which each is one request."""
    for start in range(0, len(ids), MAX_MATCHES):
        yield ids[start : start + MAX_MATCHES]


def _with_emails(person: Mapping[str, Any], source: Source) -> FoundContact | None:
    contact = _contact(person, source)
    emails = parsing.unique_emails(_emails(person, source), ("work",))
    return contact and replace(contact, emails=emails)


def _company_parameters(request: ProviderRequest) -> dict[str, str | None]:
    domain = request.subject.company_domain
    return {"domain": domain, "name": None if domain else request.subject.company_name}


def _emails(person: Mapping[str, Any], source: Source) -> list[FoundEmail | None]:
    """Parse the address and the personal addresses, which are unverified; skip data from the team's CRM."""
    email_status = parsing.text(person, "email_status") or ""
    status = _STATUSES.get(email_status, EmailStatus.UNKNOWN)
    if status is EmailStatus.VALID and person.get("email_domain_catchall") is True:
        status = EmailStatus.ACCEPT_ALL
    is_verified = status in {EmailStatus.VALID, EmailStatus.ACCEPT_ALL, EmailStatus.INVALID}
    personal = [
        parsing.found_email(address, EmailStatus.UNKNOWN, source, kind="personal")
        for address in parsing.texts(person, "personal_emails")
    ]
    first = parsing.found_email(
        _unlocked(parsing.text(person, "email")),
        status,
        source,
        reasons=("guessed",) if email_status in _GUESSED else (),
        confidence=_confidence(parsing.figure(person, "extrapolated_email_confidence")),
        verified_at=clock.now() if is_verified else None,
    )
    return [first, *personal]


def _unlocked(email: str | None) -> str | None:
    """Return the address; None for the placeholder of an address that was not paid for."""
    return None if email and email.casefold().startswith(_LOCKED) else email


def _confidence(value: float | None) -> float | None:
    return value if value is not None and 0 <= value <= 1 else None


def _phone(body: Mapping[str, Any], source: Source) -> FoundPhone | None:
    status = _PHONE_STATUSES.get(_code_or_text(body, "status"), "unknown")
    dnc_status = _code_or_text(body, "dnc_status")
    is_known = dnc_status not in _NOT_LOOKED_UP
    found = parsing.found_phone(
        parsing.text(body, "sanitized_number") or parsing.text(body, "raw_number"),
        source,
        kind=_PHONE_KINDS.get(_code_or_text(body, "type"), "other"),
        status=status,
        confidence=_CONFIDENCES.get(_code_or_text(body, "confidence")),
        do_not_call=dnc_status not in _NOT_LISTED if is_known else None,
        do_not_call_at=parsing.time(body, "dnc_status_updated_at") if is_known else None,
    )
    if found is None or status == "unknown":
        return found
    return replace(found, verified_at=clock.now())


def _code_or_text(body: Mapping[str, Any], name: str) -> str:
    return (parsing.text(body, f"{name}_cd") or parsing.text(body, name) or "").casefold()


def _contact(person: Mapping[str, Any], source: Source) -> FoundContact | None:
    areas = parsing.texts(person, "departments")
    return parsing.found_contact(
        source,
        full_name=parsing.text(person, "name"),
        first_name=parsing.text(person, "first_name"),
        last_name=parsing.text(person, "last_name"),
        title=parsing.text(person, "title"),
        level=parsing.text(person, "seniority"),
        area=areas[0] if areas else None,
        linkedin_url=parsing.text(person, "linkedin_url"),
        city=parsing.text(person, "city"),
        country=parsing.text(person, "country"),
        company=_company(parsing.object_at(person, "organization"), source),
    )


def _company(body: Mapping[str, Any], source: Source) -> FoundCompany | None:
    return parsing.found_company(
        source,
        name=parsing.text(body, "name"),
        domain=parsing.text(body, "primary_domain") or parsing.text(body, "website_url"),
        linkedin_url=parsing.text(body, "linkedin_url"),
        industry=parsing.text(body, "industry"),
        employees=parsing.figure(body, "estimated_num_employees"),
        city=parsing.text(body, "city"),
        country=parsing.text(body, "country"),
    )
