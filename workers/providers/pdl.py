"""People Data Labs, API v5: https://docs.peopledatalabs.com/docs/reference-person-enrichment-api.

Its errors are in /docs/errors, the headers of credits and limits in /docs/usage-limits.
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
from workers.providers import parsing
from workers.providers.base import (
    CredentialCheck,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    Terms,
    UnexpectedAnswer,
)
from workers.providers.web import MAX_RETRY_AFTER_SECONDS, Vendor, VendorResponse

PRICE = 1.0
MIN_LIKELIHOOD = 6
"""Of ten; its default of two lets many a namesake through."""
SPENT, POOL, LEFT = "x-call-credits-spent", "x-call-credits-type", "x-totallimit-remaining"
_REQUIRED = {"work": "work_email", "personal": "personal_emails"}
_BAD_REQUEST, _NOT_FOUND = 400, 404


class PeopleDataLabs(Vendor):
    """People with addresses and numbers that nobody has verified, and companies.

    A match costs a credit of its pool. What must be in the record is required of it, so that one without it
    is no match and free. The rate is that of its free plan.
    """

    name: ClassVar[str] = "pdl"
    base_url: ClassVar[str] = "https://api.peopledatalabs.com/v5"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.EMAIL, ProviderField.PHONE, ProviderField.PERSON, ProviderField.COMPANY}
    )
    usual_terms: ClassVar[Terms] = Terms(
        rates=(Rate(100, 60),),
        prices=MappingProxyType(
            {
                ProviderField.EMAIL: PRICE,
                ProviderField.PHONE: PRICE,
                ProviderField.PERSON: PRICE,
                ProviderField.COMPANY: PRICE,
            }
        ),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the header; the API would take the key as a query parameter, too."""
        return {"X-Api-Key": key}

    def supports(self, ask: ProviderRequest) -> bool:
        """Tell whether there is a profile, an address, a number, or a name and a company."""
        subject = ask.subject
        company = subject.company_domain or subject.company_name
        match ask.field:
            case ProviderField.COMPANY:
                return bool(company)
            case ProviderField.EMAIL | ProviderField.PERSON:
                return _is_named(subject)
            case ProviderField.PHONE:  # of the others it does not tell what they are
                return (not ask.types or "mobile" in ask.types) and _is_named(subject)
            case _:
                return False

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Ask for one match with the value in question."""
        if ask.field is ProviderField.COMPANY:
            answer = self.send("GET", "/company/enrich", params=_company_query(ask.subject), seconds=seconds)
        else:
            params = _query(ask.subject) | {
                "required": _required(ask),
                "min_likelihood": MIN_LIKELIHOOD,
                "titlecase": "true",
            }
            answer = self.send("GET", "/person/enrich", params=params, seconds=seconds)
        if not answer.is_ok:
            return self._refused(answer)
        return _READERS[ask.field](ask, answer)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Ask for nobody, which is free: a complaint about that says that the key was accepted.

        There is no call for the account; every answer has the credits left in its headers.
        """
        answer = self.send("GET", "/person/enrich", seconds=seconds)
        if answer.body is not None and (answer.is_ok or answer.status in {_BAD_REQUEST, _NOT_FOUND}):
            left = parsing.figure(answer.headers, LEFT)
            pool = answer.headers.get(POOL) or "enrich"
            return CredentialCheck(outcome=TraceOutcome.HIT, left={} if left is None else {pool: left})
        return self.checked(answer, {})

    def _refused(self, answer: VendorResponse) -> ProviderResponse:
        """Read an answer that is none; when to come again is also in a header of its own."""
        reply = self.default_response(answer)
        wait = reply.retry_after
        if wait is None and reply.outcome is TraceOutcome.RATE_LIMITED:
            wait = _until_reset(answer)
        cost = _cost(answer, 0.0) if reply.outcome is TraceOutcome.MISS else 0.0
        return ProviderResponse(outcome=reply.outcome, retry_after=wait, cost=cost)


