"""People Data Labs, API v5: https://docs.peopledatalabs.com/docs/reference-person-enrichment-api.

Its errors are in /docs/errors, the headers of credits and limits in /docs/usage-limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundContact
from app.domain.kinds import TraceOutcome
from app.domain.rates import Rate
from app.domain.subjects import Subject
from app.infra import clock
from workers.providers import reading
from workers.providers.base import Ask, Check, Field, Reply, Terms, UnexpectedAnswer
from workers.providers.web import LONGEST_PAUSE, Answer, Vendor

PRICE = 1.0
LEAST_LIKELIHOOD = 6
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
    fields: ClassVar[frozenset[Field]] = frozenset({Field.EMAIL, Field.PHONE, Field.PERSON, Field.COMPANY})
    usual_terms: ClassVar[Terms] = Terms(
        rates=(Rate(100, 60),),
        prices=MappingProxyType(
            {Field.EMAIL: PRICE, Field.PHONE: PRICE, Field.PERSON: PRICE, Field.COMPANY: PRICE}
        ),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the header; the API would take the key as a query parameter, too."""
        return {"X-Api-Key": key}

    def takes(self, ask: Ask) -> bool:
        """Tell whether there is a profile, an address, a number, or a name and a company."""
        subject = ask.subject
        company = subject.company_domain or subject.company_name
        match ask.field:
            case Field.COMPANY:
                return bool(company)
            case Field.EMAIL | Field.PERSON:
                return _is_named(subject)
            case Field.PHONE:  # of the others it does not tell what they are
                return (not ask.types or "mobile" in ask.types) and _is_named(subject)
            case _:
                return False

    def ask(self, ask: Ask, *, seconds: float) -> Reply:
        """Ask for one match with the value in question."""
        if ask.field is Field.COMPANY:
            answer = self.send("GET", "/company/enrich", params=_firm_sought(ask.subject), seconds=seconds)
        else:
            params = _sought(ask.subject) | {
                "required": _required(ask),
                "min_likelihood": LEAST_LIKELIHOOD,
                "titlecase": "true",
            }
            answer = self.send("GET", "/person/enrich", params=params, seconds=seconds)
        if not answer.is_ok:
            return self._refused(answer)
        return _READERS[ask.field](ask, answer)

    def check(self, *, seconds: float) -> Check:
        """Ask for nobody, which is free: a complaint about that says that the key was accepted.

        There is no call for the account; every answer has the credits left in its headers.
        """
        answer = self.send("GET", "/person/enrich", seconds=seconds)
        if answer.body is not None and (answer.is_ok or answer.status in {_BAD_REQUEST, _NOT_FOUND}):
            left = reading.figure(answer.headers, LEFT)
            pool = answer.headers.get(POOL) or "enrich"
            return Check(outcome=TraceOutcome.HIT, left={} if left is None else {pool: left})
        return self.checked(answer, {})

    def _refused(self, answer: Answer) -> Reply:
        """Read an answer that is none; when to come again is also in a header of its own."""
        reply = self.standard(answer)
        wait = reply.retry_after
        if wait is None and reply.outcome is TraceOutcome.RATE_LIMITED:
            wait = _until_reset(answer)
        cost = _cost(answer, 0.0) if reply.outcome is TraceOutcome.MISS else 0.0
        return Reply(outcome=reply.outcome, retry_after=wait, cost=cost)


def _is_named(subject: Subject) -> bool:
    company = subject.company_domain or subject.company_name
    one = subject.linkedin_url or subject.email or subject.phone
    return bool(one or (subject.name and company))


def _sought(subject: Subject) -> dict[str, Any]:
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


def _firm_sought(subject: Subject) -> dict[str, Any]:
    """Name the company; one that is named by its website alone or besides is no other's namesake."""
    least = None if subject.company_domain else LEAST_LIKELIHOOD
    return {"website": subject.company_domain, "name": subject.company_name, "min_likelihood": least}


def _required(ask: Ask) -> str | None:
    """Say what a record must have to be paid for, in its own small language of AND and OR."""
    match ask.field:
        case Field.EMAIL:
            return " OR ".join(_REQUIRED[kind] for kind in _REQUIRED if not ask.types or kind in ask.types)
        case Field.PHONE:
            return "mobile_phone"
        case _:
            return None


def _until_reset(answer: Answer) -> float | None:
    at = reading.time(answer.headers, "x-ratelimit-reset")
    return None if at is None else min(max((at - clock.now()).total_seconds(), 0.0), LONGEST_PAUSE)


