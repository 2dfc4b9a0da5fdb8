"""FullEnrich: e-mail and phone out of some twenty vendors, ordered with one call and fetched with another.

https://docs.fullenrich.com (API v2), https://docs.fullenrich.com/general/credit. Not ready is told with 400
`error.enrichment.in_progress`; 402 brings the result so far; 429 comes without headers. A contact takes 30 to
90 seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.names import parse_name
from app.domain.rates import Rate
from app.infra import clock
from workers.providers import reading
from workers.providers.base import Ask, Check, Field, Pending, Reply, Terms, UnexpectedAnswer
from workers.providers.web import Answer, Vendor

SECONDS_TO_NEXT = 30.0
SECONDS_TO_CALM = 60.0
"""What `error.rate.limit` says in words: try again in 1m."""
LABEL = "contact lookup"
"""What the enrichment is called in the vendor's dashboard; nobody's name."""
WORK, PERSONAL, PHONES = "contact.work_emails", "contact.personal_emails", "contact.phones"
PRICES = {WORK: 1.0, PERSONAL: 3.0, PHONES: 10.0}

_PAYMENT_REQUIRED = 402
_PASSING = frozenset({429, 500, 502, 503, 504})
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
_OPEN = frozenset({"CREATED", "IN_PROGRESS", "UNKNOWN"})
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
"""Likely is not verified: somebody else may still tell."""


class FullEnrich(Vendor):
    """One contact per enrichment, and of it only the fields asked for, as each has its price."""

    name = "fullenrich"
    base_url = "https://app.fullenrich.com/api/v2"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.EMAIL, Field.PHONE})
    usual_terms = Terms(
        rates=(Rate(60, 60.0),),
        prices=MappingProxyType({Field.EMAIL: PRICES[WORK] + PRICES[PERSONAL], Field.PHONE: PRICES[PHONES]}),
        patience=900.0,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def takes(self, ask: Ask) -> bool:
        """Tell whether it sells this (of phones mobiles only), by profile or by names and company."""
        return bool(_wanted(ask)) and _contact_of(ask) is not None

    def ask(self, ask: Ask, *, seconds: float) -> Reply | Pending:
        """Order the enrichment, or fetch what became of it."""
        if ask.ticket is None:
            contact = {**(_contact_of(ask) or {}), "enrich_fields": list(_wanted(ask))}
            body = {"name": LABEL, "data": [contact]}
            return self._ordered(self.send("POST", "/contact/enrich/bulk", seconds=seconds, body=body))
        path = f"/contact/enrich/bulk/{quote(ask.ticket, safe='')}"
        return self._fetched(ask, ask.ticket, self.send("GET", path, seconds=seconds))

    def check(self, *, seconds: float) -> Check:
        """Ask how many credits are left."""
        answer = self.send("GET", "/account/credits", seconds=seconds)
        balance = reading.figure(answer.body or {}, "balance")
        return self.checked(answer, {} if balance is None else {"credits": balance})

    def _ordered(self, answer: Answer) -> Reply | Pending:
        if not answer.is_ok:
            return self._refused(answer)
        ticket = reading.text(answer.object, "enrichment_id")
        if ticket is None:
            raise UnexpectedAnswer("enrichment_id")
        return Pending(ticket, SECONDS_TO_NEXT)

    def _fetched(self, ask: Ask, ticket: str, answer: Answer) -> Reply | Pending:
        body = answer.body or {}
        if answer.status in _PASSING:  # what is ordered is not given up for that
            is_calm = answer.status != 429  # noqa: PLR2004 -- the status
            return self.later(ticket, answer, SECONDS_TO_NEXT if is_calm else SECONDS_TO_CALM)
        if reading.text(body, "code") == _IN_PROGRESS:
            return Pending(ticket, SECONDS_TO_NEXT)
        if not answer.is_ok and not (answer.status == _PAYMENT_REQUIRED and "data" in body):
            return self._refused(answer)
        status = "CREDITS_INSUFFICIENT" if not answer.is_ok else reading.text(answer.object, "status")
        if status in _OPEN:
            return Pending(ticket, SECONDS_TO_NEXT)
        if status not in _WITHOUT_VALUES:
            raise UnexpectedAnswer("status")
        return _reply(ask, body, _WITHOUT_VALUES[status])

    def _refused(self, answer: Answer) -> Reply:
        """Read an error by its code first; nothing found is never 404."""
        standard = self.standard(answer)
        outcome = _BY_CODE.get(reading.text(answer.body or {}, "code") or "", standard.outcome)
        if outcome is TraceOutcome.MISS:
            return Reply(outcome=TraceOutcome.ERROR)
        calm = SECONDS_TO_CALM if outcome is TraceOutcome.RATE_LIMITED else None
        return Reply(outcome=outcome, retry_after=standard.retry_after or calm)


def _wanted(ask: Ask) -> tuple[str, ...]:
    """Give what to order, and so to pay for."""
    if ask.field is Field.PHONE:
        return (PHONES,) if not ask.types or "mobile" in ask.types else ()
    types = ask.types or ("work",)
    sold = (("work", WORK), ("personal", PERSONAL))
    return tuple(field for kind, field in sold if kind in types)


def _contact_of(ask: Ask) -> dict[str, str] | None:
    """Give what the vendor is told of the person; None if that is too little."""
    subject = ask.subject
    name = reading.normal(parse_name, subject.name)
    told = {
        "first_name": subject.first_name or (name.first if name else None),
        "last_name": subject.last_name or (name.last if name else None),
        "domain": subject.company_domain,
        "company_name": subject.company_name,
        "linkedin_url": subject.linkedin_url,
    }
    has_names = told["first_name"] and told["last_name"]
    enough = told["linkedin_url"] or (has_names and (told["domain"] or told["company_name"]))
    return {field: value for field, value in told.items() if value} if enough else None


def _reply(ask: Ask, body: Mapping[str, Any], without_values: TraceOutcome) -> Reply:
    source = reading.said_by(FullEnrich.name)
    rows = reading.records(body, "data")
    found = reading.record(rows[0], "contact_info") if rows else {}
    emails = _emails(ask, found, source) if ask.field is Field.EMAIL else ()
    phones = _phones(found, source) if ask.field is Field.PHONE else ()
    told = reading.figure(reading.record(body, "cost"), "credits")
    cost = _documented(emails, phones) if told is None else told
    if emails or phones:
        contact = _contact(reading.record(rows[0], "profile"), source)
        return Reply(outcome=TraceOutcome.HIT, emails=emails, phones=phones, contact=contact, cost=cost)
    return Reply(outcome=without_values, cost=cost)


def _documented(emails: tuple[FoundEmail, ...], phones: tuple[FoundPhone, ...]) -> float:
    kinds = {email.type for email in emails}
    return (
        (PRICES[WORK] if "work" in kinds else 0.0)
        + (PRICES[PERSONAL] if "personal" in kinds else 0.0)
        + (PRICES[PHONES] if phones else 0.0)
    )


def _emails(ask: Ask, found: Mapping[str, Any], source: Source) -> tuple[FoundEmail, ...]:
    """Read the addresses, the most probable first."""
    return reading.of_type(
        (
            _email(one, kind, source)
            for kind in ("work", "personal")
            for one in (
                reading.record(found, f"most_probable_{kind}_email"),
                *reading.records(found, f"{kind}_emails"),
            )
        ),
        ask.types,
    )


def _email(body: Mapping[str, Any], kind: str, source: Source) -> FoundEmail | None:
    status = _STATUSES.get(reading.text(body, "status") or "", EmailStatus.UNKNOWN)
    return reading.found_email(
        reading.text(body, "email"),
        status,
        source,
        kind=kind,
        verified_at=None if status in _UNDECIDED else clock.now(),
    )


def _phones(found: Mapping[str, Any], source: Source) -> tuple[FoundPhone, ...]:
    """Read the numbers, which are mobiles, the most probable first."""
    said = (reading.record(found, "most_probable_phone"), *reading.records(found, "phones"))
    return reading.some(
        reading.found_phone(
            reading.text(one, "number"), source, kind="mobile", country=reading.text(one, "region")
        )
        for one in said
    )


def _contact(profile: Mapping[str, Any], source: Source) -> FoundContact | None:
    job = reading.record(profile, "employment", "current")
    place = reading.record(profile, "location")
    return reading.found_contact(
        source,
        full_name=reading.text(profile, "full_name"),
        first_name=reading.text(profile, "first_name"),
        last_name=reading.text(profile, "last_name"),
        title=reading.text(job, "title"),
        linkedin_url=_network_url(profile),
        city=reading.text(place, "city"),
        country=reading.text(place, "country_code") or reading.text(place, "country"),
        company=_company(reading.record(job, "company"), source),
    )


def _company(body: Mapping[str, Any], source: Source) -> FoundCompany | None:
    place = reading.record(body, "locations", "headquarters")
    return reading.found_company(
        source,
        name=reading.text(body, "name"),
        domain=reading.text(body, "domain"),
        linkedin_url=_network_url(body),
        industry=reading.text(reading.record(body, "industry"), "main_industry"),
        employees=reading.figure(body, "headcount") or reading.text(body, "headcount_range"),
        city=reading.text(place, "city"),
        country=reading.text(place, "country_code") or reading.text(place, "country"),
    )


def _network_url(body: Mapping[str, Any]) -> str | None:
    return reading.text(reading.record(body, "social_profiles", "professional_network"), "url")
