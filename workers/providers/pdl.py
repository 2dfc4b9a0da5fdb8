"""People Data Labs (API v5): e-mail, phone, person and company, and the people of a company.

https://docs.peopledatalabs.com/docs/reference-person-enrichment-api, /docs/reference-person-search-api;
errors: /docs/errors; headers of credits and limits: /docs/usage-limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundContact
from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from app.infra import clock
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

PRICE = 1.0
MIN_LIKELIHOOD = 6
"""Out of ten; the vendor's default of two matches many namesakes."""
SPENT, POOL, LEFT = "x-call-credits-spent", "x-call-credits-type", "x-totallimit-remaining"
_REQUIRED = {"work": "work_email", "personal": "personal_emails"}
_BAD_REQUEST, _NOT_FOUND = 400, 404
_LEVELS = {
    "founder": ("owner",),
    "owner": ("owner",),
    "c_suite": ("cxo",),
    "partner": ("partner",),
    "vp": ("vp",),
    "head": ("director",),
    "director": ("director",),
    "manager": ("manager",),
    "senior": ("senior",),
    "entry": ("entry",),
    "intern": ("training", "unpaid"),
}
"""`job_title_levels` (https://docs.peopledatalabs.com/docs/job-title-levels)."""
_ROLES = {
    "engineering": ("engineering",),
    "information_technology": ("engineering",),
    "sales": ("sales",),
    "marketing": ("marketing", "media", "public_relations"),
    "finance": ("finance",),
    "human_resources": ("human_resources",),
    "operations": ("operations", "fulfillment", "manufacturing"),
    "legal": ("legal",),
    "support": ("customer_service", "support"),
    "product": ("product",),
    "design": ("design", "creative"),
    "education": ("education",),
    "medical_health": ("health",),
    "data": ("analyst", "research"),
    "consulting": ("advisory",),
}
"""`job_title_role`: the words of both versions of the list, of which a record has one."""


class PeopleDataLabs(Vendor):
    """People with unverified addresses and numbers, and companies.

    A match costs a credit of its pool. The request requires the field, so that a record without it is not a
    match and costs nothing. The rate is the limit of the free plan.
    """

    name: ClassVar[str] = "pdl"
    base_url: ClassVar[str] = "https://api.peopledatalabs.com/v5"
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
        rates=(Rate(100, 60),),
        prices=MappingProxyType(dict.fromkeys(fields, PRICE)),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key; the API would also accept it as a query parameter."""
        return {"X-Api-Key": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether there is a profile, an address, a number, or a name and a company."""
        subject = request.subject
        company = subject.company_domain or subject.company_name
        match request.field:
            case ProviderField.COMPANY:
                return bool(company)
            case ProviderField.EMAIL | ProviderField.PERSON:
                return _is_named(subject)
            case ProviderField.PHONE:  # it reports no type for other numbers
                return request.wants("mobile") and _is_named(subject)
            case ProviderField.PEOPLE:
                return people_searches.is_searchable(request, seniorities=_LEVELS, departments=_ROLES)
            case _:
                return False

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Request one match that has the field."""
        if request.field is ProviderField.COMPANY:
            response = self.send(
                "GET", "/company/enrich", params=_company_query(request.subject), seconds=seconds
            )
        elif request.field is ProviderField.PEOPLE:
            search = _search(request.people, request.subject)
            response = self.send("POST", "/person/search", body=search, seconds=seconds)
        else:
            params = _query(request.subject) | {
                "required": _required(request),
                "min_likelihood": MIN_LIKELIHOOD,
                "titlecase": "true",
            }
            response = self.send("GET", "/person/enrich", params=params, seconds=seconds)
        if not response.is_ok:
            return self._error_response(response)
        return _READERS[request.field](request, response)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Send a request without a person, which is free: a parameter error means the key is valid.

        There is no account endpoint; every response has the remaining credits in its headers.
        """
        response = self.send("GET", "/person/enrich", seconds=seconds)
        if response.body is not None and (response.is_ok or response.status in {_BAD_REQUEST, _NOT_FOUND}):
            remaining = parsing.figure(response.headers, LEFT)
            pool = response.headers.get(POOL) or "enrich"
            return CredentialCheck(
                outcome=TraceOutcome.HIT, remaining={} if remaining is None else {pool: remaining}
            )
        return self.checked(response, {})

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome; the delay may also be in a header other than `Retry-After`."""
        reply = self.default_response(response)
        wait = reply.retry_after
        if wait is None and reply.outcome is TraceOutcome.RATE_LIMITED:
            wait = _until_reset(response)
        cost = _cost(response, 0.0) if reply.outcome is TraceOutcome.MISS else 0.0
        return ProviderResponse(outcome=reply.outcome, retry_after=wait, cost=cost)


def _is_named(subject: Subject) -> bool:
    company = subject.company_domain or subject.company_name
    identifier = subject.linkedin_url or subject.email or subject.phone
    return bool(identifier or (subject.name and company))


def _query(subject: Subject) -> dict[str, Any]:
    """Return all known identifiers of the person; a company may be given by its website."""
    names: dict[str, Any] = {"name": subject.name}
    if subject.first_name and subject.last_name:
        names = {"first_name": subject.first_name, "last_name": subject.last_name}
    return {
        "profile": subject.linkedin_url,
        "email": subject.email,
        "phone": subject.phone,
        **names,
        "company": subject.company_domain or subject.company_name,
    }


def _company_query(subject: Subject) -> dict[str, Any]:
    """Return the company's identifiers; with a website it cannot be confused with a namesake."""
    least = None if subject.company_domain else MIN_LIKELIHOOD
    return {"website": subject.company_domain, "name": subject.company_name, "min_likelihood": least}


