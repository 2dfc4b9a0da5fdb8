from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from jobs_support import NOW
from structlog.testing import capture_logs

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
from app.domain.subjects import Subject
from workers import verification, waterfall
from workers.providers.base import Ask, Field, ProviderTimeout, Reply

ASK = Ask(field=Field.EMAIL, subject=Subject(email="ada@acme.com"), types=("work",))
SOURCE = Source("one", SourceKind.PROVIDER, NOW)
VALID, UNKNOWN = EmailStatus.VALID, EmailStatus.UNKNOWN


@dataclass
class Scripted:
    """A provider that says what it was told to say."""

    says: Reply | Exception | Callable[[], Reply]
    name: str = "one"
    guesses: bool = False
    asked: list[float] = field(default_factory=list)
    fields: ClassVar[frozenset[Field]] = frozenset(Field)

    def ask(self, _ask: Ask, *, seconds: float) -> Reply:
        self.asked.append(seconds)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says if isinstance(self.says, Reply) else self.says()


def email(address: str = "ada@acme.com", status: EmailStatus = VALID) -> FoundEmail:
    return FoundEmail(email=address, type="work", status=status, source=SOURCE)


def hit(*emails: FoundEmail, cost: int = 1) -> Reply:
    return Reply(outcome=TraceOutcome.HIT, emails=emails, cost=cost)


def says(outcome: TraceOutcome, **more: Any) -> Scripted:
    return Scripted(Reply(outcome=outcome, **more), name=outcome.value)


def good(reply: Reply) -> bool:
    return any(found.status is VALID for found in reply.emails)


def run(*providers: Scripted) -> waterfall.Catch:
    return waterfall.run(ASK, providers, good)  # type: ignore[arg-type]  # a fake's names are no class variables


def outcomes(catch: waterfall.Catch) -> list[str]:
    return [line["outcome"] for line in catch.trace]


def test_nobody_to_ask_is_nothing_found_and_no_failure() -> None:
    assert run() == waterfall.Catch()


def test_the_first_that_is_good_enough_stops() -> None:
    second = Scripted(hit(email("other@acme.com")))

    catch = run(Scripted(hit(email())), second)

    assert [found.email for found in catch.emails] == ["ada@acme.com"]
    assert (outcomes(catch), second.asked, catch.failed) == (["hit"], [], False)


def test_what_is_not_good_enough_is_kept_and_the_next_is_asked() -> None:
    catch = run(Scripted(hit(email(status=UNKNOWN))), Scripted(hit(email("other@acme.com"))))

    assert [(found.email, found.status) for found in catch.emails] == [
        ("ada@acme.com", UNKNOWN),
        ("other@acme.com", VALID),
    ]
    assert outcomes(catch) == ["hit", "hit"]


def test_a_guess_that_is_not_good_enough_is_a_miss_and_not_kept() -> None:
    guesser = Scripted(hit(email(status=UNKNOWN), cost=0), guesses=True)

    catch = run(guesser, says(TraceOutcome.MISS))

    assert (outcomes(catch), catch.emails) == (["miss", "miss"], ())
    assert "status" not in catch.trace[0]


def test_a_guess_that_is_good_enough_is_kept() -> None:
    assert [found.email for found in run(Scripted(hit(email()), guesses=True)).emails] == ["ada@acme.com"]


def test_the_trace_says_who_was_asked_and_what_came_of_it() -> None:
    catch = run(says(TraceOutcome.MISS), Scripted(hit(email(), cost=2), name="two"))

    assert [line | {"latency_ms": 0} for line in catch.trace] == [
        {"provider": "miss", "outcome": "miss", "latency_ms": 0, "cost": 0},
        {"provider": "two", "outcome": "hit", "status": "valid", "latency_ms": 0, "cost": 2},
    ]
    assert all(isinstance(line["latency_ms"], int) for line in catch.trace)


@pytest.mark.parametrize("outcome", sorted(waterfall.FAILURES))
def test_if_everybody_fails_the_silence_does_not_mean_no(outcome: TraceOutcome) -> None:
    assert run(says(outcome)).failed


@pytest.mark.parametrize("outcome", [TraceOutcome.MISS, TraceOutcome.KNOWN_MISS])
def test_one_no_is_an_answer_although_others_failed(outcome: TraceOutcome) -> None:
    assert not run(says(TraceOutcome.ERROR), says(outcome), says(TraceOutcome.TIMEOUT)).failed


