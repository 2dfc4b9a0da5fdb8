"""Guesses addresses from the pattern of the domain's verified ones; says so, and asks nobody outside."""

from __future__ import annotations

from typing import ClassVar

from app.domain.email_patterns import patterns
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.normal import names
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers.base import FREE, ProviderField, ProviderRequest, ProviderResponse

MIN_CONFIDENCE = 0.3
"""A best guess less likely than this is not worth a credit, whatever status the caller would take."""
MIN_OTHER_CONFIDENCE = 0.05
"""A further guess less likely than this is not worth a verification."""
MAX_GUESSES = 3


class Pattern:
    """The e-mail pattern of a domain, learned from its verified addresses."""

    name: ClassVar[str] = "pattern"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.EMAIL})
    guesses: ClassVar[bool] = True

    def __init__(self, _access: ProviderSettings) -> None:
        self.terms = FREE

    def unavailability(self, ask: ProviderRequest) -> TraceOutcome | None:
        """Tell whether a name and a domain with a known pattern are there."""
        subject = ask.subject
        enough = "work" in ask.types and subject.name and subject.company_domain
        return None if enough and patterns.learn(ask.patterns) else TraceOutcome.INELIGIBLE

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse:  # noqa: ARG002 -- it takes no time
        """Offer the likeliest addresses, best first, unverified."""
        name, domain = str(ask.subject.name), str(ask.subject.company_domain)
        try:
            guesses = patterns.candidates(names.parse_name(name), domain, ask.patterns)[:MAX_GUESSES]
        except InvalidValue:  # a name somebody stored, without a letter
            return ProviderResponse(outcome=TraceOutcome.INELIGIBLE)
        if not guesses or guesses[0].confidence < MIN_CONFIDENCE:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        source = Source(self.name, SourceKind.PATTERN, clock.now())
        offered = (_unverified(one, source) for one in guesses if one.confidence >= MIN_OTHER_CONFIDENCE)
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=tuple(offered))


def _unverified(guess: patterns.Guess, source: Source) -> FoundEmail:
    return FoundEmail(
        email=guess.email,
        type="work",
        status=EmailStatus.UNKNOWN,
        reasons=("guessed",),
        confidence=guess.confidence,
        source=source,
    )
