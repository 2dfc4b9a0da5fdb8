from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest
from fake_providers import FakeProvider
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
from app.domain.kinds import PROVIDER_FAILURES, TraceOutcome
from app.domain.providers import throttles
from app.domain.records.subjects import Subject
from app.settings import Settings
from workers.providers.base import (
    Pending,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
)
from workers.resolve import provider_call, waterfall
from workers.resolve.provider_call import CallRefused, CallResult, StartedCall

ASK = ProviderRequest(field=ProviderField.EMAIL, subject=Subject(email="ada@acme.com"), types=("work",))
AT = "2026-11-20T09:30:00.000Z"
SOURCE = Source("one", SourceKind.PROVIDER, NOW)
VALID, UNKNOWN = EmailStatus.VALID, EmailStatus.UNKNOWN


@dataclass
class AllowAllGateway:
    """A call gateway that permits every call unless `begins` says otherwise, and records verdicts."""

    begins: dict[str, CallRefused | StartedCall | CallResult] = field(default_factory=dict)
    timed_out: frozenset[str] = frozenset()
    verdicts_recorded: list[tuple[str, ProviderResponse]] = field(default_factory=list)

    def begin(self, provider: Provider, request: ProviderRequest) -> CallRefused | StartedCall | CallResult:
        return self.begins.get(provider.name, StartedCall(request, NOW, "cal_1"))

    def wait(self, provider: Provider, _started: StartedCall, _pending: Pending) -> CallResult | None:
        return (
            CallResult(ProviderResponse(outcome=TraceOutcome.TIMEOUT), NOW)
            if provider.name in self.timed_out
            else None
        )

    def end(
        self, _provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        return CallResult(reply, started.asked_at, milliseconds, started.call_id)

    def record_verdict(self, heard: CallResult, reply: ProviderResponse) -> None:
        self.verdicts_recorded.append((str(heard.call_id), reply))


def email(address: str = "ada@acme.com", status: EmailStatus = VALID) -> FoundEmail:
    return FoundEmail(email=address, type="work", status=status, source=SOURCE)


def hit(*emails: FoundEmail, cost: float = 1) -> ProviderResponse:
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=emails, cost=cost)


def replying(outcome: TraceOutcome, **more: Any) -> FakeProvider:
    return FakeProvider(ProviderResponse(outcome=outcome, **more), name=outcome.value)


def good(reply: ProviderResponse) -> bool:
    return any(found.status is VALID for found in reply.emails)


def run(
    *providers: FakeProvider, verifiers: tuple[FakeProvider, ...] = (), gateway: AllowAllGateway | None = None
) -> waterfall.WaterfallResult:
    return waterfall.run(ASK, providers, good, gateway=gateway or AllowAllGateway(), verifiers=verifiers)  # type: ignore[arg-type]  # a fake's names are not class variables


def verifier(verdicts: dict[str, EmailStatus], **more: Any) -> FakeProvider:
    """Return a verifier with verdicts for some addresses."""

    def say(request: ProviderRequest) -> ProviderResponse:
        address = str(request.subject.email)
        if address not in verdicts:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        found = FoundEmail(
            email=address, type="work", status=verdicts[address], source=SOURCE, verified_at=NOW
        )
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=(found,), cost=0.5)

    return FakeProvider(say, name="verifier", **more)


def outcomes(result: waterfall.WaterfallResult) -> list[str]:
    return [line["outcome"] for line in result.trace]


def test_no_provider_is_a_miss_and_not_a_failure() -> None:
    assert run() == waterfall.WaterfallResult()


def test_the_first_good_enough_response_ends_the_waterfall() -> None:
    second = FakeProvider(hit(email("other@acme.com")))

    result = run(FakeProvider(hit(email())), second)

    assert [found.email for found in result.emails] == ["ada@acme.com"]
    assert (outcomes(result), second.requests, result.failed) == (["hit"], [], False)


def test_an_insufficient_value_is_kept_and_the_next_provider_called() -> None:
    result = run(FakeProvider(hit(email(status=UNKNOWN))), FakeProvider(hit(email("other@acme.com"))))

    assert [(found.email, found.status) for found in result.emails] == [
        ("ada@acme.com", UNKNOWN),
        ("other@acme.com", VALID),
    ]
    assert outcomes(result) == ["hit", "hit"]


