"""Dropcontact: e-mail, phone and person; one call submits the request, another polls for the result.

https://developer.dropcontact.com/en/quickstart/, /en/errors/, /en/credits/, /en/rate-limits/ and
/en/reference/enriched-record/. "Not ready" is 200 with `success: false`, as is an unknown request, so polling
ends only at the poll timeout. The qualification of an address has the form `local part@domain`, in the
requested language, which is always English; French terms and accents are accepted too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.normal.texts.text_folding import fold
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

FIRST_POLL_SECONDS = 5.0
POLL_SECONDS = 10.0
"""Most results are ready within a minute; the documented 30 s is too long for an interactive user."""
SUPPRESSED = "do not contact"
_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})

_LOCAL_PARTS: dict[str, tuple[EmailStatus, tuple[str, ...]]] = {
    "nominative": (EmailStatus.VALID, ()),
    "nominatif": (EmailStatus.VALID, ()),
    "catch all": (EmailStatus.ACCEPT_ALL, ()),
    "generic": (EmailStatus.RISKY, ("role",)),
    "generique": (EmailStatus.RISKY, ("role",)),
    "random": (EmailStatus.RISKY, ()),
    "non validated": (EmailStatus.RISKY, ()),
    "invalid": (EmailStatus.INVALID, ()),
    "invalide": (EmailStatus.INVALID, ()),
}
_UNVERIFIED = frozenset({"random", "non validated"})
_INVALID_DOMAINS = frozenset({"invalid domain", "domaine invalide"})
_DISPOSABLE = frozenset({"disposable", "jetable"})
_KINDS = {"pro": "work", "school": "work", "perso": "personal"}


class Dropcontact(Vendor):
    """One record per request; a credit is charged only for an address found or an address sent."""

    name = "dropcontact"
    base_url = "https://api.dropcontact.com/v1"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.EMAIL, ProviderField.PHONE, ProviderField.PERSON}
    )
    default_terms = Terms(
        rates=(Rate(60, 1.0),),
        prices=MappingProxyType(dict.fromkeys(fields, 1.0)),
        poll_timeout=300.0,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the access token."""
        return {"X-Access-Token": key}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether there is a profile, a name and company or, except for e-mails, an address.

        Of e-mails it finds only work addresses.
        """
        if request.field is ProviderField.EMAIL and not request.wants("work"):
            return False
        return _is_named(request) or _is_sent_an_address(request)

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Submit the record, or poll for its result."""
        if request.poll_token is None:
            body = {"data": [_record(request)], "language": "en"}
            return self._submitted(self.send("POST", "/enrich/all", seconds=seconds, body=body))
        path = f"/enrich/all/{quote(request.poll_token, safe='')}"
        return self._polled(request, request.poll_token, self.send("GET", path, seconds=seconds))

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the credit balance."""
        response = self.send("GET", "/account/credits", seconds=seconds)
        if response.status == 403:  # noqa: PLR2004 -- the balance costs nothing, so it is the key
            return CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)
        credits_left = parsing.figure(response.body or {}, "credits")
        return self.checked(response, {} if credits_left is None else {"credits": credits_left})

    def _submitted(self, response: VendorResponse) -> ProviderResponse | Pending:
        if not response.is_ok:
            return self._error_response(response)
        if response.object.get("error") is True:
            return ProviderResponse(outcome=TraceOutcome.ERROR)
        poll_token = parsing.text(response.object, "request_id")
        if poll_token is None:
            raise UnexpectedResponse("request_id")
        return Pending(poll_token, FIRST_POLL_SECONDS)

    def _polled(
        self, request: ProviderRequest, poll_token: str, response: VendorResponse
    ) -> ProviderResponse | Pending:
        if response.status in _TEMPORARY_STATUSES:  # these do not abandon a pending request
            return self.retry_poll(poll_token, response, POLL_SECONDS)
        if not response.is_ok:
            return self._error_response(response)
        body = response.object
        if body.get("error") is True:
            return ProviderResponse(outcome=TraceOutcome.ERROR)
        if body.get("success") is False:
            return Pending(poll_token, POLL_SECONDS)
        rows = parsing.records(body, "data")
        if not rows:
            raise UnexpectedResponse("data")
        return _reply(request, rows[0])

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome: 403 is no credits unless it mentions the key; 404 is never a miss."""
        reply = self.default_response(response)
        if response.status == 403 and response.body is not None:  # noqa: PLR2004 -- the status
            reason = fold(
                parsing.text(response.body, "reason") or parsing.text(response.body, "detail") or ""
            )
            mentions_key = "credit" not in reason and not {"key", "token"}.isdisjoint(reason.split())
            return ProviderResponse(
                outcome=TraceOutcome.UNCONFIGURED if mentions_key else TraceOutcome.NO_CREDITS
            )
        return ProviderResponse(outcome=TraceOutcome.ERROR) if reply.outcome is TraceOutcome.MISS else reply


