"""LeadMagic, API v1: https://leadmagic.io/docs, https://github.com/LeadMagic/leadmagic-openapi (1.4.35).

Read there: paths, parameters, answers, prices, the errors' shape and the five statuses. Inferred: that digits
alone (`12077523358`, its example of a mobile) begin with the country code, that a refused value (400) is
no fault of the service, and that a plan without an endpoint (403) is for the operator to mend.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_kind
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
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

EMAIL_PRICE, MOBILE_PRICE, VERIFICATION_PRICE = 1.0, 5.0, 0.25
_STATUSES = {
    "valid": EmailStatus.VALID,
    "valid_catch_all": EmailStatus.ACCEPT_ALL,  # seen in use, but its server would take any address
    "catch_all": EmailStatus.ACCEPT_ALL,
    "invalid": EmailStatus.INVALID,
}
"""Whatever else it says (`unknown`, null) is unknown, and not verified."""
_UNPAID = frozenset({"catch_all", "unknown"})
"""Verdicts that cost nothing."""
_NOT_TAKEN = "validation_error"
_BAD_REQUEST, _FORBIDDEN = 400, 403
_MIN_INTERNATIONAL_DIGITS = 11
_NOT_A_DIGIT = re.compile(r"\D")


class LeadMagic(Vendor):
    """Work e-mails by name and company, mobiles by profile or address, verification.

    What is not found costs nothing, and every answer says what it cost. The rate is that of its documented
    refusal; 50 a second is what it takes at once.
    """

    name: ClassVar[str] = "leadmagic"
    base_url: ClassVar[str] = "https://api.leadmagic.io"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.EMAIL, ProviderField.PHONE, ProviderField.VERIFICATION}
    )
    usual_terms: ClassVar[Terms] = Terms(
        rates=(Rate(50, 1), Rate(600, 60)),
        prices=MappingProxyType(
            {
                ProviderField.EMAIL: EMAIL_PRICE,
                ProviderField.PHONE: MOBILE_PRICE,
                ProviderField.VERIFICATION: VERIFICATION_PRICE,
            }
        ),
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the header of the key."""
        return {"X-API-Key": key}

    def supports(self, ask: ProviderRequest) -> bool:
        """Tell whether there is a name and a company for a work e-mail, a profile or address for a mobile."""
        subject = ask.subject
        match ask.field:
            case ProviderField.EMAIL:
                company = subject.company_domain or subject.company_name
                return (not ask.types or "work" in ask.types) and bool(subject.name and company)
            case ProviderField.PHONE:
                wants_mobile = not ask.types or "mobile" in ask.types
                return wants_mobile and bool(subject.linkedin_url or subject.email)
            case ProviderField.VERIFICATION:
                return bool(subject.email)
            case _:
                return False

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Ask the endpoint that sells this one thing."""
        path, sought = _ENDPOINTS[ask.field]
        answer = self.send("POST", path, body=sought(ask.subject), seconds=seconds)
        if not answer.is_ok:
            return self._refused(answer)
        return _READERS[ask.field](ask, answer.object)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Ask for the balance, which is free; credits that are frozen cannot be spent."""
        answer = self.send("GET", "/v1/credits", seconds=seconds)
        if not answer.is_ok:
            outcome = self._refused(answer).outcome
            known = {TraceOutcome.MISS, TraceOutcome.INELIGIBLE}
            return CredentialCheck(outcome=TraceOutcome.ERROR if outcome in known else outcome)
        left = parsing.figure(answer.object, "credits_liquid")
        left = parsing.figure(answer.object, "credits") if left is None else left
        return self.checked(answer, {} if left is None else {"credits": left})

    def _refused(self, answer: VendorResponse) -> ProviderResponse:
        """Read an answer that is none, a list of RFC 9457 problems."""
        reply = self.default_response(answer)
        problem = _problem(answer.body or {})
        code = (parsing.text(problem, "code") or "").lower()
        outcome, wait = reply.outcome, reply.retry_after
        if answer.status == _BAD_REQUEST and code == _NOT_TAKEN:
            outcome = TraceOutcome.INELIGIBLE
        elif answer.status == _FORBIDDEN and answer.body is not None:
            outcome = TraceOutcome.UNCONFIGURED
        elif outcome is TraceOutcome.RATE_LIMITED and wait is None:
            wait = parsing.figure(parsing.object_at(problem, "context"), "retry_after_seconds")
            wait = None if wait is None else min(max(wait, 0.0), MAX_RETRY_AFTER_SECONDS)
        return ProviderResponse(outcome=outcome, retry_after=wait)