def test_an_insufficient_guess_is_a_miss_and_is_dropped() -> None:
    guesser = FakeProvider(hit(email(status=UNKNOWN), cost=0), guesses=True)

    result = run(guesser, replying(TraceOutcome.MISS))

    assert (outcomes(result), result.emails) == (["miss", "miss"], ())
    assert "status" not in result.trace[0]


def test_a_sufficient_guess_is_kept() -> None:
    assert [found.email for found in run(FakeProvider(hit(email()), guesses=True)).emails] == ["ada@acme.com"]


def test_the_trace_has_every_call_with_its_outcome() -> None:
    result = run(replying(TraceOutcome.MISS), FakeProvider(hit(email(), cost=2), name="two"))

    assert [line | {"latency_ms": 0} for line in result.trace] == [
        {"provider": "miss", "field": "email", "outcome": "miss", "latency_ms": 0, "cost": 0, "at": AT},
        {
            "provider": "two",
            "field": "email",
            "outcome": "hit",
            "status": "valid",
            "latency_ms": 0,
            "cost": 2,
            "at": AT,
        },
    ]
    assert all(isinstance(line["latency_ms"], int) for line in result.trace)


@pytest.mark.parametrize("outcome", sorted(PROVIDER_FAILURES))
def test_the_waterfall_fails_if_every_provider_fails(outcome: TraceOutcome) -> None:
    assert run(replying(outcome)).failed


@pytest.mark.parametrize("outcome", [TraceOutcome.MISS, TraceOutcome.KNOWN_MISS])
def test_one_miss_is_definitive_even_if_others_failed(outcome: TraceOutcome) -> None:
    assert not run(replying(TraceOutcome.ERROR), replying(outcome), replying(TraceOutcome.TIMEOUT)).failed


def test_a_miss_of_a_guessing_provider_is_not_definitive() -> None:
    guesser = FakeProvider(ProviderResponse(outcome=TraceOutcome.MISS), guesses=True)

    assert run(guesser, replying(TraceOutcome.ERROR)).failed


def test_a_guessing_provider_that_fails_is_a_failure() -> None:
    guesser = FakeProvider(ProviderResponse(outcome=TraceOutcome.ERROR), guesses=True)

    result = run(guesser)

    assert (outcomes(result), result.failed) == (["error"], True)


def test_an_insufficient_hit_is_definitive_even_if_others_failed() -> None:
    assert not run(FakeProvider(hit(email(status=UNKNOWN))), replying(TraceOutcome.ERROR)).failed


@pytest.mark.parametrize("outcome", [TraceOutcome.INELIGIBLE, TraceOutcome.COST_CEILING])
def test_providers_that_cannot_be_called_are_not_a_failure(outcome: TraceOutcome) -> None:
    assert not run(replying(outcome)).failed


@pytest.mark.parametrize(("third", "after"), [(TraceOutcome.RATE_LIMITED, 7.0), (TraceOutcome.ERROR, None)])
def test_the_retry_is_due_when_the_first_provider_can_be_called(
    third: TraceOutcome, after: float | None
) -> None:
    result = run(
        replying(TraceOutcome.RATE_LIMITED, retry_after=60.0),
        replying(TraceOutcome.RATE_LIMITED, retry_after=7.0),
        replying(third, retry_after=90.0 if third is TraceOutcome.RATE_LIMITED else None),
    )

    assert (result.failed, result.retry_after) == (True, after)


def test_a_rejected_key_is_a_failure_and_a_missing_key_is_not() -> None:
    missing = FakeProvider(hit(email()), unavailable=TraceOutcome.UNCONFIGURED)

    assert run(replying(TraceOutcome.UNCONFIGURED)).failed
    assert not run(missing).failed


def test_a_spent_budget_is_worth_a_retry_and_a_cost_ceiling_is_not() -> None:
    used_up = AllowAllGateway(begins={"one": CallRefused(TraceOutcome.COST_CEILING, 3600.0)})
    too_dear = AllowAllGateway(begins={"one": CallRefused(TraceOutcome.COST_CEILING)})

    assert run(FakeProvider(hit(email())), gateway=used_up).failed
    assert not run(FakeProvider(hit(email())), gateway=too_dear).failed


