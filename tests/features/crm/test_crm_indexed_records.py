"""Tests that a push finds a person by what was read of the CRM, and does not create them again."""

from __future__ import annotations

import pytest
from crm_support import TITLES, CrmHarness

OTHER_EMAIL = "ada@acme-group.example"

pytestmark = pytest.mark.parametrize("vendor", sorted(TITLES))


def test_a_person_with_another_address_in_the_crm_is_not_created_again(
    harness: CrmHarness, vendor: str
) -> None:
    harness.pushed(harness.owned_contact())
    harness.read_to_the_end()

    [item] = harness.pushed(harness.owned_contact(OTHER_EMAIL))

    assert len(harness.crm.people) == 1
    assert item.outcome in {"unchanged", "updated"}
    assert "found_by_name" in [note["code"] for note in item.notes]


def test_a_person_with_several_namesakes_in_the_crm_is_created(harness: CrmHarness, vendor: str) -> None:
    harness.pushed(harness.owned_contact(), harness.owned_contact("al@acme.com", name="Al Lovelace"))
    for record in harness.crm.people.values():
        _rename(record, "Al", "Ada")
    harness.read_to_the_end()

    [item] = harness.pushed(harness.owned_contact(OTHER_EMAIL))

    assert item.outcome == "created"
    assert len(harness.crm.people) == 3


def test_a_record_that_was_deleted_meanwhile_is_created_anew(harness: CrmHarness, vendor: str) -> None:
    harness.pushed(harness.owned_contact())
    harness.read_to_the_end()
    harness.crm.people.clear()

    [item] = harness.pushed(harness.owned_contact(OTHER_EMAIL))

    assert item.outcome == "created"


def _rename(record: dict[str, object], old: str, new: str) -> None:
    """Replace a first name in the record, in whichever property it is."""
    for name, value in record.items():
        if isinstance(value, dict):
            _rename(value, old, new)
        elif isinstance(value, str) and value.split()[:1] == [old]:
            record[name] = value.replace(old, new, 1)
