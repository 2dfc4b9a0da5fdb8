"""RocketReach: e-mail, phone, person and company; a lookup that takes time is asked for its status.

https://docs.rocketreach.co/reference (API v2, People Lookup, People Lookup Status, Company Lookup, Account)
and https://docs.rocketreach.co/reference/faq on credits. A lookup that is repeated is paid again, its status
is free. Addresses are taken once they are verified: `return_cached_emails` is false, which has been the
vendor's default since September 2026.
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
from app.domain.rates import Rate
from app.infra import clock
from workers.providers import reading
from workers.providers.base import Ask, Check, Field, Pending, Reply, Terms, UnexpectedAnswer
from workers.providers.web import Answer, Vendor

SECONDS_TO_NEXT = 3.0
STATUS_PATH = "/person/checkStatus"
LOOKUP_TYPES = {Field.EMAIL: "standard", Field.PHONE: "phone", Field.PERSON: "enrich"}
"""Each is paid from its own pool; none of them brings what another one is for."""

_PASSING = frozenset({429, 500, 502, 503, 504})
_OPEN = frozenset({"progress", "searching", "not queued"})
_PAID_GRADES = frozenset({"A", "A-", None})
"""A worse one is free of charge; one without a grade counts as paid."""
_SURE_GRADES = frozenset({"A", "A-"})
"""Of a phone: confirmed as valid."""
_STATUSES = {
    "valid": EmailStatus.VALID,
    "invalid": EmailStatus.INVALID,
    "accept-all": EmailStatus.ACCEPT_ALL,
}
_EMAIL_KINDS = {"professional": "work", "personal": "personal", "role-based": "work"}
_REASONS = {"role-based": ("role",), "disposable": ("disposable",)}
_PHONE_KINDS = {"mobile": "mobile", "direct dial": "direct"}


class RocketReach(Vendor):
    """Lookups by profile, by name and employer, by e-mail or by phone."""

    name = "rocketreach"
    base_url = "https://api.rocketreach.co/api/v2"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.EMAIL, Field.PHONE, Field.PERSON, Field.COMPANY})
    usual_terms = Terms(
        rates=(Rate(10, 1.0),),
        prices=MappingProxyType(
            {Field.EMAIL: 1.0, Field.PHONE: 1.0, Field.PERSON: 1.0, Field.COMPANY: 1.0},
        ),
        patience=180.0,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the key."""
        return {"Api-Key": key}

    def takes(self, ask: Ask) -> bool:
        """Tell whether there is one of the ways to name the person or the company."""
        return bool(_named_company(ask) if ask.field is Field.COMPANY else _named_person(ask))

    def ask(self, ask: Ask, *, seconds: float) -> Reply | Pending:
        """Look up, or ask how far the lookup is."""
        if ask.field is Field.COMPANY:
            params = _named_company(ask)
            return self._company(self.send("GET", "/company/lookup/", seconds=seconds, params=params))
        if ask.ticket is None:
            params = {
                **_named_person(ask),
                "lookup_type": LOOKUP_TYPES[ask.field],
                "return_cached_emails": "false",
            }
            answer = self.send("GET", "/person/lookup", seconds=seconds, params=params)
            return _read(ask, answer.object) if answer.is_ok else self._refused(answer)
        answer = self.send("GET", STATUS_PATH, seconds=seconds, params={"ids": ask.ticket})
        return self._status(ask, ask.ticket, answer)

    def check(self, *, seconds: float) -> Check:
        """Ask what is left of each credit; the text `inf` is one without end."""
        answer = self.send("GET", "/account/", seconds=seconds)
        if answer.status == 403:  # noqa: PLR2004 -- asking costs nothing, so that it is the key
            return Check(outcome=TraceOutcome.UNCONFIGURED)
        pools = reading.records(answer.body or {}, "credit_usage")
        said = {reading.text(pool, "credit_type"): _remaining(pool) for pool in pools}
        return self.checked(answer, {name: left for name, left in said.items() if name and left is not None})

    def _status(self, ask: Ask, ticket: str, answer: Answer) -> Reply | Pending:
        if answer.status in _PASSING:  # what is paid for is not given up for that
            return self.later(ticket, answer, SECONDS_TO_NEXT)
        if not answer.is_ok:
            reply = self._refused(answer)
            return Reply(outcome=TraceOutcome.ERROR) if reply.outcome is TraceOutcome.MISS else reply
        found = reading.records({"profiles": answer.items}, "profiles")
        profile = next((one for one in found if _id(one) == ticket), None)
        if profile is None:
            raise UnexpectedAnswer("ids")
        return _read(ask, profile)

    def _company(self, answer: Answer) -> Reply:
        if not answer.is_ok:
            return self._refused(answer)
        if "name" not in answer.object and "id" not in answer.object:
            raise UnexpectedAnswer("name")
        company = _company(answer.object, reading.said_by(self.name))
        if company is None:
            return Reply(outcome=TraceOutcome.MISS)
        return Reply(outcome=TraceOutcome.HIT, company=company, cost=1.0)

    def _refused(self, answer: Answer) -> Reply:
        """Read an error: 403 is a plan without such credits, unless it speaks of a permission."""
        if answer.status == 403 and answer.body is not None:  # noqa: PLR2004 -- the status
            detail = (reading.text(answer.body, "detail") or "").casefold()
            lacks_permission = "permission" in detail or "api key" in detail
            outcome = TraceOutcome.UNCONFIGURED if lacks_permission else TraceOutcome.NO_CREDITS
            return Reply(outcome=outcome)
        return self.standard(answer)