def test_an_opt_out_at_the_verifier_ends_the_waterfall() -> None:
    opted_out = FakeProvider(ProviderResponse(outcome=TraceOutcome.SUPPRESSED), name="verifier")
    second = FakeProvider(hit(email()))

    result = run(FakeProvider(hit(email(status=UNKNOWN))), second, verifiers=(opted_out,))

    assert (result.suppressed, second.requests) == (True, [])


def test_a_suppressed_person_ends_the_waterfall() -> None:
    second = FakeProvider(hit(email()))

    result = run(replying(TraceOutcome.SUPPRESSED), second)

    assert (result.suppressed, outcomes(result), second.requests) == (True, ["suppressed"], [])


def test_a_provider_that_raises_is_an_error_and_its_message_is_not_logged() -> None:
    broken = FakeProvider(LookupError("no ada@acme.com"), name="broken")

    with capture_logs() as events:
        result = run(broken, FakeProvider(hit(email())))

    assert outcomes(result) == ["error", "hit"]
    assert "ada@acme.com" not in repr([event | {"exc_info": None} for event in events])
    assert [(event["event"], event["provider"]) for event in events if event["log_level"] == "warning"] == [
        ("provider failed", "broken")
    ]


def test_a_response_that_cannot_be_processed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def choke(_found: FoundEmail) -> FoundEmail:
        raise ValueError

    monkeypatch.setattr(provider_call, "with_address_reasons", choke)

    result = run(FakeProvider(hit(email())))

    assert (outcomes(result), result.failed) == (["error"], True)


def test_a_slow_provider_is_a_timeout() -> None:
    result = run(FakeProvider(ProviderTimeout()), FakeProvider(hit(email())))

    assert outcomes(result) == ["timeout", "hit"]


def test_every_provider_gets_the_full_timeout() -> None:
    provider = replying(TraceOutcome.MISS)
    started = time.monotonic()

    run(provider)

    assert time.monotonic() - started < provider_call.SECONDS_PER_PROVIDER
    assert provider.timeouts == [provider_call.SECONDS_PER_PROVIDER]


def test_a_call_with_its_rate_limit_wait_fits_into_a_lease(settings: Settings) -> None:
    longest = provider_call.SECONDS_PER_PROVIDER + throttles.MAX_WAIT_SECONDS

    assert settings.lease_seconds >= 1.5 * longest


def test_address_reasons_are_added_before_a_response_is_judged() -> None:
    result = run(FakeProvider(hit(email("ada@mailinator.com"))), replying(TraceOutcome.MISS))

    assert (result.emails[0].status, outcomes(result)) == (EmailStatus.RISKY, ["hit", "miss"])


def test_phones_contacts_and_companies_of_all_responses_are_kept() -> None:
    phone = FoundPhone(e164="+12025550143", source=SOURCE)
    contacts = [FoundContact(source=SOURCE, full_name=name) for name in ("Ada", "Bob")]
    companies = [FoundCompany(source=SOURCE, name=name) for name in ("Acme", "Other")]

    result = run(
        *(
            FakeProvider(
                ProviderResponse(outcome=TraceOutcome.HIT, phones=(phone,), contact=contact, company=company)
            )
            for contact, company in zip(contacts, companies, strict=True)
        )
    )

    assert (result.phones, result.contacts, result.companies) == (
        (phone, phone),
        tuple(contacts),
        tuple(companies),
    )


def test_an_unavailable_provider_is_not_called() -> None:
    provider = FakeProvider(hit(email()), unavailable=TraceOutcome.UNCONFIGURED)

    result = run(provider, replying(TraceOutcome.MISS))

    assert (outcomes(result), provider.requests) == (["unconfigured", "miss"], [])


def test_a_refused_call_is_skipped_and_the_next_provider_called() -> None:
    provider = FakeProvider(hit(email()), name="shy")
    gateway = AllowAllGateway(begins={"shy": CallRefused(TraceOutcome.COST_CEILING)})

    result = run(provider, FakeProvider(hit(email())), gateway=gateway)

    assert (outcomes(result), provider.requests) == (["cost_ceiling", "hit"], [])


def test_a_call_refused_by_the_rate_limiter_counts_as_no_attempt() -> None:
    gateway = AllowAllGateway(begins={"one": CallRefused(TraceOutcome.RATE_LIMITED, 4.0)})

    result = run(FakeProvider(hit(email())), gateway=gateway)

    assert (result.failed, result.only_rate_limited, result.retry_after) == (True, True, 4.0)
    assert result.only_throttled


