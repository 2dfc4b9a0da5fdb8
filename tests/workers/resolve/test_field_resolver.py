"""Reveals with scripted providers and the real call gateway: which values are bought, stored and returned."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from fake_providers import ERROR, MISS, UNKNOWN, email, hit, person, phone, source_of
from jobs_support import NOW, a_job
from sqlalchemy import select, update
from stored_support import own
from worker_harness import ADA, NAMED, WorkerHarness

from app.domain.findings import EmailStatus
from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.domain.providers.throttles import FAILURES_IN_A_ROW, OPEN_FOR
from app.engine.contacts import bulk, contacts
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs import jobs
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import Job
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.ledger import reveals
from app.engine.ledger.reveals import Reveal
from app.engine.providers import provider_throttles
from app.infra.database.session import Session
from workers.execution import job_runner
from workers.execution.job_runner import Resolution
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse, ProviderTimeout
from workers.resolve.configured_waterfall import MIN_OUTAGE_WAIT_SECONDS


def outcomes(job: Job) -> list[tuple[str, str]]:
    return [(line["provider"], line["outcome"]) for line in job.trace]


@pytest.mark.parametrize("subject", [{"email": "ada@acme.com"}, {"phone": "+12025550143"}, NAMED])
def test_a_person_named_by_one_identifier_is_paid_once(
    harness: WorkerHarness, subject: dict[str, str]
) -> None:
    providers = harness.set_providers(one=hit(phone()))

    first, second = (harness.reveal(subject, Kind.REVEAL_PHONE) for _ in range(2))

    assert (first.charged, second.charged, len(providers["one"].requests)) == (1, 0, 1)


def test_a_stored_address_is_verified_before_another_one_is_bought(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(status=UNKNOWN),)))
    providers = harness.set_providers(verifiers=("check",), one=MISS, check=hit(email()))

    job = harness.reveal({"linkedin_url": ADA})

    assert (job.outcome, job.charged, outcomes(job)) == (Outcome.FOUND, 1, [("check", "hit")])
    assert providers["one"].requests == []


def test_a_paid_address_without_a_verdict_is_verified_by_the_next_job(harness: WorkerHarness) -> None:
    bought = ProviderResponse(outcome=TraceOutcome.HIT, emails=(email(status=UNKNOWN),), cost=1)
    providers = harness.set_providers(verifiers=("check",), one=bought, check=ERROR)
    first = harness.reveal(NAMED)
    providers["check"].reply = hit(email())

    second = harness.reveal(NAMED)

    assert (first.outcome, second.outcome) == (Outcome.NOT_FOUND, Outcome.FOUND)
    assert len(providers["one"].requests) == 1


def test_providers_are_called_if_the_stored_address_is_invalid(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email("old@acme.com", UNKNOWN),)))
    providers = harness.set_providers(
        verifiers=("check",),
        one=hit(email()),
        check=hit(dataclasses.replace(email("old@acme.com", EmailStatus.INVALID), verified_at=NOW)),
    )

    job = harness.reveal({"linkedin_url": ADA})

    assert outcomes(job) == [("check", "hit"), ("one", "hit")]
    assert job.result is not None
    assert [entry["email"] for entry in job.result["emails"]] == ["ada@acme.com"]
    assert len(providers["one"].requests) == 1


def test_a_job_waits_for_a_pending_verification_if_no_provider_finds_another_address(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(status=UNKNOWN),)))
    providers = harness.set_providers(
        verifiers=("check",),
        one=MISS,
        check=lambda request: Pending("1", 5.0) if not request.poll_token else hit(email()),
    )

    first = harness.reveal({"linkedin_url": ADA})
    second = harness.run_reveal(first.id)

    assert (first.status, first.attempts, second.outcome) == ("queued", 0, Outcome.FOUND)
    assert len(providers["one"].requests) == 1


def test_an_opt_out_at_the_verifier_is_final(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(status=UNKNOWN),)))
    opted_out = ProviderResponse(outcome=TraceOutcome.SUPPRESSED)
    providers = harness.set_providers(verifiers=("check",), one=hit(email()), check=opted_out)

    first, second = (harness.reveal({"linkedin_url": ADA}) for _ in range(2))

    assert [first.outcome, second.outcome] == [Outcome.SUPPRESSED, Outcome.SUPPRESSED]
    assert (len(providers["check"].requests), providers["one"].requests) == (1, [])


def test_a_response_with_a_suppressed_profile_suppresses_the_person(harness: WorkerHarness) -> None:
    found = dataclasses.replace(hit(email()), contact=person(linkedin_url=ADA))
    harness.set_providers(one=found)
    harness.suppress("linkedin_url", ADA)

    job = harness.reveal(NAMED)

    assert (job.outcome, job.charged, job.result) == (Outcome.SUPPRESSED, 0, None)


def test_a_value_suppressed_after_the_providers_replied_is_not_stored(harness: WorkerHarness) -> None:
    lock = bulk.lock_resolution

    def suppress_and_lock(session: Session) -> None:
        """Suppress the address, as another transaction could while this one waited for the lock."""
        address = Identifier("email", "ada@acme.com")
        suppressions.suppress(session, [address], reason="requested", now=NOW)
        lock(session)

    harness.store_contact(person(linkedin_url=ADA))
    harness.set_providers(one=hit(email()))
    harness.monkeypatch.setattr("workers.resolve.field_resolver.bulk.lock_resolution", suppress_and_lock)

    job = harness.reveal({"linkedin_url": ADA})

    with harness.database.reading() as session:
        assert (job.outcome, job.charged) == (Outcome.SUPPRESSED, 0)
        assert session.scalars(select(Email)).all() == []


def test_a_failed_provider_is_not_called_again_while_another_is_pending(harness: WorkerHarness) -> None:
    def hang(_request: ProviderRequest) -> ProviderResponse:
        raise ProviderTimeout

    providers = harness.set_providers(one=hang, two=lambda _request: Pending("t", 5.0))
    job = harness.reveal(NAMED)

    for _ in range(5):
        harness.clock.now += timedelta(seconds=5)
        job = harness.run_reveal(job.id)

    assert (len(providers["one"].requests), outcomes(job)) == (1, [("one", "timeout")])
    assert harness.provider_calls() == [("one", "timeout"), ("two", "pending")]


def test_an_insufficient_value_of_one_field_does_not_use_the_credits_of_another(
    harness: WorkerHarness,
) -> None:
    def tell(request: ProviderRequest) -> ProviderResponse:
        if request.field is ProviderField.PHONE:
            return hit(phone())
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=(email(status=UNKNOWN),), cost=1)

    harness.set_providers(one=tell)

    item = harness.enrich({"subject": NAMED}, ("email", "phone"))

    assert (item["credits_charged"], item["error"]) == (1, None)
    assert [phone["e164"] for phone in item["phones"]] == ["+16175550101"]


def test_a_found_field_is_kept_if_another_one_failed(harness: WorkerHarness) -> None:
    harness.set_providers(one=lambda request: ERROR if request.field is ProviderField.PHONE else hit(email()))
    job_id = harness.submit_enrichment({"subject": NAMED}, fields=("email", "phone"), price=2)

    for _ in range(harness.services.settings.max_attempts):
        answer = harness.run_enrichment(job_id)
        harness.clock.now += timedelta(seconds=61)

    [item] = answer["result"]["items"]
    assert [entry["email"] for entry in item["emails"]] == ["ada@acme.com"]
    assert (item["credits_charged"], item["error"]["code"]) == (1, "provider_failed")


def test_a_person_found_by_two_fields_is_one_contact(harness: WorkerHarness) -> None:
    harness.set_providers(
        one=lambda request: hit(phone()) if request.field is ProviderField.PHONE else hit(email())
    )

    harness.enrich({"subject": {"email": "ada@acme.com"}}, ("email", "phone"))

    with harness.database.reading() as session:
        assert session.scalar(select(Email.contact_id).distinct()) is not None
        assert len(session.scalars(select(contacts.Contact)).all()) == 1


def test_a_value_refunded_while_a_free_job_settles_is_not_disclosed(
    harness: WorkerHarness,
) -> None:
    harness.set_providers(one=ProviderResponse(outcome=TraceOutcome.HIT, emails=(email(),), cost=1))
    harness.reveal({"linkedin_url": ADA})
    request = {"subject": {"linkedin_url": ADA}, "types": ["work"], "min_status": "valid"}
    with harness.database.transaction() as session:
        job_id = a_job(session, harness.workspace_id, "free", request=request, price=0)

    job_runner.run(job_id, refunded_meanwhile, harness.services)
    with harness.database.reading() as session:
        put_back = jobs.get(session, harness.workspace_id, job_id).status
    job = harness.run_reveal(job_id)

    assert put_back == "queued"
    assert (job.status, job.charged, job.result) == ("failed", 0, None)
    assert job.error is not None
    assert job.error["code"] == "insufficient_credits"


def test_an_owned_field_without_values_is_not_found_by_a_job_that_holds_no_credits(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    harness.set_providers(one=MISS)
    request = {"subject": {"linkedin_url": ADA}, "types": ["work"], "min_status": "valid"}
    with harness.database.transaction() as session:
        own(session, harness.workspace_id, session.scalars(select(contacts.Contact)).one(), "email")
        job_id = a_job(session, harness.workspace_id, "free", request=request, price=0)
    harness.run_reveal(job_id)  # moves it to the queue of providers

    job = harness.run_reveal(job_id)

    assert (job.status, job.outcome, job.charged) == ("succeeded", Outcome.NOT_FOUND, 0)


def verified(days: int, provider: str) -> ProviderResponse:
    """Return a response with a valid address that the provider verified so many days ago."""
    at = NOW - timedelta(days=days)
    return hit(dataclasses.replace(email(f"{provider}@acme.com"), verified_at=at, source=source_of(provider)))


def age_calls(harness: WorkerHarness, age: timedelta) -> None:
    """Move all provider calls so far into the past."""
    with harness.database.transaction() as session:
        session.execute(update(ProviderCall).values(asked_at=NOW - age))


def test_a_value_older_than_the_requested_age_does_not_end_the_waterfall(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=verified(20, "one"), two=verified(0, "two"))

    first, second = (harness.reveal(NAMED, max_age_days=7) for _ in range(2))

    assert outcomes(first) == [("one", "hit"), ("two", "hit")]
    assert (first.outcome, first.charged, second.outcome) == (Outcome.FOUND, 1, Outcome.FOUND)
    assert [len(provider.requests) for provider in providers.values()] == [1, 1]


def test_an_address_that_is_too_old_is_not_bought_again_until_that_age_has_passed(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=verified(20, "one"))
    jobs_of_a_day = [harness.reveal(NAMED, max_age_days=7) for _ in range(3)]
    age_calls(harness, timedelta(days=8))
    providers["one"].reply = verified(0, "one")

    later = harness.reveal(NAMED, max_age_days=7)

    assert [job.outcome for job in jobs_of_a_day] == [Outcome.NOT_FOUND] * 3
    assert (later.outcome, len(providers["one"].requests)) == (Outcome.FOUND, 2)


@pytest.mark.parametrize("unsuitable", [{"status": "invalid"}, {"type": "other"}])
def test_an_unsuitable_phone_number_is_bought_once_for_all_workspaces(
    harness: WorkerHarness, unsuitable: dict[str, str]
) -> None:
    found = dataclasses.replace(phone(), **unsuitable)
    providers = harness.set_providers(one=dataclasses.replace(hit(found), cost=9))
    subject = {"email": "ada@acme.com"}

    reveals = [
        workspace.reveal(subject, Kind.REVEAL_PHONE)
        for workspace in (harness, harness, harness.other_workspace())
    ]

    assert [job.outcome for job in reveals] == [Outcome.NOT_FOUND] * 3
    assert outcomes(reveals[-1]) == [("one", "known_miss")]
    assert len(providers["one"].requests) == 1


def test_a_phone_number_is_requested_again_if_a_fresher_one_is_needed(harness: WorkerHarness) -> None:
    found = dataclasses.replace(phone(), source=source_of("one", NOW - timedelta(days=5)))
    requests = harness.set_providers(one=hit(found))["one"].requests
    subject = {"email": "ada@acme.com"}
    harness.reveal(subject, Kind.REVEAL_PHONE)

    harness.reveal(subject, Kind.REVEAL_PHONE, max_age_days=4)
    at_once = len(requests)
    age_calls(harness, timedelta(days=5))
    harness.reveal(subject, Kind.REVEAL_PHONE, max_age_days=4)

    assert (at_once, len(requests)) == (1, 2)


def refused(harness: WorkerHarness, seconds: int = 300) -> None:
    """Let the only provider's rate limiter refuse every call for this time."""
    with harness.database.transaction() as session:
        provider_throttles.report(
            session, "one", TraceOutcome.RATE_LIMITED, retry_after=seconds, now=harness.clock.now
        )


