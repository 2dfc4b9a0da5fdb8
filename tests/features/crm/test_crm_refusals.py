"""Tests of values that a CRM refuses: the property is lost, and the person is not."""

from __future__ import annotations

from typing import Any

import pytest
from crm_support import CREATION, TITLES, CrmHarness

pytestmark = pytest.mark.any_database

FORBIDDEN = {
    "hubspot": {"category": "MISSING_SCOPES"},
    "pipedrive": {"success": False, "error": "Forbidden"},
    "salesforce": [],
    "twenty": {"messages": ["Forbidden"]},
    "zoho": {"code": "NO_PERMISSION", "details": {}, "message": "permission denied", "status": "error"},
}
every_vendor = pytest.mark.parametrize("vendor", sorted(TITLES))


def person(harness: CrmHarness) -> dict[str, object]:
    """Return the only person in the CRM."""
    [found] = harness.crm.people.values()
    return found


@pytest.mark.parametrize(
    ("vendor", "answer", "reason"),
    [
        ("hubspot", "INVALID_OPTION", "not_an_option"),
        ("hubspot", "PROPERTY_DOESNT_EXIST", "unknown_property"),
        ("hubspot", "READ_ONLY_VALUE", "read_only"),
        ("hubspot", "PROPERTY_VALUE_TOO_LONG", "too_long"),
        ("hubspot", "INVALID_DATE", "invalid"),
        ("pipedrive", "Parameter '{name}' is not allowed for this request", "unknown_property"),
        ("pipedrive", "value must be one of the options of '{name}'", "not_an_option"),
        ("pipedrive", "length must be at most 255 characters", "too_long"),
        ("pipedrive", "the user has no permission to write it", "read_only"),
        ("pipedrive", "must be a number", "invalid"),
        ("salesforce", "STRING_TOO_LONG", "too_long"),
        ("salesforce", "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "not_an_option"),
        ("salesforce", "FIELD_INTEGRITY_EXCEPTION", "not_an_option"),
        ("salesforce", "INVALID_FIELD_FOR_INSERT_UPDATE", "read_only"),
        ("salesforce", "FIELD_CUSTOM_VALIDATION_EXCEPTION", "invalid"),
        ("twenty", 'Invalid string value 5 for text field "{name}"', "invalid"),
        ("twenty", 'Value "X" does not match any option of field "{name}"', "not_an_option"),
        ("twenty", 'Field "{name}" is not defined by type "PersonCreateInput"', "unknown_property"),
        ("twenty", "Object person doesn't have field {name}: it does not exist", "unknown_property"),
        ("zoho", "INVALID_DATA maximum_length", "too_long"),
        ("zoho", "INVALID_DATA expected_data_type", "invalid"),
        ("zoho", "NO_PERMISSION", "read_only"),
        ("zoho", "DUPLICATE_DATA", "duplicate"),
    ],
)
def test_a_refused_property_is_left_out_and_named_in_the_receipt(
    harness: CrmHarness, vendor: str, answer: str, reason: str
) -> None:
    contact_id = harness.owned_contact()
    harness.crm.refusals = {TITLES[vendor]: answer}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("created", None)
    assert TITLES[vendor] not in person(harness)
    assert item.actions[TITLES[vendor]] == "refused"
    assert item.notes == [{"code": "property_refused", "property": TITLES[vendor], "reason": reason}]


@every_vendor
def test_a_refused_property_does_not_stop_the_update_of_the_others(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.crm.refusals = {TITLES[vendor]: 'Invalid value for field "jobTitle"'}
    harness.change(contact_id, title="Chief Engineer", first_name="Augusta")

    [item] = harness.pushed(contact_id)

    assert item.outcome == "updated"
    assert (item.actions[TITLES[vendor]], "Augusta" in str(person(harness))) == ("refused", True)
    assert person(harness)[TITLES[vendor]] == "Engineer"


@every_vendor
def test_a_person_is_unchanged_if_the_only_new_value_is_refused(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.crm.refusals = {TITLES[vendor]: 'Invalid value for field "jobTitle"'}
    harness.change(contact_id, title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions[TITLES[vendor]]) == ("unchanged", "refused")


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_properties_that_are_refused_one_after_the_other_are_all_left_out(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    harness.crm.refusals = {"Title": "STRING_TOO_LONG", "MailingCountry": "FIELD_INTEGRITY_EXCEPTION"}

    [item] = harness.pushed(contact_id)

    assert item.outcome == "created"
    assert [(note["property"], note["reason"]) for note in item.notes or ()] == [
        ("Title", "too_long"),
        ("MailingCountry", "not_an_option"),
    ]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_crm_that_refuses_ever_more_is_not_asked_for_ever(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, "+12025550102")
    harness.turn()
    asked = len(harness.crm.writes)
    harness.crm.refusals = dict.fromkeys(
        ["Title", "Phone", "MailingCountry", "FirstName", "LastName"], "STRING_TOO_LONG"
    )

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "invalid_values: FirstName")
    assert len([path for _, path in harness.crm.writes[asked:] if path.endswith("/Contact")]) == 4


@pytest.mark.parametrize(
    "message",
    [
        'Property values were not valid: [{"message":"X","error":"INVALID_OPTION","name":"jobtitle"}]',
        'Property values were not valid: [{"error":"PROPERTY_DOESNT_EXIST","name":"jobtitle"}]',
        'Property \\"jobtitle\\" does not exist',
        'Property "jobtitle" does not exist',
    ],
)
def test_a_property_that_only_the_message_of_hubspot_names_is_left_out(
    harness: CrmHarness, message: str
) -> None:
    contact_id = harness.owned_contact()
    body = {"status": "error", "message": message, "category": "VALIDATION_ERROR"}
    harness.crm.fail(400, body, method="POST", path="/objects/contacts")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["jobtitle"]) == ("created", "refused")
    assert "jobtitle" not in person(harness)


@every_vendor
def test_values_that_are_refused_without_a_name_leave_the_name_and_the_address(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    body: Any = {"category": "VALIDATION_ERROR", "message": "no [{list", "messages": ["Invalid"]}
    if vendor == "salesforce":
        body = [{"errorCode": "FIELD_INTEGRITY_EXCEPTION", "message": "refused", "fields": []}]
    harness.crm.fail(400, body, method="POST", path=CREATION[vendor])

    [item] = harness.pushed(contact_id)

    assert item.outcome == "created"
    assert "Lovelace" in str(person(harness))
    assert TITLES[vendor] not in person(harness)
    assert {note["reason"] for note in item.notes or ()} == {"unnamed"}


@every_vendor
def test_a_permission_that_one_property_lacks_costs_the_properties_and_not_the_connection(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    harness.crm.fail(403, FORBIDDEN[vendor], method="POST", path=CREATION[vendor])

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions[TITLES[vendor]]) == ("created", "refused")
    assert harness.connection().status == "connected"


@every_vendor
def test_a_permission_that_all_people_lack_stops_the_connection(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    for _ in range(3):
        harness.crm.fail(403, FORBIDDEN[vendor], method="POST", path=CREATION[vendor])

    [item] = harness.pushed(contact_id)

    assert item.outcome is None
    assert (harness.connection().status, harness.connection().error) == ("reconnect", "forbidden")


@every_vendor
def test_an_address_that_is_refused_fails_the_new_person(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    name = {"hubspot": "email", "pipedrive": "emails", "twenty": "emails"}.get(vendor, "Email")
    harness.crm.refusals = {name: 'Invalid value for field "emails"'}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, (item.error or "").partition(":")[0]) == ("failed", "invalid_values")
    assert harness.crm.people == {}


def test_a_message_of_hubspot_that_is_nested_too_deeply_is_tried_again(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    body = {"category": "VALIDATION_ERROR", "message": '[{"a":' + "[" * 100_000}
    harness.crm.fail(400, body, method="POST", path="/objects/contacts")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == (None, "unexpected_response")


def test_a_record_that_the_credentials_may_not_write_fails_alone(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")
    harness.crm.fail(404, {"status": "error"}, method="PATCH")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "http_404")


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_locked_record_of_salesforce_fails_alone(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")
    error = [{"errorCode": "INSUFFICIENT_ACCESS_OR_READONLY", "message": "no", "fields": []}]
    harness.crm.fail(403, error, method="PATCH")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "record_not_writable")
    assert harness.connection().status == "connected"


@pytest.mark.parametrize(("vendor", "name"), [("hubspot", "email"), ("twenty", "emails.primaryEmail")])
def test_a_new_address_that_another_record_has_is_left_out_of_the_update(
    harness: CrmHarness, vendor: str, name: str
) -> None:
    contact_id = harness.owned_contact("old@acme.com")
    harness.pushed(contact_id)
    other = {"email": "ada@acme.com", "emails": {"primaryEmail": "ada@acme.com"}}
    harness.crm.people["9"] = other
    harness.has_email(contact_id, "ada@acme.com", confidence=0.99)
    harness.change(contact_id, title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions[name]) == ("updated", "refused")
    assert {"code": "property_refused", "property": name, "reason": "duplicate"} in (item.notes or ())
    assert "Chief Engineer" in str(harness.crm.people)