def test_a_rate_limit_reported_by_the_vendor_counts_as_an_attempt() -> None:
    result = run(replying(TraceOutcome.RATE_LIMITED, retry_after=4.0))

    assert (result.failed, result.only_rate_limited, result.only_throttled) == (True, False, False)


def test_an_open_circuit_is_no_rate_limit_but_no_call_was_made() -> None:
    gateway = AllowAllGateway(
        begins={
            "one": CallRefused(TraceOutcome.CIRCUIT_OPEN, 4.0),
            "two": CallRefused(TraceOutcome.RATE_LIMITED, 9.0),
        }
    )

    result = run(FakeProvider(hit(email())), FakeProvider(hit(email()), name="two"), gateway=gateway)

    assert (result.failed, result.only_rate_limited, result.only_throttled) == (True, False, True)
    assert result.retry_after == 4.0


def test_a_failed_call_beside_an_open_circuit_counts_as_an_attempt() -> None:
    gateway = AllowAllGateway(begins={"one": CallRefused(TraceOutcome.CIRCUIT_OPEN, 4.0)})

    result = run(FakeProvider(hit(email())), replying(TraceOutcome.ERROR), gateway=gateway)

    assert (result.failed, result.only_throttled) == (True, False)


def test_a_stored_response_is_used_without_a_call() -> None:
    provider = FakeProvider(hit(email("new@acme.com")), name="known")
    gateway = AllowAllGateway(begins={"known": CallResult(hit(email()), NOW, 812, "cal_0")})

    result = run(provider, gateway=gateway)

    assert provider.requests == []
    assert (result.emails[0].email, result.trace[0]["latency_ms"]) == ("ada@acme.com", 812)


def test_a_pending_result_is_awaited_before_the_next_provider_is_called() -> None:
    second = FakeProvider(hit(email()))

    result = run(replying(TraceOutcome.MISS), FakeProvider(Pending("t1", 30.0), name="slow"), second)

    assert (result.waiting, result.failed, second.requests) == (30.0, False, [])
    assert outcomes(result) == ["miss"]


@pytest.mark.parametrize("error", [ProviderTimeout(), ConnectionError()])
def test_one_failed_poll_does_not_abandon_a_pending_call(error: Exception) -> None:
    started = StartedCall(replace(ASK, poll_token="t1"), NOW, "cal_1")
    gateway = AllowAllGateway(begins={"slow": started})

    result = run(FakeProvider(error, name="slow"), gateway=gateway)

    assert (result.waiting, result.trace) == (provider_call.POLL_SECONDS, ())


def test_a_result_pending_for_too_long_is_a_timeout() -> None:
    gateway = AllowAllGateway(timed_out=frozenset({"slow"}))

    result = run(FakeProvider(Pending("t1", 30.0), name="slow"), FakeProvider(hit(email())), gateway=gateway)

    assert (outcomes(result), result.waiting) == (["timeout", "hit"], None)


def test_an_unverified_address_is_verified_before_it_is_judged() -> None:
    gateway = AllowAllGateway()
    second = FakeProvider(hit(email()))

    result = run(
        FakeProvider(hit(email(status=UNKNOWN))),
        second,
        verifiers=(verifier({"ada@acme.com": VALID}),),
        gateway=gateway,
    )

    assert (result.emails[0].status, result.emails[0].verified_at, second.requests) == (VALID, NOW, [])
    assert [(line["provider"], line["field"], line.get("status")) for line in result.trace] == [
        ("one", "email", "valid"),
        ("verifier", "verification", "valid"),
    ]
    assert [reply.emails[0].status for _call, reply in gateway.verdicts_recorded] == [VALID]


@pytest.mark.parametrize(
    ("status", "verified_at"),
    [
        (VALID, None),
        (EmailStatus.ACCEPT_ALL, None),
        (EmailStatus.INVALID, None),
        (EmailStatus.RISKY, NOW),
        (UNKNOWN, NOW),
    ],
)
def test_an_address_verified_by_its_provider_is_not_verified_again(
    status: EmailStatus, verified_at: datetime | None
) -> None:
    asked = verifier({})

    run(FakeProvider(hit(replace(email(status=status), verified_at=verified_at))), verifiers=(asked,))

    assert asked.requests == []