def _search(query: PeopleQuery, company: Subject) -> dict[str, Any]:
    """Return the search in the form of Elasticsearch; texts are stored in lower case.

    A title matches if the person's has each of its words.
    """
    criteria = query.criteria
    employer = {"job_company_website": company.company_domain}
    if not company.company_domain:
        employer = {"job_company_name": str(company.company_name).lower()}
    lists = {
        "job_title_levels": people_searches.words(criteria.seniorities, _LEVELS),
        "job_title_role": people_searches.words(criteria.departments, _ROLES),
        "location_country": [name.lower() for name in people_searches.country_names(query)],
    }
    must: list[dict[str, Any]] = [{"term": employer}]
    must += [{"terms": {name: values}} for name, values in lists.items() if values]
    if criteria.titles:
        must.append({"bool": {"should": [_has_words(title) for title in criteria.titles]}})
    return {
        "query": {"bool": {"must": must}},
        "size": query.limit,
        "from": query.offset or None,
        "titlecase": True,
    }


def _has_words(title: str) -> dict[str, Any]:
    return {"bool": {"must": [{"match": {"job_title": word}} for word in title.lower().split()]}}


def _required(request: ProviderRequest) -> str | None:
    """Return what a record must have to be a match, in the vendor's syntax of AND and OR."""
    match request.field:
        case ProviderField.EMAIL:
            return " OR ".join(_REQUIRED[kind] for kind in _REQUIRED if request.wants(kind))
        case ProviderField.PHONE:
            return "mobile_phone"
        case _:
            return None


def _until_reset(response: VendorResponse) -> float | None:
    resets_at = parsing.time(response.headers, "x-ratelimit-reset")
    if resets_at is None:
        return None
    return min(max((resets_at - clock.now()).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)


def _cost(response: VendorResponse, price: float) -> float:
    spent = parsing.figure(response.headers, SPENT)
    return price if spent is None or spent < 0 else spent


def _emails(request: ProviderRequest, response: VendorResponse) -> ProviderResponse:
    """Parse the addresses; `emails[]` is ignored, because it has the addresses of all former jobs.

    With a plan without contact data, `true` stands in place of an address.
    """
    body, person = response.object, parsing.required(response.object, "data")
    source = parsing.source_of(PeopleDataLabs.name)
    confidence = _confidence(body)
    work = parsing.found_email(
        parsing.text(person, "work_email"), EmailStatus.UNKNOWN, source, confidence=confidence
    )
    personal = [
        parsing.found_email(address, EmailStatus.UNKNOWN, source, kind="personal", confidence=confidence)
        for address in parsing.texts(person, "personal_emails")
    ]
    emails = parsing.unique_emails([work, *personal], request.types)
    cost = _cost(response, PRICE)
    if not emails:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=_contact(person), cost=cost)


