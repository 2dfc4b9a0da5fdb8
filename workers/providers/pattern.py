"""Guesses an address from the pattern of the domain's verified ones; says so, and asks nobody outside."""

from __future__ import annotations

from typing import ClassVar

from app.domain import names, patterns
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.infra import clock
from app.settings import Access
from workers.providers.base import FREE, Ask, Field, Reply

LEAST_CONFIDENCE = 0.3
"""A guess less likely than this is not worth a credit, whatever status the caller would take."""


class Pattern:
    """The e-mail pattern of a domain, learned from its verified addresses."""

    name: ClassVar[str] = "pattern"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.EMAIL})
    guesses: ClassVar[bool] = True

    def __init__(self, _access: Access) -> None:
        self.terms = FREE

    def refusal(self, ask: Ask) -> TraceOutcome | None:
        """Tell whether a name and a domain with a known pattern are there."""
        subject = ask.subject
        enough = "work" in ask.types and subject.name and subject.company_domain and ask.patterns
        return None if enough else TraceOutcome.INELIGIBLE

    def ask(self, ask: Ask, *, seconds: float) -> Reply:  # noqa: ARG002 -- it takes no time
        """Offer the likeliest address, unverified."""
        name, domain = str(ask.subject.name), str(ask.subject.company_domain)
        try:
            guesses = patterns.candidates(names.parse_name(name), domain, ask.patterns)
        except InvalidValue:  # a name somebody stored, without a letter
            return Reply(outcome=TraceOutcome.INELIGIBLE)
        if not guesses or guesses[0].confidence < LEAST_CONFIDENCE:
            return Reply(outcome=TraceOutcome.MISS)
        best = guesses[0]
        found = FoundEmail(
            email=best.email,
            type="work",
            status=EmailStatus.UNKNOWN,
            reasons=("guessed",),
            confidence=best.confidence,
            source=Source(self.name, SourceKind.PATTERN, clock.now()),
        )
        return Reply(outcome=TraceOutcome.HIT, emails=(found,))
