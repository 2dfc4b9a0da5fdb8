"""Jobs about an address or a number of which the workspace is told nothing: only a sale confirms it."""

from __future__ import annotations

from typing import Any

import pytest
from fake_providers import MISS, email, person, phone
from sqlalchemy import select
from stored_support import own
from worker_harness import ADA, WorkerHarness

from app.domain.kinds import Kind, Outcome
from app.domain.reverse_lookups import ReverseLookupLimits
from app.engine.contacts.contacts import Contact
from app.infra.database.session import DataSettings

STORED, UNKNOWN = "ada@acme.com", "bob@acme.com"
NUMBER = "+16175550101"
PAID = ("profile", "email")


@pytest.fixture
def guesser(harness: WorkerHarness) -> WorkerHarness:
    """A workspace that may try no more values; a person is stored with an address."""
    limits = ReverseLookupLimits(0, 0, 0)
    harness.database.settings = DataSettings(reverse_lookup_limits=limits)
    harness.store_contact(person(linkedin_url=ADA, emails=(email(STORED),)))
    harness.set_providers(one=MISS)
    return harness


def answer(harness: WorkerHarness, address: str, kind: Kind = Kind.REVEAL_PHONE) -> tuple[Any, ...]:
    """Return what a reveal tells about an address."""
    job = harness.reveal({"email": address}, kind)
    trace = [(line["provider"], line["outcome"]) for line in job.trace]
    return job.outcome, job.result, job.error, job.charged, job.already_owned, trace


def test_an_address_is_confirmed_by_its_sale(guesser: WorkerHarness) -> None:
    before = guesser.look_up(email=STORED)

    job = guesser.reveal({"email": STORED})

    assert (before["outcome"], job.outcome, job.charged) == ("none", Outcome.FOUND, 1)
    assert guesser.look_up(email=STORED)["revealed"]["emails"][0]["email"] == STORED


def test_an_address_by_which_a_number_was_sold_is_remembered(guesser: WorkerHarness) -> None:
    contact = person(linkedin_url=ADA, emails=(email(STORED),), phones=(phone(),))
    guesser.store_contact(contact)

    job = guesser.reveal({"email": STORED}, Kind.REVEAL_PHONE)

    assert (job.outcome, job.charged) == (Outcome.FOUND, 1)
    assert guesser.look_up(email=STORED)["revealed"]["phones"][0]["e164"] == NUMBER


def test_a_job_that_sells_nothing_answers_as_about_an_unknown_address(guesser: WorkerHarness) -> None:
    assert (
        answer(guesser, STORED)
        == answer(guesser, UNKNOWN)
        == (
            Outcome.NOT_FOUND,
            None,
            None,
            0,
            False,
            [("one", "miss")],
        )
    )


def test_an_owned_field_confirms_no_guess_of_the_other(guesser: WorkerHarness) -> None:
    guesser.store_contact(person(linkedin_url=ADA, emails=(email(STORED),), phones=(phone(),)))
    with guesser.database.transaction() as session:
        [contact] = session.scalars(select(Contact))
        own(session, guesser.workspace_id, contact, "phone")

    assert answer(guesser, STORED) == answer(guesser, UNKNOWN)


def test_a_suppressed_address_is_not_found_and_nobody_is_asked(guesser: WorkerHarness) -> None:
    providers = guesser.set_providers(one=MISS)
    guesser.suppress("email", STORED)

    job = guesser.reveal({"email": STORED}, Kind.REVEAL_PHONE)
    item = guesser.enrich({"subject": {"email": STORED}}, PAID)
    unknown = guesser.enrich({"subject": {"email": UNKNOWN}}, PAID)

    assert (job.outcome, job.charged, job.result) == (Outcome.NOT_FOUND, 0, None)
    assert item == unknown
    assert not any(request.subject.email == STORED for request in providers["one"].requests)


def test_a_person_who_is_suppressed_by_a_profile_of_the_request_is_told(guesser: WorkerHarness) -> None:
    guesser.suppress("linkedin_url", ADA)

    job = guesser.reveal({"linkedin_url": ADA, "email": STORED})

    assert job.outcome == Outcome.SUPPRESSED


def test_an_enrichment_shows_the_profile_only_with_a_sale(guesser: WorkerHarness) -> None:
    free = [guesser.enrich({"subject": {"email": address}}, ("profile",)) for address in (STORED, UNKNOWN)]

    sold = guesser.enrich({"subject": {"email": STORED}}, PAID)

    assert free[0] == free[1]
    assert (free[0]["outcome"], free[0]["contact"]) == ("not_found", None)
    assert (sold["outcome"], sold["contact"]["full_name"]) == ("found", "Ada Lovelace")
    assert (sold["emails"][0]["email"], sold["credits_charged"]) == (STORED, 1)


def test_without_credits_an_enrichment_confirms_nothing(guesser: WorkerHarness) -> None:
    stored, unknown = (
        guesser.enrich({"subject": {"email": address}}, PAID, price=0) for address in (STORED, UNKNOWN)
    )

    assert stored == unknown
    assert stored["error"]["code"] == "insufficient_credits"


@pytest.mark.parametrize("state", ["stored", "suppressed", "unknown"])
def test_the_required_purpose_does_not_depend_on_what_is_stored(guesser: WorkerHarness, state: str) -> None:
    guesser.require_purpose("US", "unknown")
    if state == "suppressed":
        guesser.suppress("email", STORED)

    job = guesser.reveal({"email": UNKNOWN if state == "unknown" else STORED}, Kind.REVEAL_PHONE)

    assert job.error is not None
    assert (job.error["code"], job.outcome) == ("purpose_required", None)


def test_a_list_is_told_what_it_buys_and_leaves_the_limits_to_lookups(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(STORED),)))
    harness.set_providers(one=MISS)
    items = [{"subject": {"email": address}} for address in (STORED, UNKNOWN)]

    job_id = harness.submit_enrichment(*items, fields=("profile", "phone"), price=2)

    results = harness.run_enrichment(job_id)["result"]["items"]
    assert [(item["outcome"], item["contact"]) for item in results] == [("not_found", None)] * 2
    assert harness.look_up(email=STORED)["outcome"] == "matched"