def _name_and_company(subject: Subject) -> dict[str, Any]:
    """Name the person, and the company by its domain if that is known: names of companies are ambiguous."""
    company = {"domain": subject.company_domain}
    if not subject.company_domain:
        company = {"company_name": subject.company_name}
    if subject.first_name and subject.last_name:
        return {"first_name": subject.first_name, "last_name": subject.last_name, **company}
    return {"full_name": subject.name, **company}


def _profile_and_address(subject: Subject) -> dict[str, Any]:
    named: dict[str, Any] = {"profile_url": subject.linkedin_url}
    if subject.email:
        named[f"{email_kind(subject.email)}_email"] = subject.email
    return named


def _address(subject: Subject) -> dict[str, Any]:
    return {"email": subject.email}


def _problem(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give the first problem; older answers have only a message, which says nothing to a program."""
    said = body.get("errors")
    first = said[0] if isinstance(said, list) and said else {}
    return first if isinstance(first, dict) else {}


def _email(_ask: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    if not {"email", "status"} & body.keys():
        raise UnexpectedAnswer("email")
    found = _found(parsing.text(body, "email"), parsing.text(body, "status"))
    emails = parsing.unique_emails([found], ("work",))
    if not emails:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=_cost(body, 0.0))
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, cost=_cost(body, EMAIL_PRICE))


def _phone(ask: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    if not {"mobile_number", "credits_consumed", "message"} & body.keys():
        raise UnexpectedAnswer("mobile_number")
    said = parsing.text(body, "mobile_number")
    phone = parsing.found_phone(
        _with_plus(said), parsing.source_of(LeadMagic.name), kind="mobile", country=ask.country
    )
    if phone is None:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=_cost(body, 0.0))
    return ProviderResponse(outcome=TraceOutcome.HIT, phones=(phone,), cost=_cost(body, MOBILE_PRICE))


def _verification(ask: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    """Read a verdict; one that says it does not know is a miss, so that somebody else may tell."""
    word = parsing.text(body, "email_status")
    if word is None:
        raise UnexpectedAnswer("email_status")
    verdict = _found(ask.subject.email, word)
    cost = _cost(body, 0.0 if word.lower() in _UNPAID else VERIFICATION_PRICE)
    if verdict is None or verdict.status is EmailStatus.UNKNOWN:
        return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(verdict,), cost=cost)


def _found(said: str | None, word: str | None) -> FoundEmail | None:
    source = parsing.source_of(LeadMagic.name)
    status = _STATUSES.get((word or "").lower(), EmailStatus.UNKNOWN)
    at = None if status is EmailStatus.UNKNOWN else source.at
    return parsing.found_email(said, status, source, verified_at=at)


def _cost(body: Mapping[str, Any], price: float) -> float:
    consumed = parsing.figure(body, "credits_consumed")
    return price if consumed is None or consumed < 0 else consumed


def _with_plus(said: str | None) -> str | None:
    """Write the plus that it leaves out of numbers with their country code.

    Ten digits may be a national number as well, and are one if they begin with 0: these are read in the
    person's country, or not at all.
    """
    if said is None or said.startswith(("+", "0")):
        return said
    has_country_code = len(_NOT_A_DIGIT.sub("", said)) >= _MIN_INTERNATIONAL_DIGITS
    return f"+{said}" if has_country_code else said


_ENDPOINTS = {
    ProviderField.EMAIL: ("/v1/people/email-finder", _name_and_company),
    ProviderField.PHONE: ("/v1/people/mobile-finder", _profile_and_address),
    ProviderField.VERIFICATION: ("/v1/people/email-validation", _address),
}
_READERS = {
    ProviderField.EMAIL: _email,
    ProviderField.PHONE: _phone,
    ProviderField.VERIFICATION: _verification,
}
