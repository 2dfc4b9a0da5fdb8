"""A provider opt-out hides a person only if the request had exactly one identifier."""

from __future__ import annotations

import pytest
from fake_providers import MISS, UNKNOWN, email, hit, person, phone
from jobs_support import DIGEST_KEYS, NOW
from sqlalchemy import func, select
from worker_harness import ADA, BOB, WorkerHarness

from app.domain.findings import FoundContact
from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppression_digests import Identifier, digest
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.providers import provider_opt_outs
from app.engine.providers.provider_opt_outs import ProviderOptOut
from workers.providers.base import ProviderRequest, ProviderResponse

OPTED_OUT = ProviderResponse(outcome=TraceOutcome.SUPPRESSED)
NAMED = {"full_name": "Suppressed Sandbox", "company_domain": "sandbox.example"}
VICTIM, PHONE = "ada@acme.com", "+16175550101"


def listed(harness: WorkerHarness) -> set[bytes]:
    with harness.database.reading() as session:
        return set(session.scalars(select(Suppression.digest)))


def opt_outs(harness: WorkerHarness) -> list[ProviderOptOut]:
    with harness.database.reading() as session:
        return list(session.scalars(select(ProviderOptOut).order_by(ProviderOptOut.id)))


@pytest.mark.parametrize(
    "victim", [{"email": VICTIM}, {"linkedin_url": ADA}, {"phone": PHONE}, {"email": VICTIM, "phone": PHONE}]
)
def test_a_person_named_beside_an_opted_out_person_stays_visible(
    harness: WorkerHarness, victim: dict[str, str]
) -> None:
    other = harness.other_workspace()
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),), phones=(phone(),)))
    harness.set_providers(one=OPTED_OUT)

    jobs = [harness.reveal(NAMED | victim, max_age_days=1), harness.reveal(NAMED | {"email": "x@y.com"})]

    assert jobs[1].outcome == Outcome.SUPPRESSED
    assert listed(harness) == set()
    assert other.reveal({"email": VICTIM}).outcome == Outcome.FOUND
    assert not other.look_up(linkedin_url=ADA)["suppressed"]


def test_stored_values_of_a_request_that_was_opted_out_are_not_suppressed(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, phones=(phone(),)))
    harness.set_providers(one=OPTED_OUT)

    job = harness.reveal({"linkedin_url": ADA})

    assert (job.outcome, job.charged, listed(harness)) == (Outcome.SUPPRESSED, 0, set())
    assert not harness.other_workspace().look_up(linkedin_url=ADA)["suppressed"]


@pytest.mark.parametrize(("kind", "value"), [("email", "bob@acme.com"), ("linkedin_url", BOB)])
def test_the_only_email_or_profile_of_an_opted_out_call_is_suppressed(
    harness: WorkerHarness, kind: str, value: str
) -> None:
    harness.set_providers(one=OPTED_OUT)

    job = harness.reveal({kind: value}, Kind.REVEAL_PHONE)

    assert job.outcome == Outcome.SUPPRESSED
    assert listed(harness) == {digest(DIGEST_KEYS, Identifier(kind, value))}
    assert harness.other_workspace().look_up(**{kind: value})["suppressed"]


def test_the_only_phone_of_an_opted_out_call_is_not_suppressed(harness: WorkerHarness) -> None:
    harness.set_providers(one=OPTED_OUT)

    job = harness.reveal({"phone": PHONE})

    assert (job.outcome, listed(harness)) == (Outcome.SUPPRESSED, set())


def test_an_opt_out_at_a_verifier_suppresses_only_the_address(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(status=UNKNOWN),), phones=(phone(),)))
    harness.set_providers(verifiers=("check",), one=MISS, check=OPTED_OUT)

    job = harness.reveal({"linkedin_url": ADA})

    assert (job.outcome, listed(harness)) == (
        Outcome.SUPPRESSED,
        {digest(DIGEST_KEYS, Identifier("email", VICTIM))},
    )


def test_an_opted_out_request_is_not_sent_again_but_another_one_is(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=OPTED_OUT)
    other = harness.other_workspace()

    jobs = [workspace.reveal(NAMED) for workspace in (harness, harness, other)]
    others = harness.reveal({"full_name": "Bob Ray", "company_domain": "acme.com"})

    assert [job.outcome for job in (*jobs, others)] == [Outcome.SUPPRESSED] * 4
    assert len(providers["one"].requests) == 2
    assert [line["outcome"] for line in jobs[1].trace] == ["suppressed"]