def test_the_next_verifier_is_called_if_the_first_gives_no_verdict() -> None:
    first, second = verifier({}), verifier({"ada@acme.com": EmailStatus.ACCEPT_ALL})

    result = run(FakeProvider(hit(email(status=UNKNOWN))), verifiers=(first, second))

    assert (len(first.requests), len(second.requests)) == (1, 1)
    assert result.emails[0].status is EmailStatus.ACCEPT_ALL


def test_only_the_first_addresses_of_a_response_are_verified() -> None:
    asked = verifier({})

    run(FakeProvider(hit(*(email(f"a{n}@acme.com", UNKNOWN) for n in range(5)))), verifiers=(asked,))

    assert len(asked.requests) == waterfall.MAX_VERIFIED


def test_the_first_guess_that_exists_is_kept_and_no_longer_marked_as_guessed() -> None:
    guesses = (replace(email(f"{n}@acme.com", UNKNOWN), reasons=("guessed",)) for n in ("a", "b", "c"))
    asked = verifier({"a@acme.com": EmailStatus.INVALID, "b@acme.com": VALID})

    result = run(FakeProvider(hit(*guesses), guesses=True), verifiers=(asked,))

    assert [(found.email, found.status, found.reasons) for found in result.emails] == [
        ("b@acme.com", VALID, ())
    ]
    assert len(asked.requests) == 2


def test_an_unlikely_guess_is_kept_only_if_it_exists() -> None:
    guesser = FakeProvider(hit(replace(email("a@acme.com", UNKNOWN), confidence=0.2)), guesses=True)

    kept = [
        bool(_accepting_any(guesser, verifier({"a@acme.com": status})).emails)
        for status in (VALID, EmailStatus.RISKY, EmailStatus.ACCEPT_ALL, UNKNOWN)
    ]

    assert kept == [True, True, False, False]


def test_of_the_guesses_at_a_server_that_accepts_every_address_only_the_first_is_kept() -> None:
    guesser = FakeProvider(hit(email("a@acme.com", UNKNOWN), email("b@acme.com", UNKNOWN)), guesses=True)
    accepting = verifier(dict.fromkeys(("a@acme.com", "b@acme.com"), EmailStatus.ACCEPT_ALL))

    result = _accepting_any(guesser, accepting)

    assert [(found.email, found.status) for found in result.emails] == [
        ("a@acme.com", EmailStatus.ACCEPT_ALL)
    ]
    assert len(accepting.requests) == 1


def test_guesses_that_all_bounce_are_a_miss() -> None:
    guesser = FakeProvider(hit(email("a@acme.com", UNKNOWN)), guesses=True)

    result = run(guesser, verifiers=(verifier({"a@acme.com": EmailStatus.INVALID}),))

    assert (outcomes(result), result.emails) == (["miss", "hit"], ())


def test_after_an_invalid_guess_an_unverified_one_is_dropped() -> None:
    guesser = FakeProvider(hit(email("a@acme.com", UNKNOWN), email("b@acme.com", UNKNOWN)), guesses=True)

    result = _accepting_any(guesser, verifier({"a@acme.com": EmailStatus.INVALID}))

    assert result.emails == ()


def _accepting_any(guesser: FakeProvider, asked: FakeProvider) -> waterfall.WaterfallResult:
    """Run the waterfall for a request for which any address is good enough."""
    return waterfall.run(
        ASK,
        [guesser],  # type: ignore[list-item]  # a fake's names are not class variables
        lambda _reply: True,
        gateway=AllowAllGateway(),
        verifiers=[asked],  # type: ignore[list-item]
    )


def test_no_further_guess_is_verified_after_one_without_a_verdict() -> None:
    asked = verifier({})

    run(
        FakeProvider(hit(email("a@acme.com", UNKNOWN), email("b@acme.com", UNKNOWN)), guesses=True),
        verifiers=(asked,),
    )

    assert len(asked.requests) == 1


def test_a_pending_verification_is_awaited_only_if_no_other_value_suffices() -> None:
    slow = FakeProvider(Pending("1", 300.0), name="slow")
    unsure = FakeProvider(hit(email(status=UNKNOWN)))

    waiting = run(unsure, replying(TraceOutcome.MISS), verifiers=(slow,))
    settled = run(unsure, FakeProvider(hit(email("b@acme.com"))), verifiers=(slow,))

    assert (waiting.waiting, settled.waiting) == (300.0, None)


