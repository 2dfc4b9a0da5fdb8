"""What a workspace has in a system of its own changes nothing for another workspace.

See docs/workspace-isolation.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from fake_providers import MISS, PAID, UNKNOWN, FakeProvider, email, hit, person
from jobs_support import NOW
from sqlalchemy import select
from worker_harness import ADA, WorkerHarness

from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.ledger.reveals import Reveal, RevealedValue
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.matching.caller_identifiers import CallerIdentifier
from app.engine.own_records.own_records import OwnRecord
from app.infra.database.session import Session
from workers.providers.base import FREE, Pending, ProviderResponse

OWN, NUMBER = "ada@own.example", "+447400123456"
SUBJECT = {"linkedin_url": ADA}
SHARED = (Contact, Email, Phone, Reveal, RevealedValue, CallerIdentifier, Suppression)


@pytest.fixture
def harness(harness: WorkerHarness) -> WorkerHarness:
    """The workspace that has Ada in a system of its own."""
    owner = harness.workspace_id

    def find(_session: Session, people: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        return [[ADAS_RECORD] if one.workspace_id == owner and ADA in one.profiles else [] for one in people]

    harness.services = dataclasses.replace(harness.services, own_records={"crm": find})
    return harness


ADAS_RECORD = OwnRecord(
    source="crm",
    system="hubspot",
    title="HubSpot",
    emails=[OWN],
    phones=[NUMBER],
    changed_at=NOW,
    is_certain=True,
)


def use(harness: WorkerHarness, verification: Any = None) -> dict[str, FakeProvider]:
    """Use a provider that finds nothing, and a free verifier of an external service."""
    reply = hit(email(OWN)) if verification is None else verification
    providers = harness.set_providers(verifiers=("check",), one=MISS, check=reply)
    providers["check"].terms = dataclasses.replace(PAID, prices=dict.fromkeys(PAID.prices, 0.0))
    return providers


def shared(harness: WorkerHarness) -> str:
    """Return the contents of what several workspaces may see the effects of."""
    with harness.database.reading() as session:
        return str([session.execute(select(table.__table__)).all() for table in SHARED])


def reveal_own(harness: WorkerHarness) -> None:
    """Reveal what the workspace has itself."""
    jobs = [harness.reveal(SUBJECT), harness.reveal(SUBJECT, Kind.REVEAL_PHONE)]
    assert [(job.outcome, job.charged) for job in jobs] == [(Outcome.FOUND, 0)] * 2


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_reveal_of_an_own_value_stores_nothing_that_is_shared(
    harness: WorkerHarness, *, is_stored: bool
) -> None:
    if is_stored:
        harness.store_contact(person(linkedin_url=ADA))
    use(harness)
    before = shared(harness)

    reveal_own(harness)

    assert shared(harness) == before


def test_another_workspace_is_told_and_sold_nothing_of_it(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    use(harness)
    other = harness.other_workspace()
    before = other.look_up(**SUBJECT)

    reveal_own(harness)

    jobs = [other.reveal(SUBJECT), other.reveal(SUBJECT, Kind.REVEAL_PHONE)]
    assert [(job.outcome, job.result) for job in jobs] == [(Outcome.NOT_FOUND, None)] * 2
    assert other.look_up(**SUBJECT) == before


def test_the_address_of_another_workspace_leads_to_nobody(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    use(harness)
    reveal_own(harness)

    found = harness.other_workspace().look_up(email=OWN)

    assert found["outcome"] == "none"


def test_a_verification_in_flight_is_not_waited_for_by_another_workspace(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(OWN, UNKNOWN),)))
    providers = use(harness, Pending("ticket", 5.0))
    harness.reveal(SUBJECT)

    harness.other_workspace().reveal(SUBJECT)

    assert [request.subject.email for request in providers["check"].requests] == [OWN, OWN]


def test_a_verification_of_another_workspace_is_not_waited_for(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(OWN, UNKNOWN),)))
    providers = use(harness, Pending("ticket", 5.0))
    harness.other_workspace().reveal(SUBJECT)

    harness.reveal(SUBJECT)

    assert len(providers["check"].requests) == 2


def test_an_opt_out_at_the_verifier_suppresses_nobody_else(harness: WorkerHarness) -> None:
    providers = use(harness, ProviderResponse(outcome=TraceOutcome.SUPPRESSED))
    before = shared(harness)

    job = harness.reveal(SUBJECT)

    assert (job.outcome, len(providers["check"].requests)) == (Outcome.NOT_FOUND, 1)
    assert shared(harness) == before


def test_a_free_verdict_is_made_again_for_another_workspace(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(OWN, UNKNOWN),)))
    providers = use(harness)
    providers["check"].terms = FREE
    reveal_own(harness)

    harness.other_workspace().reveal(SUBJECT)

    assert len(providers["check"].requests) == 2
