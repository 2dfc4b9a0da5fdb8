"""FullEnrich: e-mail and phone from some twenty vendors; one call submits the request, another polls for it.

https://docs.fullenrich.com (API v2), https://docs.fullenrich.com/general/credit. "Not ready" is 400 with
`error.enrichment.in_progress`; 402 carries the partial result; 429 has no rate limit headers. A contact takes
30 to 90 seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.normal.names.names import parse_name
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

POLL_SECONDS = 30.0
THROTTLED_POLL_SECONDS = 60.0
"""From the message of `error.rate.limit`: try again in 1m."""
LABEL = "contact lookup"
"""The name of the enrichment in the vendor's dashboard; it contains no personal data."""
WORK, PERSONAL, PHONES = "contact.work_emails", "contact.personal_emails", "contact.phones"
PRICES = {WORK: 1.0, PERSONAL: 3.0, PHONES: 10.0}

_PAYMENT_REQUIRED = 402
_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})
_IN_PROGRESS = "error.enrichment.in_progress"
_BY_CODE = {
    "error.api.key": TraceOutcome.UNCONFIGURED,
    "error.authorization.not_set": TraceOutcome.UNCONFIGURED,
    "error.authorization.not_bearer": TraceOutcome.UNCONFIGURED,
    "error.rate.limit": TraceOutcome.RATE_LIMITED,
    "error.enrichment.first_name.empty": TraceOutcome.INELIGIBLE,
    "error.enrichment.last_name.empty": TraceOutcome.INELIGIBLE,
    "error.enrichment.domain.empty": TraceOutcome.INELIGIBLE,
}
_UNFINISHED_STATUSES = frozenset({"CREATED", "IN_PROGRESS", "UNKNOWN"})
_WITHOUT_VALUES = {
    "FINISHED": TraceOutcome.MISS,
    "CREDITS_INSUFFICIENT": TraceOutcome.NO_CREDITS,
    "RATE_LIMIT": TraceOutcome.RATE_LIMITED,
    "CANCELED": TraceOutcome.ERROR,
}
_STATUSES = {
    "DELIVERABLE": EmailStatus.VALID,
    "CATCH_ALL": EmailStatus.ACCEPT_ALL,
    "HIGH_PROBABILITY": EmailStatus.RISKY,
    "INVALID": EmailStatus.INVALID,
    "INVALID_DOMAIN": EmailStatus.INVALID,
}
_UNDECIDED = frozenset({EmailStatus.RISKY, EmailStatus.UNKNOWN})
"""Not a verification: another provider may still verify the address."""