def test_stored_data_is_returned_after_a_provider_opt_out(harness: WorkerHarness) -> None:
    harness.set_providers(one=OPTED_OUT)
    subject = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}
    harness.reveal(subject)
    harness.store_contact(person(emails=(email(),)))

    job = harness.other_workspace().reveal(subject)

    assert (job.outcome, job.trace) == (Outcome.FOUND, [])


def test_after_an_opt_out_no_further_provider_is_called(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=OPTED_OUT, two=hit(email()))

    job = harness.reveal(NAMED)

    assert (job.outcome, providers["two"].requests) == (Outcome.SUPPRESSED, [])


def test_the_operator_sees_opt_outs_without_personal_data(harness: WorkerHarness) -> None:
    harness.set_providers(one=OPTED_OUT)

    harness.reveal({"linkedin_url": ADA, "full_name": "Ada", "company_domain": "acme.com"})
    harness.reveal({"email": VICTIM})
    harness.reveal({"email": "x@acme.com", "linkedin_url": ADA})

    mixed, alone, several = opt_outs(harness)
    assert (mixed.asked_by, mixed.kind, mixed.state) == (
        ["company_domain", "full_name", "linkedin_url"],
        "linkedin_url",
        "open",
    )
    assert (alone.asked_by, alone.kind, alone.state) == (["email"], "email", "listed")
    assert (several.kind, several.digest, several.state) == (None, None, "open")


def test_a_dismissed_opt_out_permits_the_call_and_suppresses_nothing(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=OPTED_OUT)
    harness.reveal({"email": VICTIM})
    with harness.database.transaction() as session:
        [row] = session.scalars(select(ProviderOptOut))
        assert provider_opt_outs.dismiss(session, row, now=NOW)

    job = harness.reveal({"email": VICTIM})

    assert (job.outcome, len(providers["one"].requests), listed(harness)) == (Outcome.SUPPRESSED, 2, set())


def test_a_suppressed_value_in_a_response_ends_the_job_and_suppresses_nothing_more(
    harness: WorkerHarness,
) -> None:
    harness.suppress("email", "gone@acme.com")
    harness.set_providers(one=hit(email("gone@acme.com")))

    job = harness.reveal(NAMED | {"email": VICTIM})

    assert (job.outcome, job.charged) == (Outcome.SUPPRESSED, 0)
    assert (listed(harness), opt_outs(harness)) == (
        {digest(DIGEST_KEYS, Identifier("email", "gone@acme.com"))},
        [],
    )


@pytest.mark.parametrize("fields", [("profile",), ("email",), ("email", "phone", "profile")])
def test_an_opt_out_in_an_enrichment_suppresses_nobody(
    harness: WorkerHarness, fields: tuple[str, ...]
) -> None:
    harness.set_providers(one=OPTED_OUT)

    item = harness.enrich({"subject": NAMED | {"email": VICTIM}}, fields)

    assert (item["outcome"], listed(harness), len(opt_outs(harness))) == ("suppressed", set(), 1)


def test_a_person_suppressed_during_the_call_is_neither_stored_nor_charged(
    harness: WorkerHarness,
) -> None:
    def tell(_request: ProviderRequest) -> ProviderResponse:
        harness.suppress("linkedin_url", ADA)
        return hit(email())  # the response has no profile

    harness.set_providers(one=tell)

    job = harness.reveal({"linkedin_url": ADA, "full_name": "Ada Lovelace", "company_domain": "acme.com"})

    assert (job.outcome, job.charged, job.result) == (Outcome.SUPPRESSED, 0, None)
    assert stored(harness) == 0


@pytest.mark.parametrize("fields", [("profile",), ("email",), ("phone", "profile")])
def test_a_person_suppressed_during_an_enrichment_is_neither_stored_nor_charged(
    harness: WorkerHarness, fields: tuple[str, ...]
) -> None:
    told: FoundContact = person()

    def tell(request: ProviderRequest) -> ProviderResponse:
        harness.suppress("phone", "+12025550143")
        found = {"email": hit(email()), "phone": hit(phone()), "person": hit(told)}
        return found[request.field.value]

    harness.set_providers(one=tell)
    subject = {"full_name": "Ada Lovelace", "company_domain": "acme.com", "phone": "+12025550143"}

    item = harness.enrich({"subject": subject}, fields)

    assert (item["outcome"], item["contact"], item["credits_charged"]) == ("suppressed", None, 0)
    assert stored(harness) == 0


def stored(harness: WorkerHarness) -> int:
    with harness.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Contact)) or 0