def _is_named(request: ProviderRequest) -> bool:
    subject = request.subject
    return bool(subject.linkedin_url or (subject.name and (subject.company_name or subject.company_domain)))


def _is_sent_an_address(request: ProviderRequest) -> bool:
    """Return whether the address is sent: it always costs a credit, so only without other identifiers."""
    return (
        request.field is not ProviderField.EMAIL
        and request.subject.email is not None
        and not _is_named(request)
    )


def _record(request: ProviderRequest) -> dict[str, str]:
    subject = request.subject
    names = {"first_name": subject.first_name, "last_name": subject.last_name}
    if not (subject.first_name and subject.last_name):
        names = {"full_name": subject.name}
    sent = {
        **names,
        "email": subject.email if _is_sent_an_address(request) else None,
        "linkedin": subject.linkedin_url,
        "company": subject.company_name,
        "website": subject.company_domain,
    }
    return {name: value for name, value in sent.items() if value}


def _reply(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    source = parsing.source_of(Dropcontact.name)
    emails_in_record = parsing.records(body, "email")
    if any(_parts(entry)[0] == SUPPRESSED for entry in emails_in_record):
        return ProviderResponse(outcome=TraceOutcome.SUPPRESSED, cost=float(_is_sent_an_address(request)))
    cost = 1.0 if emails_in_record or _is_sent_an_address(request) else 0.0
    contact = parsing.without_echo(_contact(body, source), request)
    emails = parsing.unique_emails((_email(entry, source) for entry in emails_in_record), request.types)
    phones = parsing.unique_phones(_phone(body, name, source) for name in ("mobile_phone", "phone"))
    if request.field is ProviderField.EMAIL and emails:
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=cost)
    if request.field is ProviderField.PHONE and phones:
        return ProviderResponse(outcome=TraceOutcome.HIT, phones=phones, contact=contact, cost=cost)
    if request.field is ProviderField.PERSON and contact is not None and _has_news(request, body):
        return ProviderResponse(outcome=TraceOutcome.HIT, contact=contact, cost=cost)
    return ProviderResponse(outcome=TraceOutcome.MISS, cost=cost)


def _has_news(request: ProviderRequest, body: Mapping[str, Any]) -> bool:
    """Return whether the record adds to the request: values unknown to the vendor are echoed."""
    fields = ["job", *([] if request.subject.linkedin_url else ["linkedin"])]
    fields += [] if request.subject.name else ["full_name", "last_name"]
    return any(parsing.text(body, name) for name in fields)


def _parts(body: Mapping[str, Any]) -> tuple[str, str]:
    local, _, domain = (parsing.text(body, "qualification") or "").partition("@")
    return fold(local), fold(domain)


def _email(body: Mapping[str, Any], source: Source) -> FoundEmail | None:
    local, domain = _parts(body)
    status, reasons = _LOCAL_PARTS.get(local, (EmailStatus.UNKNOWN, ()))
    if domain in _INVALID_DOMAINS:
        status = EmailStatus.INVALID
    elif domain in _DISPOSABLE:
        reasons = (*reasons, "disposable")
        status = EmailStatus.RISKY if status is not EmailStatus.INVALID else status
    is_verified = status is not EmailStatus.UNKNOWN and local not in _UNVERIFIED
    return parsing.found_email(
        parsing.text(body, "email"),
        status,
        source,
        kind=_KINDS.get(domain),
        reasons=reasons,
        verified_at=clock.now() if is_verified or domain in _INVALID_DOMAINS else None,
    )


def _phone(body: Mapping[str, Any], name: str, source: Source) -> FoundPhone | None:
    kind = "mobile" if name == "mobile_phone" else "work"
    country = parsing.text(body, "country")
    return parsing.found_phone(parsing.text(body, name), source, kind=kind, country=country)


def _contact(body: Mapping[str, Any], source: Source) -> FoundContact | None:
    return parsing.found_contact(
        source,
        full_name=parsing.text(body, "full_name"),
        first_name=parsing.text(body, "first_name"),
        last_name=parsing.text(body, "last_name"),
        title=parsing.text(body, "job"),
        level=parsing.text(body, "job_level"),
        area=parsing.text(body, "job_function"),
        linkedin_url=parsing.text(body, "linkedin"),
        country=parsing.text(body, "country"),
        company=_company(body, source),
    )


def _company(body: Mapping[str, Any], source: Source) -> FoundCompany | None:
    return parsing.found_company(
        source,
        name=parsing.text(body, "company"),
        domain=parsing.text(body, "website"),
        linkedin_url=parsing.text(body, "company_linkedin"),
        industry=parsing.text(body, "industry") or parsing.text(body, "naf5_des"),
        employees=parsing.figure(body, "employee_count") or parsing.text(body, "nb_employees"),
        city=parsing.text(body, "siret_city"),
    )