def test_an_enrichment_waits_for_a_paused_provider_without_spending_an_attempt(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=hit(email()))
    refused(harness)
    job_id = harness.submit_enrichment({"subject": NAMED}, fields=("email",))

    waiting = [harness.run_enrichment(job_id)["job"]["status"] for _ in range(6)]
    attempts, due = harness.attempts(job_id), harness.due_at(job_id)
    harness.clock.now += timedelta(seconds=301)
    answer = harness.run_enrichment(job_id)

    assert (waiting, attempts, due) == (["queued"] * 6, 0, NOW + timedelta(seconds=300))
    assert (answer["result"]["items"][0]["outcome"], len(providers["one"].requests)) == ("found", 1)


def test_an_enrichment_is_not_repeated_at_once_while_a_circuit_is_about_to_close(
    harness: WorkerHarness,
) -> None:
    harness.set_providers(one=hit(email()))
    with harness.database.transaction() as session:
        for _ in range(FAILURES_IN_A_ROW):
            provider_throttles.report(session, "one", TraceOutcome.ERROR, retry_after=None, now=NOW)
    harness.clock.now += OPEN_FOR - timedelta(milliseconds=10)
    job_id = harness.submit_enrichment({"subject": NAMED}, fields=("email",))

    harness.run_enrichment(job_id)

    assert harness.due_at(job_id) == harness.clock.now + timedelta(seconds=MIN_OUTAGE_WAIT_SECONDS)


def test_a_reveal_fails_after_its_attempts_while_its_provider_is_paused(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=hit(email()))
    refused(harness)
    job_id = harness.submit_reveal(NAMED)

    reveals = [harness.run_reveal(job_id) for _ in range(harness.services.settings.max_attempts)]

    assert (reveals[-1].status, (reveals[-1].error or {})["code"]) == ("failed", "provider_failed")
    assert (reveals[-1].charged, providers["one"].requests) == (0, [])


def refunded_meanwhile(claim: Claim, services: WorkerServices) -> Resolution:
    """Resolve as a reveal does, then refund the owned value before the job is settled."""
    resolution = reveal.email(claim, services)
    with services.database.transaction() as session:
        [paid] = session.scalars(select(Reveal))
        about = {"workspace_id": paid.workspace_id, "contact_id": paid.contact_id, "field": paid.field}
        assert reveals.mark_refunded(session, **about, since=NOW, now=NOW)
    return resolution