class FullEnrich(Vendor):
    """One contact per enrichment, with only the requested fields, because each has its price."""

    name = "fullenrich"
    base_url = "https://app.fullenrich.com/api/v2"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.EMAIL, ProviderField.PHONE})
    default_terms = Terms(
        rates=(Rate(60, 60.0),),
        prices=MappingProxyType(
            {ProviderField.EMAIL: PRICES[WORK] + PRICES[PERSONAL], ProviderField.PHONE: PRICES[PHONES]}
        ),
        poll_timeout=900.0,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether it sells the types (of phones, mobiles) and has a profile or names and company."""
        return bool(_wanted(request)) and _contact_of(request) is not None

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Submit the enrichment, or poll for its result."""
        if request.poll_token is None:
            contact = {**(_contact_of(request) or {}), "enrich_fields": list(_wanted(request))}
            body = {"name": LABEL, "data": [contact]}
            return self._submitted(self.send("POST", "/contact/enrich/bulk", seconds=seconds, body=body))
        path = f"/contact/enrich/bulk/{quote(request.poll_token, safe='')}"
        return self._polled(request, request.poll_token, self.send("GET", path, seconds=seconds))

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the credit balance."""
        response = self.send("GET", "/account/credits", seconds=seconds)
        balance = parsing.figure(response.body or {}, "balance")
        return self.checked(response, {} if balance is None else {"credits": balance})

    def _submitted(self, response: VendorResponse) -> ProviderResponse | Pending:
        if not response.is_ok:
            return self._error_response(response)
        poll_token = parsing.text(response.object, "enrichment_id")
        if poll_token is None:
            raise UnexpectedResponse("enrichment_id")
        return Pending(poll_token, POLL_SECONDS)

    def _polled(
        self, request: ProviderRequest, poll_token: str, response: VendorResponse
    ) -> ProviderResponse | Pending:
        body = response.body or {}
        if response.status in _TEMPORARY_STATUSES:  # these do not abandon a pending request
            is_throttled = response.status == 429  # noqa: PLR2004 -- the status
            seconds = THROTTLED_POLL_SECONDS if is_throttled else POLL_SECONDS
            return self.retry_poll(poll_token, response, seconds)
        if parsing.text(body, "code") == _IN_PROGRESS:
            return Pending(poll_token, POLL_SECONDS)
        if not response.is_ok and not (response.status == _PAYMENT_REQUIRED and "data" in body):
            return self._error_response(response)
        status = "CREDITS_INSUFFICIENT" if not response.is_ok else parsing.text(response.object, "status")
        if status in _UNFINISHED_STATUSES:
            return Pending(poll_token, POLL_SECONDS)
        if status not in _WITHOUT_VALUES:
            raise UnexpectedResponse("status")
        return _reply(request, body, _WITHOUT_VALUES[status])

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome, by its code first; 404 is never a miss."""
        standard = self.default_response(response)
        outcome = _BY_CODE.get(parsing.text(response.body or {}, "code") or "", standard.outcome)
        if outcome is TraceOutcome.MISS:
            return ProviderResponse(outcome=TraceOutcome.ERROR)
        delay = THROTTLED_POLL_SECONDS if outcome is TraceOutcome.RATE_LIMITED else None
        return ProviderResponse(outcome=outcome, retry_after=standard.retry_after or delay)


def _wanted(request: ProviderRequest) -> tuple[str, ...]:
    """Return the vendor's fields to request; each is paid for."""
    if request.field is ProviderField.PHONE:
        return (PHONES,) if request.wants("mobile") else ()
    types = request.types or ("work",)
    sold = (("work", WORK), ("personal", PERSONAL))
    return tuple(field for kind, field in sold if kind in types)


def _contact_of(request: ProviderRequest) -> dict[str, str] | None:
    """Return the person's values sent to the vendor; None if they are too few to identify the person."""
    subject = request.subject
    name = parsing.normal(parse_name, subject.name)
    fields = {
        "first_name": subject.first_name or (name.first if name else None),
        "last_name": subject.last_name or (name.last if name else None),
        "domain": subject.company_domain,
        "company_name": subject.company_name,
        "linkedin_url": subject.linkedin_url,
    }
    has_names = fields["first_name"] and fields["last_name"]
    is_identified = fields["linkedin_url"] or (has_names and (fields["domain"] or fields["company_name"]))
    return {field: value for field, value in fields.items() if value} if is_identified else None


def _reply(
    request: ProviderRequest, body: Mapping[str, Any], without_values: TraceOutcome
) -> ProviderResponse:
    source = parsing.source_of(FullEnrich.name)
    rows = parsing.records(body, "data")
    contact_info = parsing.object_at(rows[0], "contact_info") if rows else {}
    emails = _emails(request, contact_info, source) if request.field is ProviderField.EMAIL else ()
    phones = _phones(contact_info, source) if request.field is ProviderField.PHONE else ()
    charged = parsing.figure(parsing.object_at(body, "cost"), "credits")
    cost = _documented(emails, phones) if charged is None else charged
    if emails or phones:
        contact = _contact(parsing.object_at(rows[0], "profile"), source)
        return ProviderResponse(
            outcome=TraceOutcome.HIT, emails=emails, phones=phones, contact=contact, cost=cost
        )
    return ProviderResponse(outcome=without_values, cost=cost)


def _documented(emails: tuple[FoundEmail, ...], phones: tuple[FoundPhone, ...]) -> float:
    kinds = {email.type for email in emails}
    return (
        (PRICES[WORK] if "work" in kinds else 0.0)
        + (PRICES[PERSONAL] if "personal" in kinds else 0.0)
        + (PRICES[PHONES] if phones else 0.0)
    )


def _emails(
    request: ProviderRequest, contact_info: Mapping[str, Any], source: Source
) -> tuple[FoundEmail, ...]:
    """Parse the addresses, the most probable first."""
    return parsing.unique_emails(
        (
            _email(entry, kind, source)
            for kind in ("work", "personal")
            for entry in (
                parsing.object_at(contact_info, f"most_probable_{kind}_email"),
                *parsing.records(contact_info, f"{kind}_emails"),
            )
        ),
        request.types,
    )


def _email(body: Mapping[str, Any], kind: str, source: Source) -> FoundEmail | None:
    status = _STATUSES.get(parsing.text(body, "status") or "", EmailStatus.UNKNOWN)
    return parsing.found_email(
        parsing.text(body, "email"),
        status,
        source,
        kind=kind,
        verified_at=None if status in _UNDECIDED else clock.now(),
    )


def _phones(contact_info: Mapping[str, Any], source: Source) -> tuple[FoundPhone, ...]:
    """Parse the numbers, all of them mobiles, the most probable first."""
    entries = (
        parsing.object_at(contact_info, "most_probable_phone"),
        *parsing.records(contact_info, "phones"),
    )
    return parsing.unique_phones(
        parsing.found_phone(
            parsing.text(entry, "number"), source, kind="mobile", country=parsing.text(entry, "region")
        )
        for entry in entries
    )


def _contact(profile: Mapping[str, Any], source: Source) -> FoundContact | None:
    job = parsing.object_at(profile, "employment", "current")
    place = parsing.object_at(profile, "location")
    return parsing.found_contact(
        source,
        full_name=parsing.text(profile, "full_name"),
        first_name=parsing.text(profile, "first_name"),
        last_name=parsing.text(profile, "last_name"),
        title=parsing.text(job, "title"),
        linkedin_url=_network_url(profile),
        city=parsing.text(place, "city"),
        country=parsing.text(place, "country_code") or parsing.text(place, "country"),
        company=_company(parsing.object_at(job, "company"), source),
    )


def _company(body: Mapping[str, Any], source: Source) -> FoundCompany | None:
    place = parsing.object_at(body, "locations", "headquarters")
    return parsing.found_company(
        source,
        name=parsing.text(body, "name"),
        domain=parsing.text(body, "domain"),
        linkedin_url=_network_url(body),
        industry=parsing.text(parsing.object_at(body, "industry"), "main_industry"),
        employees=parsing.figure(body, "headcount") or parsing.text(body, "headcount_range"),
        city=parsing.text(place, "city"),
        country=parsing.text(place, "country_code") or parsing.text(place, "country"),
    )


def _network_url(body: Mapping[str, Any]) -> str | None:
    return parsing.text(parsing.object_at(body, "social_profiles", "professional_network"), "url")
