"""Prospeo: https://prospeo.io/api-docs/enrich-person, /enrich-company and /account-information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.countries import country_code
from app.domain.emails import email_kind
from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.rates import Rate
from app.domain.subjects import Subject
from workers.providers import reading
from workers.providers.base import Ask, Check, Field, Reply, Terms
from workers.providers.web import LONGEST_PAUSE, Answer, Vendor

PRICE, PRICE_WITH_MOBILE = 1.0, 10.0
_OUTCOMES = {
    "NO_MATCH": TraceOutcome.MISS,
    "INVALID_DATAPOINTS": TraceOutcome.INELIGIBLE,
    "INSUFFICIENT_CREDITS": TraceOutcome.NO_CREDITS,
    "RATE_LIMITED": TraceOutcome.RATE_LIMITED,
    "INVALID_API_KEY": TraceOutcome.UNCONFIGURED,
    "ACCOUNT_RESTRICTED": TraceOutcome.UNCONFIGURED,
}
"""By `error_code`; whatever else it says is an error."""
_STATUSES = {"VERIFIED": EmailStatus.VALID, "UNVERIFIED": EmailStatus.RISKY}
_WINDOWS = ("daily", "minute")


class Prospeo(Vendor):
    """People with their work e-mail and mobile, and companies.

    A record costs a credit, one with a mobile ten; nothing is charged for what is not found or was bought
    before (`free_enrichment`). The rates are those of its smallest plan with an API
    (https://help.prospeo.io/en/article/api-rate-limits-19vqf50); the days' limits are left to its own 429.
    """

    name: ClassVar[str] = "prospeo"
    base_url: ClassVar[str] = "https://api.prospeo.io"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.EMAIL, Field.PHONE, Field.PERSON, Field.COMPANY})
    usual_terms: ClassVar[Terms] = Terms(
        rates=(Rate(5, 1), Rate(300, 60)),
        prices=MappingProxyType(
            {
                Field.EMAIL: PRICE,
                Field.PHONE: PRICE_WITH_MOBILE,
                Field.PERSON: PRICE,
                Field.COMPANY: PRICE,
            }
        ),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the header of the key."""
        return {"X-KEY": key}

    def takes(self, ask: Ask) -> bool:
        """Tell whether it sells that type, and there is a profile, a work e-mail, or a name and a company."""
        subject = ask.subject
        company = subject.company_domain or subject.company_name
        match ask.field:
            case Field.COMPANY:
                return bool(company)
            case Field.EMAIL | Field.PHONE | Field.PERSON:
                named = subject.linkedin_url or _work_email(subject) or (subject.name and company)
                return _sells(ask) and bool(named)
            case _:
                return False

    def ask(self, ask: Ask, *, seconds: float) -> Reply:
        """Ask for the one thing; a mobile, which costs ten times as much, only where one is wanted."""
        if ask.field is Field.COMPANY:
            answer = self.send(
                "POST", "/enrich-company", body={"data": _employer(ask.subject)}, seconds=seconds
            )
        else:
            answer = self.send("POST", "/enrich-person", body=_body(ask), seconds=seconds)
        if _is_refusal(answer):
            return self._refused(answer)
        return _READERS[ask.field](ask, answer.object)

    def check(self, *, seconds: float) -> Check:
        """Ask for the account, which is free."""
        answer = self.send("GET", "/account-information", seconds=seconds)
        if _is_refusal(answer):
            outcome = self._refused(answer).outcome
            known = {TraceOutcome.MISS, TraceOutcome.INELIGIBLE}
            return Check(outcome=TraceOutcome.ERROR if outcome in known else outcome)
        left = reading.figure(reading.record(answer.object, "response"), "remaining_credits")
        return self.checked(answer, {} if left is None else {"credits": left})

    def _refused(self, answer: Answer) -> Reply:
        """Read an answer that is none: nearly all of them are a 400 and differ by their code alone."""
        reply = self.standard(answer)
        code = reading.text(answer.body or {}, "error_code")
        outcome = _OUTCOMES.get(code, TraceOutcome.ERROR) if code else reply.outcome
        wait = _until_reset(answer) if outcome is TraceOutcome.RATE_LIMITED else None
        return Reply(outcome=outcome, retry_after=wait if reply.retry_after is None else reply.retry_after)


def _sells(ask: Ask) -> bool:
    """Tell whether a type that is asked for is among what it has: work addresses and mobiles."""
    types = {Field.EMAIL: "work", Field.PHONE: "mobile"}
    return not ask.types or ask.field not in types or types[ask.field] in ask.types


def _body(ask: Ask) -> dict[str, Any]:
    """Ask so that only a record with the value in question is a match, and paid for."""
    return {
        "only_verified_email": ask.field is Field.EMAIL,
        "enrich_mobile": ask.field is Field.PHONE,
        "only_verified_mobile": ask.field is Field.PHONE,
        "data": _datapoints(ask.subject),
    }


def _datapoints(subject: Subject) -> dict[str, str]:
    """Give all that is known, which its documentation asks for."""
    known = {"linkedin_url": subject.linkedin_url, "email": _work_email(subject)}
    if subject.first_name and subject.last_name:
        known |= {"first_name": subject.first_name, "last_name": subject.last_name}
    else:
        known["full_name"] = subject.name
    return {name: value for name, value in known.items() if value} | _employer(subject)


def _employer(subject: Subject) -> dict[str, str]:
    known = {"company_website": subject.company_domain, "company_name": subject.company_name}
    return {name: value for name, value in known.items() if value}


def _work_email(subject: Subject) -> str | None:
    return subject.email if subject.email and email_kind(subject.email) == "work" else None


def _is_refusal(answer: Answer) -> bool:
    return not answer.is_ok or (answer.body or {}).get("error") is True


def _until_reset(answer: Answer) -> float | None:
    """Give the seconds until the window that is used up ends, by its headers; of the second if none is."""
    used_up = (window for window in _WINDOWS if answer.headers.get(f"x-{window}-request-left") == "0")
    window = next(used_up, "second")
    seconds = reading.figure(answer.headers, f"x-{window}-reset-seconds")
    return None if seconds is None else min(max(seconds, 0.0), LONGEST_PAUSE)


def _email(_ask: Ask, body: Mapping[str, Any]) -> Reply:
    person = reading.required(body, "person")
    emails = reading.of_type([_address(reading.record(person, "email"))], ("work",))
    cost = _cost(body, PRICE)
    if not emails:
        return Reply(outcome=TraceOutcome.MISS, cost=cost)
    return Reply(outcome=TraceOutcome.HIT, emails=emails, contact=_contact(body), cost=cost)


def _phone(_ask: Ask, body: Mapping[str, Any]) -> Reply:
    mobile = reading.record(reading.required(body, "person"), "mobile")
    phones = reading.some([_mobile(mobile)])
    cost = _cost(body, PRICE_WITH_MOBILE if mobile.get("revealed") is True or phones else PRICE)
    if not phones:
        return Reply(outcome=TraceOutcome.MISS, cost=cost)
    return Reply(outcome=TraceOutcome.HIT, phones=phones, contact=_contact(body), cost=cost)


def _person(_ask: Ask, body: Mapping[str, Any]) -> Reply:
    reading.required(body, "person")
    contact = _contact(body)
    outcome = TraceOutcome.HIT if contact else TraceOutcome.MISS
    return Reply(outcome=outcome, contact=contact, cost=_cost(body, PRICE))


def _company(_ask: Ask, body: Mapping[str, Any]) -> Reply:
    company = _firm(reading.required(body, "company"), reading.said_by(Prospeo.name))
    outcome = TraceOutcome.HIT if company else TraceOutcome.MISS
    return Reply(outcome=outcome, company=company, cost=_cost(body, PRICE))


def _cost(body: Mapping[str, Any], price: float) -> float:
    return 0.0 if body.get("free_enrichment") is True else price


def _address(email: Mapping[str, Any]) -> FoundEmail | None:
    """Read the address; None of one that is not revealed, which is masked."""
    if email.get("revealed") is False:
        return None
    source = reading.said_by(Prospeo.name)
    status = _STATUSES.get(reading.text(email, "status") or "", EmailStatus.UNKNOWN)
    at = source.at if status is EmailStatus.VALID else None
    return reading.found_email(reading.text(email, "email"), status, source, verified_at=at)


def _mobile(mobile: Mapping[str, Any]) -> FoundPhone | None:
    """Read the number; None of one that is not revealed, which is masked."""
    if mobile.get("revealed") is False:
        return None
    source = reading.said_by(Prospeo.name)
    said = reading.text(mobile, "mobile") or reading.text(mobile, "mobile_international")
    country = reading.text(mobile, "mobile_country_code") or reading.text(mobile, "mobile_country")
    is_verified = reading.text(mobile, "status") == "VERIFIED"
    phone = reading.found_phone(
        said,
        source,
        kind="mobile",
        country=reading.normal(country_code, country),
        status="valid" if is_verified else "unknown",
    )
    return replace(phone, verified_at=source.at) if phone and is_verified else phone


def _contact(body: Mapping[str, Any]) -> FoundContact | None:
    source = reading.said_by(Prospeo.name)
    person = reading.required(body, "person")
    location = reading.record(person, "location")
    jobs = reading.records(person, "job_history")
    job = next((job for job in jobs if job.get("current") is True), {})
    return reading.found_contact(
        source,
        full_name=reading.text(person, "full_name"),
        first_name=reading.text(person, "first_name"),
        last_name=reading.text(person, "last_name"),
        title=reading.text(person, "current_job_title"),
        level=reading.text(job, "seniority"),
        area=next(iter(reading.texts(job, "departments")), None),
        linkedin_url=reading.text(person, "linkedin_url"),
        city=reading.text(location, "city"),
        country=reading.text(location, "country_code") or reading.text(location, "country"),
        company=_firm(reading.record(body, "company"), source),
    )


def _firm(company: Mapping[str, Any], source: Source) -> FoundCompany | None:
    location = reading.record(company, "location")
    return reading.found_company(
        source,
        name=reading.text(company, "name"),
        domain=reading.text(company, "domain") or reading.text(company, "website"),
        linkedin_url=reading.text(company, "linkedin_url"),
        industry=reading.text(company, "industry"),
        employees=reading.figure(company, "employee_count") or reading.text(company, "employee_range"),
        city=reading.text(location, "city"),
        country=reading.text(location, "country_code") or reading.text(location, "country"),
    )


_READERS = {Field.EMAIL: _email, Field.PHONE: _phone, Field.PERSON: _person, Field.COMPANY: _company}
