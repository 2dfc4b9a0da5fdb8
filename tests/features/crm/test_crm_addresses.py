"""Tests of the addresses by which a person is found in a CRM, and of the one that is written."""

from __future__ import annotations

from typing import Any

import pytest
from crm_support import EMAIL, CrmHarness
from stored_support import a_contact, an_email

from app.engine.ledger.reveals import RevealedValue
from app.features.crm import addresses

OTHER = "ada.lovelace@acme.com"
every_vendor = pytest.mark.parametrize("vendor", ["hubspot", "pipedrive", "salesforce", "twenty", "zoho"])


def record(vendor: str, primary: str, *others: str) -> dict[str, Any]:
    """Return a person of the CRM with a primary and other addresses."""
    return {
        "hubspot": {"email": primary, "hs_additional_emails": ";".join(others)},
        "pipedrive": {"emails": [{"value": one, "primary": one == primary} for one in (primary, *others)]},
        "salesforce": {"Email": primary, "Private__c": next(iter(others), None)},
        "twenty": {"emails": {"primaryEmail": primary, "additionalEmails": list(others)}},
        "zoho": {"Email": primary, "Secondary_Email": next(iter(others), None)},
    }[vendor]


@every_vendor
@pytest.mark.parametrize("is_primary", [True, False])
def test_a_record_under_another_owned_address_is_found(
    harness: CrmHarness, vendor: str, *, is_primary: bool
) -> None:
    contact_id = harness.owned_contact()
    harness.has_email(contact_id, OTHER, confidence=0.5)
    if vendor == "salesforce":
        fields = [{"name": "Email", "type": "email"}, {"name": "Private__c", "type": "email"}]
        harness.crm.described = {"Contact": fields}
    present = (OTHER,) if is_primary else ("info@acme.com", OTHER)
    harness.crm.people["7"] = record(vendor, *present)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, list(harness.crm.people)) == ("updated", ["7"])
    assert present[0] in str(harness.crm.people)
    assert EMAIL not in str(harness.crm.people)


@every_vendor
def test_a_record_with_a_part_of_an_address_is_somebody_else(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.crm.people["7"] = record(vendor, "info@acme.com", f"no-{EMAIL}")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, len(harness.crm.people)) == ("created", 2)


@every_vendor
def test_the_record_under_todays_address_is_taken_before_others(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.has_email(contact_id, OTHER, confidence=0.5)
    harness.crm.people |= {"7": record(vendor, OTHER), "8": record(vendor, EMAIL)}

    [item] = harness.pushed(contact_id)

    assert len(harness.crm.people["7"]) < len(harness.crm.people["8"])
    assert {"code": "other_records"} in (item.notes or ())


@every_vendor
def test_an_address_that_the_workspace_does_not_own_finds_no_record(harness: CrmHarness, vendor: str) -> None:
    owned = harness.owned_contact()
    with harness.database.transaction() as session:
        twin = a_contact(session, None, "Ada King")
        an_email(session, twin, EMAIL)
        an_email(session, twin, "secret@acme.com")
        session.add(
            RevealedValue(
                workspace_id=harness.workspace_id,
                field="email",
                value_index=session.keys.ring.index("email", EMAIL),
                contact_id=owned,
                created_at=harness.now,
            )
        )
    harness.crm.people["7"] = record(vendor, "secret@acme.com")

    [item] = harness.pushed(twin.id)

    assert (item.outcome, len(harness.crm.people)) == ("created", 2)
    assert len(harness.crm.people["7"]) == len(record(vendor, ""))


@pytest.mark.parametrize("vendor", ["hubspot", "twenty"])
def test_a_crm_that_offers_no_search_by_other_addresses_is_pushed_to(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    path = {"hubspot": "/search", "twenty": "/rest/people"}[vendor]
    if vendor == "twenty":
        harness.crm.fail(200, {"data": {"people": []}}, path=path)
    harness.crm.fail(400, {"messages": ["Unknown operator"]}, path=path)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, harness.crm.failures) == ("created", [])


def test_a_bounced_address_finds_the_record_and_is_not_written(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.has_email(contact_id, OTHER, status="invalid")
    harness.crm.people["7"] = {"email": OTHER}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["email"]) == ("updated", "keep")
    assert list(harness.crm.people) == ["7"]


def test_more_addresses_than_a_search_takes_are_looked_up_in_the_batch(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    for n in range(6):
        harness.has_email(contact_id, f"ada.{n}@acme.com", confidence=0.1)
    harness.crm.people["7"] = {"email": "ada.5@acme.com"}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, list(harness.crm.people)) == ("updated", ["7"])


@pytest.mark.parametrize(
    ("entries", "today", "owned"),
    [
        ([("a@x.com", {}), ("b@x.com", {})], "a@x.com", ["a@x.com", "b@x.com"]),
        ([("a@x.com", {"status": "invalid"}), ("b@x.com", {})], "b@x.com", ["b@x.com", "a@x.com"]),
        ([("a@x.com", {"status_reasons": ["former"]}), ("b@x.com", {})], "b@x.com", ["b@x.com", "a@x.com"]),
        ([("a@x.com", {"status_reasons": ["former"]})], None, ["a@x.com"]),
        ([], None, []),
    ],
)
def test_the_address_of_today_is_written_and_all_find_the_person(
    entries: list[tuple[str, dict[str, Any]]], today: str | None, owned: list[str]
) -> None:
    chosen = addresses.choose({"email": email, "status": "valid"} | changes for email, changes in entries)

    assert (chosen.today, list(chosen.owned)) == (today, owned)