def test_a_guessers_miss_is_no_answer() -> None:
    guesser = Scripted(Reply(outcome=TraceOutcome.MISS), guesses=True)

    assert run(guesser, says(TraceOutcome.ERROR)).failed


def test_a_hit_that_does_not_do_is_an_answer_although_others_failed() -> None:
    assert not run(Scripted(hit(email(status=UNKNOWN))), says(TraceOutcome.ERROR)).failed


@pytest.mark.parametrize("outcome", [TraceOutcome.INELIGIBLE, TraceOutcome.UNCONFIGURED])
def test_nobody_who_could_be_asked_is_no_failure(outcome: TraceOutcome) -> None:
    assert not run(says(outcome)).failed


def test_when_to_come_again_is_what_the_first_said_who_said_it() -> None:
    catch = run(
        says(TraceOutcome.ERROR),
        says(TraceOutcome.RATE_LIMITED, retry_after=7.0),
        says(TraceOutcome.RATE_LIMITED, retry_after=60.0),
    )

    assert (catch.failed, catch.retry_after) == (True, 7.0)


def test_a_suppressed_person_stops_it() -> None:
    second = Scripted(hit(email()))

    catch = run(says(TraceOutcome.SUPPRESSED), second)

    assert (catch.suppressed, outcomes(catch), second.asked) == (True, ["suppressed"], [])


def test_a_broken_provider_is_an_error_and_its_text_stays_out_of_the_log() -> None:
    broken = Scripted(LookupError("no ada@acme.com"), name="broken")

    with capture_logs() as events:
        catch = run(broken, Scripted(hit(email())))

    assert outcomes(catch) == ["error", "hit"]
    assert "ada@acme.com" not in repr([event | {"exc_info": None} for event in events])
    assert [(event["event"], event["provider"]) for event in events if event["log_level"] == "warning"] == [
        ("provider failed", "broken")
    ]


def test_a_reply_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def choke(_found: FoundEmail) -> FoundEmail:
        raise ValueError

    monkeypatch.setattr(verification, "assess", choke)

    catch = run(Scripted(hit(email())))

    assert (outcomes(catch), catch.failed) == (["error"], True)


def test_a_provider_that_is_too_slow_is_a_timeout() -> None:
    catch = run(Scripted(ProviderTimeout()), Scripted(hit(email())))

    assert outcomes(catch) == ["timeout", "hit"]


def test_when_the_time_is_over_nobody_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waterfall, "SECONDS_IN_ALL", 0.0)
    provider = Scripted(hit(email()))

    catch = run(provider)

    assert (outcomes(catch), provider.asked, catch.failed) == (["timeout"], [], True)


def test_nobody_gets_more_than_its_share_or_than_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(float(second) for second in range(0, 100, 6))
    monkeypatch.setattr(
        waterfall, "time", type("Clock", (), {"monotonic": staticmethod(lambda: next(times))})
    )
    providers = [says(TraceOutcome.MISS), says(TraceOutcome.MISS)]

    run(*providers)

    assert [provider.asked for provider in providers] == [[9.0], []]


def test_a_quick_provider_gets_its_whole_share() -> None:
    provider = says(TraceOutcome.MISS)
    started = time.monotonic()

    run(provider)

    assert time.monotonic() - started < 1
    assert provider.asked == [waterfall.SECONDS_PER_PROVIDER]


def test_all_time_together_is_shorter_than_a_lease(settings: Any) -> None:
    assert settings.lease_seconds > waterfall.SECONDS_IN_ALL


def test_addresses_are_looked_at_before_they_are_judged() -> None:
    catch = run(Scripted(hit(email("ada@mailinator.com"))), says(TraceOutcome.MISS))

    assert (catch.emails[0].status, outcomes(catch)) == (EmailStatus.RISKY, ["hit", "miss"])


def test_phones_contact_and_company_are_kept_the_first_of_each() -> None:
    phone = FoundPhone(e164="+12025550143", source=SOURCE)
    contacts = [FoundContact(source=SOURCE, full_name=name) for name in ("Ada", "Bob")]
    companies = [FoundCompany(source=SOURCE, name=name) for name in ("Acme", "Other")]

    catch = run(
        *(
            Scripted(Reply(outcome=TraceOutcome.HIT, phones=(phone,), contact=contact, company=company))
            for contact, company in zip(contacts, companies, strict=True)
        )
    )

    assert (catch.phones, catch.contact, catch.company) == ((phone, phone), contacts[0], companies[0])
