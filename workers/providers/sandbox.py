"""A provider without a key: documented magic identifiers force each outcome that a client must handle.

The scenario is the part after `sandbox-` in a profile URL (`…/in/sandbox-not-found`), the first name of a
person at sandbox.example, or the local part of an address there. A search for the people of sandbox.example
finds some of them, unless its first title names another scenario (`not found`). The
provider is used only where PROVIDERS_* names it, and only if every profile, e-mail and phone of the request
belongs to the sandbox.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.domain.kinds import TraceOutcome
from app.domain.normal.names.name_keys import name_key
from app.domain.records.subjects import Subject
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers.base import (
    FREE,
    PeopleQuery,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
)

DOMAIN = "sandbox.example"
PROFILE_PREFIX = "https://www.linkedin.com/in/sandbox-"
PHONE = "+12025550143"
SLOW_SECONDS = 3.0
RETRY_AFTER_SECONDS = 1.0
PEOPLE = ("found", "accept-all", "risky", "invalid", "unknown")
"""The scenarios of the people whom a search finds at sandbox.example."""


class Sandbox:
    """The sandbox provider; `SCENARIOS` maps each magic identifier to its outcome."""

    name: ClassVar[str] = "sandbox"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(ProviderField) - {ProviderField.VERIFICATION}
    guesses: ClassVar[bool] = False
    takes_member_ids: ClassVar[bool] = True

    def __init__(self, _access: ProviderSettings) -> None:
        self.terms = FREE

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return ineligible unless the subject is in the sandbox; its `unconfigured` scenario has no key."""
        scenario = _scenario(request)
        if scenario not in SCENARIOS:
            return TraceOutcome.INELIGIBLE
        return TraceOutcome.UNCONFIGURED if scenario == "unconfigured" else None

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Return the response of the scenario."""
        return SCENARIOS[str(_scenario(request))](request, seconds)


def _scenario(request: ProviderRequest) -> str | None:
    """Return the scenario of the request: of a search for people, its first title, or else `found`."""
    if request.query is None:
        return scenario_of(request.subject)
    if request.subject.company_domain != DOMAIN:
        return None
    titles = request.query.criteria.titles
    title = name_key(titles[0]).replace(" ", "-") if titles else ""
    return title if title in SCENARIOS else "found"


def scenario_of(subject: Subject) -> str | None:
    """Return the scenario of the subject; None if it has an identifier outside the sandbox."""
    if not _is_in_sandbox(subject):
        return None
    if subject.linkedin_url:
        return subject.linkedin_url.removeprefix(PROFILE_PREFIX)
    if subject.email:
        return subject.email.partition("@")[0]
    if subject.company_domain == DOMAIN and subject.name:
        return name_key(subject.name).removesuffix(" sandbox").replace(" ", "-")
    return None


def _is_in_sandbox(subject: Subject) -> bool:
    return (
        (not subject.linkedin_url or subject.linkedin_url.startswith(PROFILE_PREFIX))
        and (not subject.email or subject.email.endswith(f"@{DOMAIN}"))
        and subject.phone in {None, PHONE}
    )


def _person(scenario: str, source: Source) -> FoundContact:
    name = scenario.replace("-", " ").title()
    return FoundContact(
        source=source,
        full_name=f"{name} Sandbox",
        first_name=name,
        last_name="Sandbox",
        title="Sample Person",
        linkedin_url=f"{PROFILE_PREFIX}{scenario}",
        country="US",
        company=_company(source),
    )


def _company(source: Source) -> FoundCompany:
    return FoundCompany(source=source, name="Sandbox", domain=DOMAIN, headcount="1-10")


def _people(query: PeopleQuery, source: Source) -> ProviderResponse:
    """Return a page of the people of the sandbox: those of the scenarios that find an address."""
    page = PEOPLE[query.offset : query.offset + query.limit]
    return ProviderResponse(
        outcome=TraceOutcome.HIT if page else TraceOutcome.MISS,
        people=tuple(_person(scenario, source) for scenario in page),
        has_more=len(PEOPLE) > query.offset + query.limit,
        cost=len(page),
    )


def _hit(status: EmailStatus) -> Callable[[ProviderRequest, float], ProviderResponse]:
    def respond(request: ProviderRequest, _seconds: float) -> ProviderResponse:
        scenario = str(_scenario(request))
        now = clock.now()
        source = Source(Sandbox.name, SourceKind.PROVIDER, now)
        if request.query is not None:
            return _people(request.query, source)
        response = ProviderResponse(outcome=TraceOutcome.HIT, contact=_person(scenario, source), cost=1)
        match request.field:
            case ProviderField.EMAIL:
                personal = "work" not in request.types
                email = FoundEmail(
                    email=f"{scenario}@{'mail.example' if personal else DOMAIN}",
                    type="personal" if personal else "work",
                    status=status,
                    source=source,
                    verified_at=now,
                )
                return replace(response, emails=(email,))
            case ProviderField.PHONE:
                kind = "mobile" if "mobile" in request.types else request.types[0]
                phone = FoundPhone(e164=PHONE, type=kind, status="valid", source=source, verified_at=now)
                return replace(response, phones=(phone,))
            case ProviderField.COMPANY:
                return ProviderResponse(outcome=TraceOutcome.HIT, company=_company(source), cost=1)
        return response

    return respond


def _respond_with(
    outcome: TraceOutcome, retry_after: float | None = None
) -> Callable[[ProviderRequest, float], ProviderResponse]:
    return lambda _request, _seconds: ProviderResponse(outcome=outcome, retry_after=retry_after)


def _slow(request: ProviderRequest, seconds: float) -> ProviderResponse:
    time.sleep(min(SLOW_SECONDS, seconds))
    return _respond_found(request, seconds)


def _failing(_request: ProviderRequest, _seconds: float) -> ProviderResponse:
    raise RuntimeError("the sandbox was asked to fail")


def _timeout(_request: ProviderRequest, _seconds: float) -> ProviderResponse:
    raise ProviderTimeout


def _flaky(request: ProviderRequest, seconds: float) -> ProviderResponse:
    return _failing(request, seconds) if request.attempt == 1 else _respond_found(request, seconds)


_respond_found = _hit(EmailStatus.VALID)

SCENARIOS: dict[str, Callable[[ProviderRequest, float], ProviderResponse]] = {
    "found": _respond_found,
    "accept-all": _hit(EmailStatus.ACCEPT_ALL),
    "risky": _hit(EmailStatus.RISKY),
    "invalid": _hit(EmailStatus.INVALID),
    "unknown": _hit(EmailStatus.UNKNOWN),
    "not-found": _respond_with(TraceOutcome.MISS),
    "slow": _slow,
    "flaky": _flaky,
    "failing": _failing,
    "timeout": _timeout,
    "rate-limited": _respond_with(TraceOutcome.RATE_LIMITED, RETRY_AFTER_SECONDS),
    "no-credits": _respond_with(TraceOutcome.NO_CREDITS),
    "unconfigured": _respond_with(TraceOutcome.UNCONFIGURED),
    "suppressed": _respond_with(TraceOutcome.SUPPRESSED),
}
