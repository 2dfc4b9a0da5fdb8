"""RocketReach: e-mail, phone, person and company; unfinished lookups are polled for their status.

https://docs.rocketreach.co/reference (API v2, People Lookup, People Lookup Status, Company Lookup, Account)
and https://docs.rocketreach.co/reference/faq on credits. A repeated lookup is charged again; its status is
free. `return_cached_emails` is false, so that addresses arrive only after verification; this has been the
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
from app.domain.providers.rates import Rate
from app.infra import clock
from workers.providers import parsing
from workers.providers.base import (
    CredentialCheck,
    Pending,
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

_PASSING = frozenset({429, 500, 502, 503, 504})
_OPEN = frozenset({"progress", "searching", "not queued"})
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
_PHONE_KINDS = {"mobile": "mobile", "direct dial": "direct"}


class RocketReach(Vendor):
    """Lookups by profile, by name and employer, by e-mail or by phone."""

    name = "rocketreach"
    base_url = "https://api.rocketreach.co/api/v2"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.EMAIL, ProviderField.PHONE, ProviderField.PERSON, ProviderField.COMPANY}
    )
    usual_terms = Terms(
        rates=(Rate(10, 1.0),),
        prices=MappingProxyType(
            {
                ProviderField.EMAIL: 1.0,
                ProviderField.PHONE: 1.0,
                ProviderField.PERSON: 1.0,
                ProviderField.COMPANY: 1.0,
            },
        ),
        poll_timeout=180.0,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"Api-Key": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether the request identifies a person or company."""
        return bool(
            _named_company(request) if request.field is ProviderField.COMPANY else _named_person(request)
        )

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Start the lookup, or poll for its status."""
        if request.field is ProviderField.COMPANY:
            params = _named_company(request)
            return self._company(self.send("GET", "/company/lookup/", seconds=seconds, params=params))
        if request.poll_token is None:
            params = {
                **_named_person(request),
                "lookup_type": LOOKUP_TYPES[request.field],
                "return_cached_emails": "false",
            }
            answer = self.send("GET", "/person/lookup", seconds=seconds, params=params)
            return _read(request, answer.object) if answer.is_ok else self._refused(answer)
        answer = self.send("GET", STATUS_PATH, seconds=seconds, params={"ids": request.poll_token})
        return self._status(request, request.poll_token, answer)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the balance of each credit pool; the text `inf` means unlimited."""
        answer = self.send("GET", "/account/", seconds=seconds)
        if answer.status == 403:  # noqa: PLR2004 -- the call costs nothing, so it is the key
            return CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)
        pools = parsing.records(answer.body or {}, "credit_usage")
        said = {parsing.text(pool, "credit_type"): _remaining(pool) for pool in pools}
        return self.checked(answer, {name: left for name, left in said.items() if name and left is not None})

    def _status(
        self, request: ProviderRequest, ticket: str, answer: VendorResponse
    ) -> ProviderResponse | Pending:
        if answer.status in _PASSING:  # these do not abandon a paid lookup
            return self.retry_poll(ticket, answer, POLL_SECONDS)
        if not answer.is_ok:
            reply = self._refused(answer)
            return (
                ProviderResponse(outcome=TraceOutcome.ERROR) if reply.outcome is TraceOutcome.MISS else reply
            )
        found = parsing.records({"profiles": answer.items}, "profiles")
        profile = next((one for one in found if _id(one) == ticket), None)
        if profile is None:
            raise UnexpectedResponse("ids")
        return _read(request, profile)

    def _company(self, answer: VendorResponse) -> ProviderResponse:
        if not answer.is_ok:
            return self._refused(answer)
        if "name" not in answer.object and "id" not in answer.object:
            raise UnexpectedResponse("name")
        company = _company(answer.object, parsing.source_of(self.name))
        if company is None:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        return ProviderResponse(outcome=TraceOutcome.HIT, company=company, cost=1.0)

    def _refused(self, answer: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome: 403 is a plan without such credits, unless it mentions a permission."""
        if answer.status == 403 and answer.body is not None:  # noqa: PLR2004 -- the status
            detail = (parsing.text(answer.body, "detail") or "").casefold()
            lacks_permission = "permission" in detail or "api key" in detail
            outcome = TraceOutcome.UNCONFIGURED if lacks_permission else TraceOutcome.NO_CREDITS
            return ProviderResponse(outcome=outcome)
        return self.default_response(answer)


def _named_person(request: ProviderRequest) -> dict[str, str]:
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


def _named_company(request: ProviderRequest) -> dict[str, str]:
    if request.subject.company_domain:
        return {"domain": request.subject.company_domain}
    return {"name": request.subject.company_name} if request.subject.company_name else {}


def _id(body: Mapping[str, Any]) -> str | None:
    found = body.get("id")
    return str(found) if isinstance(found, int | str) and not isinstance(found, bool) else None


def _read(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse | Pending:
    """Parse a profile; the person is complete at once, addresses and numbers arrive later."""
    status, ticket = parsing.text(body, "status"), _id(body)
    source = parsing.source_of(RocketReach.name)
    contact = _contact(body, source)
    if request.field is ProviderField.PERSON and contact is not None:
        return ProviderResponse(outcome=TraceOutcome.HIT, contact=contact, cost=1.0)
    if status in _OPEN and ticket is not None:
        return Pending(ticket, POLL_SECONDS)
    if status != "complete":
        raise UnexpectedResponse("status")
    said_emails, said_phones = parsing.records(body, "emails"), parsing.records(body, "phones")
    if request.field is ProviderField.EMAIL:
        cost = float(any(parsing.text(one, "grade") in _PAID_GRADES for one in said_emails))
        emails = parsing.unique_emails(
            (_email(one, source) for one in _best_first(body, said_emails)), request.types
        )
        if emails:
            return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=cost)
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    if request.field is ProviderField.PHONE:
        by_worth = sorted(said_phones, key=lambda one: one.get("recommended") is not True)
        phones = parsing.unique_phones(_phone(one, source) for one in by_worth)
        if phones:
            return ProviderResponse(outcome=TraceOutcome.HIT, phones=phones, contact=contact, cost=1.0)
    return ProviderResponse(outcome=TraceOutcome.MISS)


def _best_first(body: Mapping[str, Any], emails: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("recommended_professional_email", "recommended_personal_email", "recommended_email")
    best = {parsing.text(body, name) for name in names} - {None}
    return sorted(emails, key=lambda one: parsing.text(one, "email") not in best)


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
    found = parsing.found_phone(
        parsing.text(body, "e164") or parsing.text(body, "number"),
        source,
        kind=_PHONE_KINDS.get(parsing.text(body, "type") or "", "other"),
        status="valid" if is_sure else "unknown",
        extension=parsing.text(body, "extension"),
    )
    if found is None or not is_sure:
        return found
    return replace(found, verified_at=_checked_at(body, "last_checked"))


def _checked_at(body: Mapping[str, Any], name: str) -> datetime:
    now = clock.now()
    return min(parsing.time(body, name) or now, now)


def _contact(body: Mapping[str, Any], source: Source) -> FoundContact | None:
    jobs = parsing.records(body, "job_history")
    job = next((one for one in jobs if one.get("is_current") is True), {})
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
