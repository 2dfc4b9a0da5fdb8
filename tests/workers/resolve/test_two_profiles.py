"""A reveal by two profile URLs of a person: from then on the workspace finds the stored contact by either."""

from __future__ import annotations

import pytest
from fake_providers import email, person
from worker_harness import ADA, BOB, WorkerHarness

from app.domain.records.subjects import Subject
from app.engine.matching import caller_identifiers

MEMBER = "https://www.linkedin.com/in/ACwAAABada0001"
OTHER = MEMBER.replace("0001", "0002")


def found_by(harness: WorkerHarness, url: str) -> list[str]:
    """Return the contacts that the workspace finds by a profile URL which none of them has."""
    with harness.database.reading() as session:
        subject = Subject(linkedin_url=url)
        [(_kind, ids)] = caller_identifiers.find(
            session, harness.workspace_id, [(subject, caller_identifiers.KINDS)]
        )
    return ids


@pytest.mark.parametrize("kind", ["reveal", "enrichment"])
def test_the_second_profile_leads_to_the_stored_contact(harness: WorkerHarness, kind: str) -> None:
    contact_id = harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    both = {"linkedin_url": ADA, "member_url": MEMBER}

    if kind == "reveal":
        harness.run_reveal(harness.submit_reveal(both))
    else:
        harness.run_enrichment(harness.submit_enrichment({"subject": both}, fields=("email",)))

    assert found_by(harness, MEMBER) == [contact_id]


def test_a_second_profile_of_another_namesake_is_not_linked(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, member_url=MEMBER, emails=(email(),)))

    harness.run_reveal(harness.submit_reveal({"linkedin_url": ADA, "member_url": OTHER}))

    assert found_by(harness, OTHER) == []


def test_a_contact_that_was_not_found_by_the_first_profile_is_not_linked(harness: WorkerHarness) -> None:
    contact_id = harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))

    harness.run_reveal(
        harness.submit_reveal({"contact_id": contact_id, "linkedin_url": BOB, "member_url": MEMBER})
    )

    assert found_by(harness, MEMBER) == []
