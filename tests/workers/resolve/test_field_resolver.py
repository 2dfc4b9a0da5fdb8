"""Reveals with scripted providers and the real call gateway: which values are bought, stored and returned."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from enriching_support import ADA, ERROR, MISS, person, said_by, tells
from finding_support import UNKNOWN, Desk, a_desk, email, number
from jobs_support import NOW, a_job
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts import bulk, contacts, suppressions
from app.core.contacts.emails import Email
from app.core.contacts.suppressions import Identifier
from app.core.jobs import jobs
from app.core.jobs.jobs import Job
from app.core.jobs.leases import Claim
from app.core.ledger import reveals
from app.core.ledger.reveals import Reveal
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.infra.db import Database
from app.settings import Settings
from workers.execution import job_runner
from workers.execution.job_runner import Resolution, WorkerServices
from workers.jobs import reveal
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse, ProviderTimeout

NAMED = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}


@pytest.fixture
def office(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return a_desk(settings, database, monkeypatch)


def outcomes(job: Job) -> list[tuple[str, str]]:
    return [(line["provider"], line["outcome"]) for line in job.trace]


def keep_ada(office: Desk, *emails: FoundEmail) -> None:
    with office.bench.services.database.transaction() as session:
        found = dataclasses.replace(person(said_by("one", NOW)), linkedin_url=ADA, emails=emails)
        contacts.upsert(session, found, now=NOW)


@pytest.mark.parametrize("subject", [{"email": "ada@acme.com"}, {"phone": "+12025550143"}, NAMED])
def test_whoever_is_named_in_one_way_only_is_paid_once(office: Desk, subject: dict[str, str]) -> None:
    known = office.with_providers("one", one=number())

    first, second = (office.reveal(subject, Kind.REVEAL_PHONE) for _ in range(2))

    assert (first.charged, second.charged, len(known["one"].asked)) == (1, 0, 1)


def test_a_stored_address_is_verified_before_another_one_is_bought(office: Desk) -> None:
    keep_ada(office, email(status=UNKNOWN))
    known = office.with_providers("one", verifiers=("check",), one=MISS, check=tells(email()))

    job = office.reveal({"linkedin_url": ADA})

    assert (job.outcome, job.charged, outcomes(job)) == (Outcome.FOUND, 1, [("check", "hit")])
    assert known["one"].asked == []


def test_a_paid_address_that_no_verifier_could_judge_is_judged_the_next_time(office: Desk) -> None:
    bought = ProviderResponse(outcome=TraceOutcome.HIT, emails=(email(status=UNKNOWN),), cost=1)
    known = office.with_providers("one", verifiers=("check",), one=bought, check=ERROR)
    first = office.reveal(NAMED)
    known["check"].says = lambda _ask: tells(email())

    second = office.reveal(NAMED)

    assert (first.outcome, second.outcome) == (Outcome.NOT_FOUND, Outcome.FOUND)
    assert len(known["one"].asked) == 1


def test_where_the_verifier_says_no_the_providers_are_asked(office: Desk) -> None:
    keep_ada(office, email("old@acme.com", UNKNOWN))
    known = office.with_providers(
        "one",
        verifiers=("check",),
        one=tells(email()),
        check=tells(dataclasses.replace(email("old@acme.com", EmailStatus.INVALID), verified_at=NOW)),
    )

    job = office.reveal({"linkedin_url": ADA})

    assert outcomes(job) == [("check", "hit"), ("one", "hit")]
    assert job.result is not None
    assert [one["email"] for one in job.result["emails"]] == ["ada@acme.com"]
    assert len(known["one"].asked) == 1


def test_a_verifier_that_needs_time_for_a_stored_address_is_waited_for_if_nobody_knows_another(
    office: Desk,
) -> None:
    keep_ada(office, email(status=UNKNOWN))
    known = office.with_providers(
        "one",
        verifiers=("check",),
        one=MISS,
        check=lambda ask: Pending("1", 5.0) if not ask.poll_token else tells(email()),
    )

    first = office.reveal({"linkedin_url": ADA})
    second = office.run(first.id)

    assert (first.status, first.attempts, second.outcome) == ("queued", 0, Outcome.FOUND)
    assert len(known["one"].asked) == 1


def test_whoever_opted_out_at_the_verifier_is_left_alone_for_good(office: Desk) -> None:
    keep_ada(office, email(status=UNKNOWN))
    opted_out = ProviderResponse(outcome=TraceOutcome.SUPPRESSED)
    known = office.with_providers("one", verifiers=("check",), one=tells(email()), check=opted_out)

    first, second = (office.reveal({"linkedin_url": ADA}) for _ in range(2))

    assert [first.outcome, second.outcome] == [Outcome.SUPPRESSED, Outcome.SUPPRESSED]
    assert (len(known["check"].asked), known["one"].asked) == (1, [])


def test_whom_a_provider_names_by_a_suppressed_profile_is_left_alone(office: Desk) -> None:
    found = dataclasses.replace(tells(email()), contact=person(said_by("one", NOW), linkedin_url=ADA))
    office.with_providers("one", one=found)
    office.suppress("linkedin_url", ADA)

    job = office.reveal(NAMED)

    assert (job.outcome, job.charged, job.result) == (Outcome.SUPPRESSED, 0, None)


def test_a_value_suppressed_after_the_providers_replied_is_not_stored(office: Desk) -> None:
    lock = bulk.lock_resolution

    def suppress_and_lock(session: Session) -> None:
        """Suppress the address, as another transaction could while this one waited for the lock."""
        address = Identifier("email", "ada@acme.com")
        suppressions.suppress(session, [address], reason="requested", now=NOW)
        lock(session)

    keep_ada(office)
    office.with_providers("one", one=tells(email()))
    office.bench.monkeypatch.setattr("workers.resolve.field_resolver.bulk.lock_resolution", suppress_and_lock)

    job = office.reveal({"linkedin_url": ADA})

    with office.bench.services.database.reading() as session:
        assert (job.outcome, job.charged) == (Outcome.SUPPRESSED, 0)
        assert session.scalars(select(Email)).all() == []


def test_one_who_failed_is_not_asked_again_while_another_one_is_waited_for(office: Desk) -> None:
    def hang(_ask: ProviderRequest) -> ProviderResponse:
        raise ProviderTimeout

    known = office.with_providers("one", "two", one=hang, two=lambda _ask: Pending("t", 5.0))
    job = office.reveal(NAMED)

    for _ in range(5):
        office.time[0] += timedelta(seconds=5)
        job = office.run(job.id)

    assert (len(known["one"].asked), outcomes(job)) == (1, [("one", "timeout")])
    assert office.calls() == [("one", "timeout"), ("two", "pending")]


def test_a_field_that_can_be_afforded_is_bought_though_another_was_found_and_not_good_enough(
    office: Desk,
) -> None:
    def tell(ask: ProviderRequest) -> ProviderResponse:
        if ask.field is ProviderField.PHONE:
            return number()
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=(email(status=UNKNOWN),), cost=1)

    office.with_providers("one", one=tell)

    item = office.bench.enrich({"subject": NAMED}, ("email", "phone"))

    assert (item["credits_charged"], item["error"]) == (1, None)
    assert [phone["e164"] for phone in item["phones"]] == ["+16175550101"]


def test_what_one_field_brought_is_kept_though_another_one_failed(office: Desk) -> None:
    office.with_providers(
        "one", one=lambda ask: ERROR if ask.field is ProviderField.PHONE else tells(email())
    )
    job_id = office.bench.submit({"subject": NAMED}, fields=("email", "phone"), price=2)

    for _ in range(office.bench.services.settings.max_attempts):
        answer = office.bench.run(job_id)
        office.time[0] += timedelta(seconds=61)

    [item] = answer["result"]["items"]
    assert [one["email"] for one in item["emails"]] == ["ada@acme.com"]
    assert (item["credits_charged"], item["error"]["code"]) == (1, "provider_failed")


def test_a_person_found_twice_is_one_contact(office: Desk) -> None:
    office.with_providers(
        "one", one=lambda ask: number() if ask.field is ProviderField.PHONE else tells(email())
    )

    office.bench.enrich({"subject": {"email": "ada@acme.com"}}, ("email", "phone"))

    with office.bench.services.database.reading() as session:
        assert session.scalar(select(Email.contact_id).distinct()) is not None
        assert len(session.scalars(select(contacts.Contact)).all()) == 1


def test_what_is_refunded_while_a_job_without_credits_hands_it_over_is_not_given_away(office: Desk) -> None:
    office.with_providers("one", one=ProviderResponse(outcome=TraceOutcome.HIT, emails=(email(),), cost=1))
    office.reveal({"linkedin_url": ADA})
    request = {"subject": {"linkedin_url": ADA}, "types": ["work"], "min_status": "valid"}
    with office.bench.services.database.transaction() as session:
        job_id = a_job(session, office.bench.workspace_id, "free", request=request, price=0)

    job_runner.run(job_id, refunded_meanwhile, office.bench.services)
    with office.bench.services.database.reading() as session:
        put_back = jobs.get(session, office.bench.workspace_id, job_id).status
    job = office.run(job_id)

    assert put_back == "queued"
    assert (job.status, job.charged, job.result) == ("failed", 0, None)
    assert job.error is not None
    assert job.error["code"] == "insufficient_credits"


def refunded_meanwhile(claim: Claim, services: WorkerServices) -> Resolution:
    """Resolve as a reveal does, then refund the owned value before the job is settled."""
    resolution = reveal.email(claim, services)
    with services.database.transaction() as session:
        [paid] = session.scalars(select(Reveal))
        about = {"workspace_id": paid.workspace_id, "contact_id": paid.contact_id, "field": paid.field}
        assert reveals.mark_refunded(session, **about, since=NOW, now=NOW)
    return resolution
