"""Tests that a push finds a person by what was read of the CRM, and does not create them again."""

from __future__ import annotations

import pytest
from crm_support import TITLES, CrmHarness
from jobs_support import NOW

from app.features.crm import connections
from app.features.crm.index import crm_index
from app.features.crm.index.crm_people import CrmPerson, RecordKind

OTHER_EMAIL = "ada@acme-group.example"

every_vendor = pytest.mark.parametrize("vendor", sorted(TITLES))
asked_by_address = pytest.mark.parametrize("vendor", sorted(TITLES.keys() - {"salesforce"}))


def index(harness: CrmHarness) -> None:
    """Store what a reading reads: each person of the CRM as Ada Lovelace of Acme Engines."""
    people = [
        CrmPerson(
            crm_id=crm_id,
            kind=RecordKind.CONTACT,
            name="Ada Lovelace",
            company="Acme Engines",
            domain="acme.com",
            emails=(f"ada{number}@acme.com",),
        )
        for number, crm_id in enumerate(harness.crm.people)
    ]
    with harness.database.transaction() as session:
        connection = connections.get(session, harness.workspace_id, harness.connection_id)
        crm_index.store(session, connection, people, now=NOW)


@every_vendor
def test_a_person_with_another_address_in_the_crm_is_not_created_again(
    harness: CrmHarness, vendor: str
) -> None:
    harness.pushed(harness.owned_contact())
    index(harness)

    [item] = harness.pushed(harness.owned_contact(OTHER_EMAIL))

    assert len(harness.crm.people) == 1
    assert item.outcome in {"unchanged", "updated"}
    assert "found_by_name" in [note["code"] for note in item.notes]


@asked_by_address
def test_a_person_with_several_namesakes_in_the_crm_is_created(harness: CrmHarness, vendor: str) -> None:
    harness.pushed(harness.owned_contact(), harness.owned_contact("al@acme.com", name="Al Lovelace"))
    index(harness)

    [item] = harness.pushed(harness.owned_contact(OTHER_EMAIL))

    assert item.outcome == "created"
    assert len(harness.crm.people) == 3


@every_vendor
def test_a_record_that_was_deleted_meanwhile_is_created_anew(harness: CrmHarness, vendor: str) -> None:
    harness.pushed(harness.owned_contact())
    index(harness)
    harness.crm.people.clear()

    [item] = harness.pushed(harness.owned_contact(OTHER_EMAIL))

    assert item.outcome == "created"