def _cost(answer: Answer, price: float) -> float:
    spent = reading.figure(answer.headers, SPENT)
    return price if spent is None or spent < 0 else spent


def _emails(ask: Ask, answer: Answer) -> Reply:
    """Read the addresses; `emails[]` is left alone, which has those of all former jobs.

    A plan without contact data has true where an address would be.
    """
    body, person = answer.object, reading.required(answer.object, "data")
    source = reading.said_by(PeopleDataLabs.name)
    confidence = _confidence(body)
    work = reading.found_email(
        reading.text(person, "work_email"), EmailStatus.UNKNOWN, source, confidence=confidence
    )
    own = [
        reading.found_email(said, EmailStatus.UNKNOWN, source, kind="personal", confidence=confidence)
        for said in reading.texts(person, "personal_emails")
    ]
    emails = reading.of_type([work, *own], ask.types)
    cost = _cost(answer, PRICE)
    if not emails:
        return Reply(outcome=TraceOutcome.MISS, cost=cost)
    return Reply(outcome=TraceOutcome.HIT, emails=emails, contact=_contact(person), cost=cost)


def _phones(_ask: Ask, answer: Answer) -> Reply:
    body, person = answer.object, reading.required(answer.object, "data")
    source = reading.said_by(PeopleDataLabs.name)
    confidence = _confidence(body)
    mobile = reading.found_phone(
        reading.text(person, "mobile_phone"), source, kind="mobile", confidence=confidence
    )
    others = [
        reading.found_phone(said, source, confidence=confidence)
        for said in reading.texts(person, "phone_numbers")
    ]
    phones = reading.some([mobile, *others])
    cost = _cost(answer, PRICE)
    if not phones:
        return Reply(outcome=TraceOutcome.MISS, cost=cost)
    return Reply(outcome=TraceOutcome.HIT, phones=phones, contact=_contact(person), cost=cost)


def _person(_ask: Ask, answer: Answer) -> Reply:
    contact = _contact(reading.required(answer.object, "data"))
    outcome = TraceOutcome.HIT if contact else TraceOutcome.MISS
    return Reply(outcome=outcome, contact=contact, cost=_cost(answer, PRICE))


def _company(_ask: Ask, answer: Answer) -> Reply:
    """Read the company, which is the whole answer, not a part of it."""
    body = answer.object
    if not {"id", "name", "website"} & body.keys():
        raise UnexpectedAnswer("company")
    location = reading.record(body, "location")
    company = reading.found_company(
        reading.said_by(PeopleDataLabs.name),
        name=reading.text(body, "display_name") or reading.text(body, "name"),
        domain=reading.text(body, "website"),
        linkedin_url=reading.text(body, "linkedin_url"),
        industry=reading.text(body, "industry"),
        employees=reading.text(body, "size") or reading.figure(body, "employee_count"),
        city=reading.text(location, "locality"),
        country=reading.text(location, "country"),
    )
    outcome = TraceOutcome.HIT if company else TraceOutcome.MISS
    return Reply(outcome=outcome, company=company, cost=_cost(answer, PRICE))


def _confidence(body: Mapping[str, Any]) -> float | None:
    """Give how likely it is the person, out of ten."""
    likelihood = reading.figure(body, "likelihood")
    return None if likelihood is None else min(max(likelihood / 10, 0.0), 1.0)


def _contact(person: Mapping[str, Any]) -> FoundContact | None:
    """Read the person, known as of when their job was last confirmed."""
    source = reading.said_by(PeopleDataLabs.name, reading.time(person, "job_last_updated"))
    return reading.found_contact(
        source,
        full_name=reading.text(person, "full_name"),
        first_name=reading.text(person, "first_name"),
        last_name=reading.text(person, "last_name"),
        title=reading.text(person, "job_title"),
        level=next(iter(reading.texts(person, "job_title_levels")), None),
        area=reading.text(person, "job_title_role"),
        linkedin_url=reading.text(person, "linkedin_url"),
        city=reading.text(person, "location_locality"),
        country=reading.text(person, "location_country"),
        company=reading.found_company(
            source,
            name=reading.text(person, "job_company_name"),
            domain=reading.text(person, "job_company_website"),
            linkedin_url=reading.text(person, "job_company_linkedin_url"),
            industry=reading.text(person, "job_company_industry"),
            employees=reading.text(person, "job_company_size"),
        ),
    )


_READERS = {Field.EMAIL: _emails, Field.PHONE: _phones, Field.PERSON: _person, Field.COMPANY: _company}
