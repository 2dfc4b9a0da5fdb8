"""Guesses addresses from the pattern and mail domains of a company, without any external call."""

from __future__ import annotations

from typing import ClassVar

from app.domain.email_patterns import mail_domains, patterns
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.normal.names import names
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers.base import FREE, ProviderField, ProviderRequest, ProviderResponse

MIN_CONFIDENCE = 0.05
"""Confidence below which a guess is not worth a verification."""
MAX_GUESSES = 3


class Pattern:
    """The e-mail pattern of a company, learned from its verified addresses."""

    name: ClassVar[str] = "pattern"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.EMAIL})
    guesses: ClassVar[bool] = True
    takes_member_ids: ClassVar[bool] = False

    def __init__(self, _access: ProviderSettings) -> None:
        self.terms = FREE

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return ineligible unless the request has a name and a company with a known pattern and domain."""
        subject = request.subject
        has_domain = subject.company_domain or any(stat.domain for stat in request.patterns)
        is_eligible = "work" in request.types and subject.name and has_domain
        return None if is_eligible and patterns.learn(request.patterns) else TraceOutcome.INELIGIBLE

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:  # noqa: ARG002 -- makes no call
        """Return the likeliest addresses, best first, unverified."""
        subject = request.subject
        try:
            name = names.parse_name(str(subject.name))
        except InvalidValue:  # a stored name without a letter, or no person's
            return ProviderResponse(outcome=TraceOutcome.INELIGIBLE)
        guesses = mail_domains.guesses(name, subject.company_domain, request.patterns)[:MAX_GUESSES]
        source = Source(self.name, SourceKind.PATTERN, clock.now())
        emails = [_unverified(guess, source) for guess in guesses if guess.confidence >= MIN_CONFIDENCE]
        outcome = TraceOutcome.HIT if emails else TraceOutcome.MISS
        return ProviderResponse(outcome=outcome, emails=tuple(emails))


def _unverified(guess: patterns.Guess, source: Source) -> FoundEmail:
    return FoundEmail(
        email=guess.email,
        type="work",
        status=EmailStatus.UNKNOWN,
        reasons=("guessed",),
        confidence=guess.confidence,
        source=source,
    )
