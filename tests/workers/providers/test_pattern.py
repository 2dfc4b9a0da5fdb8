from __future__ import annotations

import dataclasses

import pytest

from app.domain.email_patterns.patterns import PatternStat
from app.domain.findings import EmailStatus, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.pattern import Pattern

ADA = Subject(full_name="Ada Lovelace", company_domain="acme.com")
ASK = ProviderRequest(
    field=ProviderField.EMAIL, subject=ADA, types=("work",), patterns=(PatternStat("{first}.{last}", 3),)
)
DOUBTFUL = (
    PatternStat("{first}.{last}", 3),
    PatternStat("{f}{last}", 2),
    PatternStat("{first}", 1),
    PatternStat("{f}.{last}", 1),
)


@pytest.fixture
def pattern() -> Pattern:
    return Pattern(ProviderSettings())


def test_the_likeliest_address_is_returned_as_a_guess(pattern: Pattern) -> None:
    reply = pattern.call(ASK, seconds=1.0)

    found = reply.emails[0]
    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, 0)
    assert (found.email, found.type) == ("ada.lovelace@acme.com", "work")
    assert (found.status, found.reasons, found.verified_at) == (EmailStatus.UNKNOWN, ("guessed",), None)
    assert (found.source.provider, found.source.kind) == ("pattern", SourceKind.PATTERN)
    assert found.confidence is not None
    assert 0 < found.confidence < 1


def test_up_to_three_addresses_are_returned_likeliest_first(pattern: Pattern) -> None:
    reply = pattern.call(dataclasses.replace(ASK, patterns=DOUBTFUL), seconds=1.0)

    assert [found.email for found in reply.emails] == [
        "ada.lovelace@acme.com",
        "alovelace@acme.com",
        "ada@acme.com",
    ]
    assert {(found.status, found.reasons) for found in reply.emails} == {(EmailStatus.UNKNOWN, ("guessed",))}
    confidences = [found.confidence or 0 for found in reply.emails]
    assert confidences == sorted(confidences, reverse=True)


def test_an_unlikely_further_address_is_not_returned(pattern: Pattern) -> None:
    sure = (PatternStat("{first}.{last}", 20),)

    reply = pattern.call(dataclasses.replace(ASK, patterns=sure), seconds=1.0)

    assert [found.email for found in reply.emails] == ["ada.lovelace@acme.com"]


def test_nothing_is_returned_if_even_the_best_guess_is_unlikely(pattern: Pattern) -> None:
    scattered = (PatternStat("{first}.{last}", 1), PatternStat("{m}", 40))

    reply = pattern.call(dataclasses.replace(ASK, patterns=scattered), seconds=1.0)

    assert (reply.outcome, reply.emails) == (TraceOutcome.MISS, ())


@pytest.mark.parametrize("domain", ["acme.com", None])
def test_addresses_are_guessed_at_the_mail_domain_of_the_company(
    pattern: Pattern, domain: str | None
) -> None:
    subject = Subject(full_name="Ada Lovelace", company_name="Acme", company_domain=domain)
    at_mail = (PatternStat("{first}.{last}", 3, "mail.acme.com"),)
    request = dataclasses.replace(ASK, subject=subject, patterns=at_mail)

    assert pattern.unavailability(request) is None
    assert pattern.call(request, seconds=1.0).emails[0].email == "ada.lovelace@mail.acme.com"


def test_guesses_use_the_spelling_of_the_known_addresses(pattern: Pattern) -> None:
    subject = Subject(full_name="Jürgen Müller", company_domain="acme.de")
    plain = (PatternStat("{first}.{last} umlauts:plain", 3),)

    reply = pattern.call(dataclasses.replace(ASK, subject=subject, patterns=plain), seconds=1.0)

    assert reply.emails[0].email == "jurgen.muller@acme.de"


@pytest.mark.parametrize(
    "change",
    [
        {"types": ("personal",)},
        {"patterns": ()},
        {"patterns": (PatternStat("{m}", 3),)},
        {"subject": Subject(company_domain="acme.com")},
        {"subject": Subject(full_name="Ada Lovelace", company_name="Acme")},
    ],
)
def test_a_request_without_name_domain_or_pattern_is_ineligible(
    pattern: Pattern, change: dict[str, object]
) -> None:
    refusal = pattern.unavailability(dataclasses.replace(ASK, **change))  # type: ignore[arg-type]

    assert refusal is TraceOutcome.INELIGIBLE


def test_a_request_with_name_domain_and_pattern_is_eligible(pattern: Pattern) -> None:
    assert pattern.unavailability(ASK) is None


def test_a_name_without_letters_is_ineligible(pattern: Pattern) -> None:
    subject = dataclasses.replace(ADA, full_name="…")

    reply = pattern.call(dataclasses.replace(ASK, subject=subject), seconds=1.0)

    assert (reply.outcome, reply.emails) == (TraceOutcome.INELIGIBLE, ())


def test_a_name_that_gives_no_address_is_a_miss(pattern: Pattern) -> None:
    subject = dataclasses.replace(ADA, full_name="李明")

    reply = pattern.call(dataclasses.replace(ASK, subject=subject), seconds=1.0)

    assert reply.outcome is TraceOutcome.MISS


def test_the_pattern_provider_is_marked_as_guessing() -> None:
    assert Pattern.guesses
    assert Pattern.fields == {ProviderField.EMAIL}
