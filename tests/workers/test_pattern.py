from __future__ import annotations

import dataclasses

import pytest

from app.domain.findings import EmailStatus, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.patterns import PatternStat
from app.domain.subjects import Subject
from workers.providers.base import Ask, Field
from workers.providers.pattern import Pattern

ADA = Subject(full_name="Ada Lovelace", company_domain="acme.com")
ASK = Ask(field=Field.EMAIL, subject=ADA, types=("work",), patterns=(PatternStat("{first}.{last}", 3),))


def test_it_offers_the_likeliest_address_and_says_that_it_is_a_guess() -> None:
    reply = Pattern().ask(ASK, seconds=1.0)

    (found,) = reply.emails
    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, 0)
    assert (found.email, found.type) == ("ada.lovelace@acme.com", "work")
    assert (found.status, found.reasons, found.verified_at) == (EmailStatus.UNKNOWN, ("guessed",), None)
    assert (found.source.provider, found.source.kind) == ("pattern", SourceKind.PATTERN)
    assert found.confidence is not None
    assert 0 < found.confidence < 1


@pytest.mark.parametrize(
    "change",
    [
        {"types": ("personal",)},
        {"patterns": ()},
        {"subject": Subject(company_domain="acme.com")},
        {"subject": Subject(full_name="Ada Lovelace", company_name="Acme")},
        {"subject": Subject(full_name="…", company_domain="acme.com")},
    ],
)
def test_without_a_name_a_domain_and_a_known_pattern_it_is_not_asked(change: dict[str, object]) -> None:
    reply = Pattern().ask(dataclasses.replace(ASK, **change), seconds=1.0)  # type: ignore[arg-type]

    assert (reply.outcome, reply.emails) == (TraceOutcome.INELIGIBLE, ())


def test_a_name_that_makes_no_address_is_a_miss() -> None:
    subject = dataclasses.replace(ADA, full_name="李明")

    assert Pattern().ask(dataclasses.replace(ASK, subject=subject), seconds=1.0).outcome is TraceOutcome.MISS


def test_it_knows_that_it_only_guesses() -> None:
    assert Pattern.guesses
    assert Pattern.fields == {Field.EMAIL}