def _named_person(ask: Ask) -> dict[str, str]:
    """Give the one way to name the person that tells most; none if there is none."""
    subject = ask.subject
    employer = subject.company_name or subject.company_domain
    if subject.linkedin_url:
        return {"linkedin_url": subject.linkedin_url}
    if subject.email:
        return {"email": subject.email}
    if subject.name and employer:
        return {"name": subject.name, "current_employer": employer}
    return {"phone": subject.phone} if subject.phone else {}


def _named_company(ask: Ask) -> dict[str, str]:
    if ask.subject.company_domain:
        return {"domain": ask.subject.company_domain}
    return {"name": ask.subject.company_name} if ask.subject.company_name else {}


def _id(body: Mapping[str, Any]) -> str | None:
    found = body.get("id")
    return str(found) if isinstance(found, int | str) and not isinstance(found, bool) else None


def _read(ask: Ask, body: Mapping[str, Any]) -> Reply | Pending:
    """Read a profile; what is said of the person itself is there at once, addresses and numbers later."""
    status, ticket = reading.text(body, "status"), _id(body)
    source = reading.said_by(RocketReach.name)
    contact = _contact(body, source)
    if ask.field is Field.PERSON and contact is not None:
        return Reply(outcome=TraceOutcome.HIT, contact=contact, cost=1.0)
    if status in _OPEN and ticket is not None:
        return Pending(ticket, SECONDS_TO_NEXT)
    if status != "complete":
        raise UnexpectedAnswer("status")
    said_emails, said_phones = reading.records(body, "emails"), reading.records(body, "phones")
    if ask.field is Field.EMAIL:
        cost = float(any(reading.text(one, "grade") in _PAID_GRADES for one in said_emails))
        emails = reading.of_type((_email(one, source) for one in _best_first(body, said_emails)), ask.types)
        if emails:
            return Reply(outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=cost)
        return Reply(outcome=TraceOutcome.MISS, cost=cost)
    if ask.field is Field.PHONE:
        by_worth = sorted(said_phones, key=lambda one: one.get("recommended") is not True)
        phones = reading.some(_phone(one, source) for one in by_worth)
        if phones:
            return Reply(outcome=TraceOutcome.HIT, phones=phones, contact=contact, cost=1.0)
    return Reply(outcome=TraceOutcome.MISS)


def _best_first(body: Mapping[str, Any], emails: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("recommended_professional_email", "recommended_personal_email", "recommended_email")
    best = {reading.text(body, name) for name in names} - {None}
    return sorted(emails, key=lambda one: reading.text(one, "email") not in best)


def _email(body: Mapping[str, Any], source: Source) -> FoundEmail | None:
    label = reading.text(body, "type") or ""
    status = _STATUSES.get(reading.text(body, "smtp_valid") or "", EmailStatus.UNKNOWN)
    is_known = status is not EmailStatus.UNKNOWN
    return reading.found_email(
        reading.text(body, "email"),
        status,
        source,
        kind=_EMAIL_KINDS.get(label),
        reasons=_REASONS.get(label, ()),
        verified_at=(_checked_at(body, "last_validation_check") if is_known else None),
    )


def _phone(body: Mapping[str, Any], source: Source) -> FoundPhone | None:
    is_sure = reading.text(body, "grade") in _SURE_GRADES
    found = reading.found_phone(
        reading.text(body, "e164") or reading.text(body, "number"),
        source,
        kind=_PHONE_KINDS.get(reading.text(body, "type") or "", "other"),
        status="valid" if is_sure else "unknown",
        extension=reading.text(body, "extension"),
    )
    if found is None or not is_sure:
        return found
    return replace(found, verified_at=_checked_at(body, "last_checked"))


def _checked_at(body: Mapping[str, Any], name: str) -> datetime:
    now = clock.now()
    return min(reading.time(body, name) or now, now)


def _contact(body: Mapping[str, Any], source: Source) -> FoundContact | None:
    jobs = reading.records(body, "job_history")
    job = next((one for one in jobs if one.get("is_current") is True), {})
    company = reading.found_company(
        source,
        name=reading.text(body, "current_employer"),
        domain=reading.text(body, "current_employer_domain")
        or reading.text(body, "current_employer_website"),
        linkedin_url=reading.text(body, "current_employer_linkedin_url"),
        industry=reading.text(body, "current_employer_industry"),
    )
    return reading.found_contact(
        source,
        full_name=reading.text(body, "name"),
        title=reading.text(body, "current_title"),
        level=reading.text(job, "highest_level"),
        area=reading.text(job, "department"),
        linkedin_url=reading.text(body, "linkedin_url"),
        city=reading.text(body, "city"),
        country=reading.text(body, "country_code") or reading.text(body, "country"),
        company=company,
    )


def _company(body: Mapping[str, Any], source: Source) -> FoundCompany | None:
    place = reading.record(body, "address")
    return reading.found_company(
        source,
        name=reading.text(body, "name"),
        domain=reading.text(body, "domain") or reading.text(body, "website_domain"),
        linkedin_url=reading.text(reading.record(body, "links"), "linkedin"),
        industry=reading.text(body, "industry"),
        employees=reading.figure(body, "num_employees"),
        city=reading.text(place, "city"),
        country=reading.text(place, "country_code") or reading.text(place, "country"),
    )


def _remaining(pool: Mapping[str, Any]) -> float | None:
    return inf if pool.get("remaining") == "inf" else reading.figure(pool, "remaining")