def _phones(_request: ProviderRequest, response: VendorResponse) -> ProviderResponse:
    body, person = response.object, parsing.required(response.object, "data")
    source = parsing.source_of(PeopleDataLabs.name)
    confidence = _confidence(body)
    mobile = parsing.found_phone(
        parsing.text(person, "mobile_phone"), source, kind="mobile", confidence=confidence
    )
    others = [
        parsing.found_phone(number, source, confidence=confidence)
        for number in parsing.texts(person, "phone_numbers")
    ]
    phones = parsing.unique_phones([mobile, *others])
    cost = _cost(response, PRICE)
    if not phones:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, phones=phones, contact=_contact(person), cost=cost)


def _person(_request: ProviderRequest, response: VendorResponse) -> ProviderResponse:
    contact = _contact(parsing.required(response.object, "data"))
    outcome = TraceOutcome.HIT if contact else TraceOutcome.MISS
    return ProviderResponse(outcome=outcome, contact=contact, cost=_cost(response, PRICE))


def _people(request: ProviderRequest, response: VendorResponse) -> ProviderResponse:
    """Parse the records of a search, each of which costs a credit, ."""
    if "data" not in response.object:
        raise UnexpectedResponse("data")
    records = parsing.records(response.object, "data")
    found = parsing.figure(response.object, "total") or 0
    return people_searches.response(
        request.people,
        map(_contact, records),
        has_more=found > request.people.offset + len(records),
        cost=_cost(response, PRICE * len(records)),
    )


def _company(_request: ProviderRequest, response: VendorResponse) -> ProviderResponse:
    """Parse the company, which is the whole response, not a part of it."""
    body = response.object
    if not {"id", "name", "website"} & body.keys():
        raise UnexpectedResponse("company")
    location = parsing.object_at(body, "location")
    company = parsing.found_company(
        parsing.source_of(PeopleDataLabs.name),
        name=parsing.text(body, "display_name") or parsing.text(body, "name"),
        domain=parsing.text(body, "website"),
        linkedin_url=parsing.text(body, "linkedin_url"),
        industry=parsing.text(body, "industry"),
        employees=parsing.text(body, "size") or parsing.figure(body, "employee_count"),
        city=parsing.text(location, "locality"),
        country=parsing.text(location, "country"),
    )
    outcome = TraceOutcome.HIT if company else TraceOutcome.MISS
    return ProviderResponse(outcome=outcome, company=company, cost=_cost(response, PRICE))


def _confidence(body: Mapping[str, Any]) -> float | None:
    """Return the confidence from 0 to 1; the vendor's likelihood is out of ten."""
    likelihood = parsing.figure(body, "likelihood")
    return None if likelihood is None else min(max(likelihood / 10, 0.0), 1.0)


def _contact(person: Mapping[str, Any]) -> FoundContact | None:
    """Parse the person, observed when the job was last confirmed."""
    source = parsing.source_of(PeopleDataLabs.name, parsing.time(person, "job_last_updated"))
    return parsing.found_contact(
        source,
        full_name=parsing.text(person, "full_name"),
        first_name=parsing.text(person, "first_name"),
        last_name=parsing.text(person, "last_name"),
        title=parsing.text(person, "job_title"),
        level=next(iter(parsing.texts(person, "job_title_levels")), None),
        area=parsing.text(person, "job_title_role"),
        linkedin_url=parsing.text(person, "linkedin_url"),
        city=parsing.text(person, "location_locality"),
        country=parsing.text(person, "location_country"),
        company=parsing.found_company(
            source,
            name=parsing.text(person, "job_company_name"),
            domain=parsing.text(person, "job_company_website"),
            linkedin_url=parsing.text(person, "job_company_linkedin_url"),
            industry=parsing.text(person, "job_company_industry"),
            employees=parsing.text(person, "job_company_size"),
        ),
    )


_READERS = {
    ProviderField.EMAIL: _emails,
    ProviderField.PHONE: _phones,
    ProviderField.PERSON: _person,
    ProviderField.COMPANY: _company,
    ProviderField.PEOPLE: _people,
}