def test_a_guess_whose_verification_is_ready_soon_is_awaited_before_a_paid_provider_is_called() -> None:
    guesser = FakeProvider(hit(email(status=UNKNOWN)), guesses=True)
    paid = FakeProvider(hit(email("b@acme.com")), name="paid")
    gateway = AllowAllGateway()

    result = run(guesser, paid, verifiers=(FakeProvider(Pending("1", 1.0)),), gateway=gateway)

    assert (result.waiting, result.failed, paid.requests) == (1.0, False, [])
    assert gateway.verdicts_recorded == []  # the guess is judged when it is verified


def test_a_guess_that_is_greylisted_is_not_awaited() -> None:
    guesser = FakeProvider(hit(email(status=UNKNOWN)), guesses=True)

    result = run(
        guesser, FakeProvider(hit(email("b@acme.com"))), verifiers=(FakeProvider(Pending("1", 300.0)),)
    )

    assert ([found.email for found in result.emails], result.waiting) == (["b@acme.com"], None)


def test_a_guess_that_suffices_without_a_verdict_is_not_awaited() -> None:
    guesser = FakeProvider(hit(email(status=UNKNOWN)), guesses=True)

    result = _accepting_any(guesser, FakeProvider(Pending("1", 1.0)))

    assert ([found.email for found in result.emails], result.waiting) == (["ada@acme.com"], None)


@pytest.mark.parametrize("seconds", [(40.0, 300.0), (300.0, 40.0)])
def test_the_earliest_pending_verification_of_all_addresses_is_awaited(seconds: tuple[float, ...]) -> None:
    waits = dict(zip(("a@acme.com", "b@acme.com"), seconds, strict=True))
    slow = FakeProvider(lambda request: Pending("1", waits[str(request.subject.email)]))
    unsure = [FakeProvider(hit(email(address, UNKNOWN))) for address in waits]
    stored = [email(address, UNKNOWN) for address in waits]

    found = run(*unsure, verifiers=(slow,))
    known = waterfall.verify_stored(ASK, stored, gateway=AllowAllGateway(), verifiers=(slow,))  # type: ignore[arg-type]  # as above

    assert (found.waiting, known.waiting) == (40.0, 40.0)


def test_the_earliest_of_several_pending_verifications_is_awaited() -> None:
    slow = tuple(FakeProvider(Pending("1", seconds), name=f"slow {seconds}") for seconds in (30.0, 300.0))

    result = run(FakeProvider(hit(email(status=UNKNOWN))), verifiers=slow)

    assert result.waiting == 30.0


def test_a_pending_stored_address_is_awaited_even_if_the_next_is_verified() -> None:
    def say(request: ProviderRequest) -> ProviderResponse | Pending:
        known = verifier({"b@acme.com": VALID})
        return known.call(request, seconds=1) if request.subject.email == "b@acme.com" else Pending("1", 30.0)

    stored = [email(address, UNKNOWN) for address in ("a@acme.com", "b@acme.com")]

    result = waterfall.verify_stored(ASK, stored, gateway=AllowAllGateway(), verifiers=(FakeProvider(say),))  # type: ignore[arg-type]  # as above

    assert ([found.email for found in result.emails], result.waiting) == (["b@acme.com"], 30.0)


def test_a_fraction_of_a_credit_is_traced_as_a_fraction() -> None:
    result = run(FakeProvider(hit(email(), cost=0.25)))

    assert result.trace[0]["cost"] == 0.25


def test_a_provider_is_asked_without_what_it_cannot_know() -> None:
    member = "https://www.linkedin.com/in/ACwAAAbCdEfGhIjK"
    other, one = replying(TraceOutcome.MISS), replying(TraceOutcome.MISS, reason="again")
    one.takes_member_ids = True
    asked = ProviderRequest(field=ProviderField.EMAIL, subject=Subject(linkedin_url=member), types=("work",))

    waterfall.run(asked, (other, one), good, gateway=AllowAllGateway(), verifiers=())  # type: ignore[arg-type]  # a fake's names are not class variables

    assert [request.subject for request in other.requests] == [Subject()]
    assert [request.subject for request in one.requests] == [Subject(linkedin_url=member)]
