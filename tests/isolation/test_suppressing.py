"""A provider opt-out hides a person only if the request had exactly one identifier."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from enriching_support import ADA, BOB, MISS, person, said_by, tells
from finding_support import UNKNOWN, Desk, email, number
from jobs_support import DIGEST_KEYS, NOW
from sqlalchemy import func, select

from app.core.contacts import contacts
from app.core.contacts.contacts import Contact
from app.core.contacts.suppressions import Identifier, Suppression, digest
from app.core.providers import provider_opt_outs
from app.core.providers.provider_opt_outs import ProviderOptOut
from app.domain.findings import FoundContact
from app.domain.kinds import Kind, Outcome, TraceOutcome
from workers.jobs import reverification
from workers.providers.base import ProviderRequest, ProviderResponse

OPTED_OUT = ProviderResponse(outcome=TraceOutcome.SUPPRESSED)
NAMED = {"full_name": "Suppressed Sandbox", "company_domain": "sandbox.example"}
VICTIM, PHONE = "ada@acme.com", "+16175550101"


def listed(desk: Desk) -> set[bytes]:
    with desk.bench.services.database.reading() as session:
        return set(session.scalars(select(Suppression.digest)))


def opt_outs(desk: Desk) -> list[ProviderOptOut]:
    with desk.bench.services.database.reading() as session:
        return list(session.scalars(select(ProviderOptOut).order_by(ProviderOptOut.id)))


def keep(desk: Desk, **values: Any) -> str:
    with desk.bench.services.database.transaction() as session:
        found = dataclasses.replace(person(said_by("one", NOW)), **values)
        return contacts.upsert(session, found, now=NOW).id


@pytest.mark.parametrize(
    "victim", [{"email": VICTIM}, {"linkedin_url": ADA}, {"phone": PHONE}, {"email": VICTIM, "phone": PHONE}]
)
def test_who_is_named_beside_somebody_who_opted_out_is_seen_by_all(
    mallory: Desk, victim: dict[str, str]
) -> None:
    other = mallory.of_another_workspace()
    keep(mallory, linkedin_url=ADA, emails=(email(),), phones=number().phones)
    mallory.with_providers("one", one=OPTED_OUT)

    jobs = [mallory.reveal(NAMED | victim, max_age_days=1), mallory.reveal(NAMED | {"email": "x@y.com"})]

    assert jobs[1].outcome == Outcome.SUPPRESSED
    assert listed(mallory) == set()
    assert other.reveal({"email": VICTIM}).outcome == Outcome.FOUND
    assert not other.look_up(linkedin_url=ADA)["suppressed"]


def test_what_is_stored_beside_who_opted_out_is_not_listed(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, phones=number().phones)
    mallory.with_providers("one", one=OPTED_OUT)

    job = mallory.reveal({"linkedin_url": ADA})

    assert (job.outcome, job.charged, listed(mallory)) == (Outcome.SUPPRESSED, 0, set())
    assert not mallory.of_another_workspace().look_up(linkedin_url=ADA)["suppressed"]


@pytest.mark.parametrize(("kind", "value"), [("email", "bob@acme.com"), ("linkedin_url", BOB)])
def test_the_one_address_or_profile_that_a_provider_was_asked_by_alone_is_listed(
    mallory: Desk, kind: str, value: str
) -> None:
    mallory.with_providers("one", one=OPTED_OUT)

    job = mallory.reveal({kind: value}, Kind.REVEAL_PHONE)

    assert job.outcome == Outcome.SUPPRESSED
    assert listed(mallory) == {digest(DIGEST_KEYS, Identifier(kind, value))}
    assert mallory.of_another_workspace().look_up(**{kind: value})["suppressed"]


def test_a_phone_alone_is_not_listed(mallory: Desk) -> None:
    mallory.with_providers("one", one=OPTED_OUT)

    job = mallory.reveal({"phone": PHONE})

    assert (job.outcome, listed(mallory)) == (Outcome.SUPPRESSED, set())


def test_a_verifier_lists_the_address_and_nothing_else(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email(status=UNKNOWN),), phones=number().phones)
    mallory.with_providers("one", verifiers=("check",), one=MISS, check=OPTED_OUT)

    job = mallory.reveal({"linkedin_url": ADA})

    assert (job.outcome, listed(mallory)) == (
        Outcome.SUPPRESSED,
        {digest(DIGEST_KEYS, Identifier("email", VICTIM))},
    )


def test_a_verifier_that_is_asked_again_by_the_operator_lists_the_address(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email(),))
    known = mallory.with_providers("one", one=MISS, check=OPTED_OUT)
    mallory.reveal({"linkedin_url": ADA})
    mallory.time[0] += mallory.bench.services.settings.usual_age * 2

    reverification.verify_due(mallory.bench.services, [known["check"]])  # type: ignore[list-item]  # a fake

    assert listed(mallory) == {digest(DIGEST_KEYS, Identifier("email", VICTIM))}


def test_the_same_question_is_answered_without_asking_again_and_another_one_is_asked(mallory: Desk) -> None:
    known = mallory.with_providers("one", one=OPTED_OUT)
    other = mallory.of_another_workspace()

    jobs = [desk.reveal(NAMED) for desk in (mallory, mallory, other)]
    others = mallory.reveal({"full_name": "Bob Ray", "company_domain": "acme.com"})

    assert [job.outcome for job in (*jobs, others)] == [Outcome.SUPPRESSED] * 4
    assert len(known["one"].asked) == 2
    assert [line["outcome"] for line in jobs[1].trace] == ["suppressed"]


def test_stored_data_is_given_though_a_provider_would_not_speak_of_the_person(mallory: Desk) -> None:
    mallory.with_providers("one", one=OPTED_OUT)
    subject = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}
    mallory.reveal(subject)
    keep(mallory, emails=(email(),))

    job = mallory.of_another_workspace().reveal(subject)

    assert (job.outcome, job.trace) == (Outcome.FOUND, [])


def test_who_opted_out_of_one_provider_is_left_alone_by_those_behind_it(mallory: Desk) -> None:
    known = mallory.with_providers("one", "two", one=OPTED_OUT, two=tells(email()))

    job = mallory.reveal(NAMED)

    assert (job.outcome, known["two"].asked) == (Outcome.SUPPRESSED, [])


def test_the_operator_sees_what_was_said_without_the_person(mallory: Desk) -> None:
    mallory.with_providers("one", one=OPTED_OUT)

    mallory.reveal({"linkedin_url": ADA, "full_name": "Ada", "company_domain": "acme.com"})
    mallory.reveal({"email": VICTIM})
    mallory.reveal({"email": "x@acme.com", "linkedin_url": ADA})

    mixed, alone, several = opt_outs(mallory)
    assert (mixed.asked_by, mixed.kind, mixed.state) == (
        ["company_domain", "full_name", "linkedin_url"],
        "linkedin_url",
        "open",
    )
    assert (alone.asked_by, alone.kind, alone.state) == (["email"], "email", "listed")
    assert (several.kind, several.digest, several.state) == (None, None, "open")


def test_what_the_operator_dismissed_may_be_asked_again_and_stays_off_the_list(mallory: Desk) -> None:
    known = mallory.with_providers("one", one=OPTED_OUT)
    mallory.reveal({"email": VICTIM})
    with mallory.bench.services.database.transaction() as session:
        [row] = session.scalars(select(ProviderOptOut))
        assert provider_opt_outs.dismiss(session, row, now=NOW)

    job = mallory.reveal({"email": VICTIM})

    assert (job.outcome, len(known["one"].asked), listed(mallory)) == (Outcome.SUPPRESSED, 2, set())


def test_a_suppressed_value_in_an_answer_ends_the_job_and_lists_nothing_more(mallory: Desk) -> None:
    mallory.suppress("email", "gone@acme.com")
    mallory.with_providers("one", one=tells(email("gone@acme.com")))

    job = mallory.reveal(NAMED | {"email": VICTIM})

    assert (job.outcome, job.charged) == (Outcome.SUPPRESSED, 0)
    assert (listed(mallory), opt_outs(mallory)) == (
        {digest(DIGEST_KEYS, Identifier("email", "gone@acme.com"))},
        [],
    )


@pytest.mark.parametrize("fields", [("profile",), ("email",), ("email", "phone", "profile")])
def test_an_enrichment_lists_nobody_either(mallory: Desk, fields: tuple[str, ...]) -> None:
    mallory.with_providers("one", one=OPTED_OUT)

    item = mallory.bench.enrich({"subject": NAMED | {"email": VICTIM}}, fields)

    assert (item["outcome"], listed(mallory), len(opt_outs(mallory))) == ("suppressed", set(), 1)


def test_whoever_is_suppressed_while_being_asked_about_is_neither_stored_nor_sold(mallory: Desk) -> None:
    def tell(_ask: ProviderRequest) -> ProviderResponse:
        mallory.suppress("linkedin_url", ADA)
        return tells(email())  # the response has no profile

    mallory.with_providers("one", one=tell)

    job = mallory.reveal({"linkedin_url": ADA, "full_name": "Ada Lovelace", "company_domain": "acme.com"})

    assert (job.outcome, job.charged, job.result) == (Outcome.SUPPRESSED, 0, None)
    assert stored(mallory) == 0


@pytest.mark.parametrize("fields", [("profile",), ("email",), ("phone", "profile")])
def test_nor_in_an_enrichment(mallory: Desk, fields: tuple[str, ...]) -> None:
    told: FoundContact = person(said_by("one", NOW))

    def tell(ask: ProviderRequest) -> ProviderResponse:
        mallory.suppress("phone", "+12025550143")
        found = {"email": tells(email()), "phone": number(), "person": tells(told)}
        return found[ask.field.value]

    mallory.with_providers("one", one=tell)
    subject = {"full_name": "Ada Lovelace", "company_domain": "acme.com", "phone": "+12025550143"}

    item = mallory.bench.enrich({"subject": subject}, fields)

    assert (item["outcome"], item["contact"], item["credits_charged"]) == ("suppressed", None, 0)
    assert stored(mallory) == 0


def stored(desk: Desk) -> int:
    with desk.bench.services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Contact)) or 0