def _is_named(subject: Subject) -> bool:
    company = subject.company_domain or subject.company_name
    one = subject.linkedin_url or subject.email or subject.phone
    return bool(one or (subject.name and company))


def _query(subject: Subject) -> dict[str, Any]:
    """Give all that is known of the person; a company may be named by its website."""
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
    """Name the company; one that is named by its website alone or besides is no other's namesake."""
    least = None if subject.company_domain else MIN_LIKELIHOOD
    return {"website": subject.company_domain, "name": subject.company_name, "min_likelihood": least}


def _required(ask: ProviderRequest) -> str | None:
    """Say what a record must have to be paid for, in its own small language of AND and OR."""
    match ask.field:
        case ProviderField.EMAIL:
            return " OR ".join(_REQUIRED[kind] for kind in _REQUIRED if not ask.types or kind in ask.types)
        case ProviderField.PHONE:
            return "mobile_phone"
        case _:
            return None


def _until_reset(answer: VendorResponse) -> float | None:
    at = parsing.time(answer.headers, "x-ratelimit-reset")
    return None if at is None else min(max((at - clock.now()).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)


def _cost(answer: VendorResponse, price: float) -> float:
    spent = parsing.figure(answer.headers, SPENT)
    return price if spent is None or spent < 0 else spent


def _emails(ask: ProviderRequest, answer: VendorResponse) -> ProviderResponse:
    """Read the addresses; `emails[]` is left alone, which has those of all former jobs.

    A plan without contact data has true where an address would be.
    """
    body, person = answer.object, parsing.required(answer.object, "data")
    source = parsing.source_of(PeopleDataLabs.name)
    confidence = _confidence(body)
    work = parsing.found_email(
        parsing.text(person, "work_email"), EmailStatus.UNKNOWN, source, confidence=confidence
    )
    own = [
        parsing.found_email(said, EmailStatus.UNKNOWN, source, kind="personal", confidence=confidence)
        for said in parsing.texts(person, "personal_emails")
    ]
    emails = parsing.unique_emails([work, *own], ask.types)
    cost = _cost(answer, PRICE)
    if not emails:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=_contact(person), cost=cost)


def _phones(_ask: ProviderRequest, answer: VendorResponse) -> ProviderResponse:
    body, person = answer.object, parsing.required(answer.object, "data")
    source = parsing.source_of(PeopleDataLabs.name)
    confidence = _confidence(body)
    mobile = parsing.found_phone(
        parsing.text(person, "mobile_phone"), source, kind="mobile", confidence=confidence
    )
    others = [
        parsing.found_phone(said, source, confidence=confidence)
        for said in parsing.texts(person, "phone_numbers")
    ]
    phones = parsing.unique_phones([mobile, *others])
    cost = _cost(answer, PRICE)
    if not phones:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, phones=phones, contact=_contact(person), cost=cost)


def _person(_ask: ProviderRequest, answer: VendorResponse) -> ProviderResponse:
    contact = _contact(parsing.required(answer.object, "data"))
    outcome = TraceOutcome.HIT if contact else TraceOutcome.MISS
    return ProviderResponse(outcome=outcome, contact=contact, cost=_cost(answer, PRICE))


def _company(_ask: ProviderRequest, answer: VendorResponse) -> ProviderResponse:
    """Read the company, which is the whole answer, not a part of it."""
    body = answer.object
    if not {"id", "name", "website"} & body.keys():
        raise UnexpectedAnswer("company")
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
    return ProviderResponse(outcome=outcome, company=company, cost=_cost(answer, PRICE))


def _confidence(body: Mapping[str, Any]) -> float | None:
    """Give how likely it is the person, out of ten."""
    likelihood = parsing.figure(body, "likelihood")
    return None if likelihood is None else min(max(likelihood / 10, 0.0), 1.0)


def _contact(person: Mapping[str, Any]) -> FoundContact | None:
    """Read the person, known as of when their job was last confirmed."""
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
}
