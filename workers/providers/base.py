"""What every provider is: asked for one field of somebody, it answers with values and an outcome.

A provider never raises for what its vendor says; it says it as an outcome. What does raise (a time-out, a
broken answer) the waterfall turns into one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from app.domain.findings import FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.patterns import PatternStat
from app.domain.subjects import Subject


class Field(StrEnum):
    """What can be asked for; one question to a provider is about one of them."""

    EMAIL = "email"
    PHONE = "phone"
    PERSON = "person"
    COMPANY = "company"


class ProviderTimeout(Exception):  # noqa: N818 -- it names what happened
    """The provider did not answer in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question: `types` are those wanted of the field, `patterns` what is known of the domain's e-mails.

    `attempt` counts from 1 how often the job has been tried.
    """

    field: Field
    subject: Subject
    types: tuple[str, ...] = ()
    patterns: tuple[PatternStat, ...] = ()
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the provider said. `cost` is in the provider's own credits, `retry_after` in seconds."""

    outcome: TraceOutcome
    emails: tuple[FoundEmail, ...] = ()
    phones: tuple[FoundPhone, ...] = ()
    contact: FoundContact | None = None
    company: FoundCompany | None = None
    cost: int = 0
    retry_after: float | None = None


class Provider(Protocol):
    """Somebody outside who may know."""

    name: ClassVar[str]
    fields: ClassVar[frozenset[Field]]
    guesses: ClassVar[bool]
    """Whether it only guesses: then its miss is no proof that nobody knows."""

    def ask(self, ask: Ask, *, seconds: float) -> Reply:
        """Answer within so many seconds.

        Raises:
            ProviderTimeout: it took longer.

        """
