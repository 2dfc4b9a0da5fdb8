"""Tests of pushes to Salesforce: countries as the org has them, leads, and columns that a user cannot see."""

from __future__ import annotations

from typing import Any

import pytest
from crm_support import EMAIL, CrmHarness
from fake_crms import FakeSalesforce

pytestmark = pytest.mark.any_database

STANDARD = ("Id", "FirstName", "LastName", "Email", "Phone", "Title", "AccountId", "MailingCountry")


@pytest.fixture
def vendor() -> str:
    return "salesforce"


@pytest.fixture
def org(harness: CrmHarness) -> FakeSalesforce:
    assert isinstance(harness.crm, FakeSalesforce)
    return harness.crm


def described(*columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the description of a table with the standard columns, as far as it matters, and these."""
    names = {column["name"] for column in columns}
    standard = [
        {
            "name": name,
            "type": "email" if name == "Email" else "string",
            "createable": True,
            "updateable": True,
        }
        for name in STANDARD
        if name not in names
    ]
    return [*standard, *columns]


def picklist(name: str, *options: tuple[str, str], restricted: bool = True) -> dict[str, Any]:
    values = [{"active": True, "label": label, "value": value} for value, label in options]
    return {"name": name, "type": "picklist", "restrictedPicklist": restricted, "picklistValues": values}


CODES = picklist("MailingCountryCode", ("DE", "Germany"), ("GB", "United Kingdom"))


@pytest.mark.parametrize(
    ("column", "name", "value"),
    [
        (CODES, "MailingCountryCode", "GB"),
        ({"name": "MailingCountryCode", "type": "picklist"}, "MailingCountryCode", "GB"),
        (picklist("MailingCountryCode", ("UKM", "United Kingdom")), "MailingCountryCode", "UKM"),
        (picklist("MailingCountry", ("UK", "Great Britain")), "MailingCountry", "UK"),
        (picklist("MailingCountry", ("5", "Vereinigtes Königreich")), "MailingCountry", "5"),
        (picklist("MailingCountry", ("GBR", "Island")), "MailingCountry", "GBR"),
        (picklist("MailingCountry", ("DE", "Germany"), restricted=False), "MailingCountry", "United Kingdom"),
        (picklist("MailingCountry", ("-", "Please choose"), ("UK", "UK")), "MailingCountry", "UK"),
        ({"name": "MailingCountry", "type": "string"}, "MailingCountry", "United Kingdom"),
    ],
)
def test_a_country_is_written_as_the_org_has_it(
    harness: CrmHarness, org: FakeSalesforce, column: dict[str, Any], name: str, value: str
) -> None:
    org.described = {"Contact": described(column)}
    contact_id = harness.owned_contact()

    [item] = harness.pushed(contact_id)
    [again] = harness.pushed(contact_id)

    [stored] = org.people.values()
    assert {key: one for key, one in stored.items() if "Country" in key} == {name: value}
    assert (item.outcome, item.actions[name], again.outcome) == ("created", "fill", "unchanged")


def test_a_country_that_is_no_option_is_left_out_and_named(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.described = {"Contact": described(picklist("MailingCountryCode", ("DE", "Germany")))}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, item.actions["MailingCountryCode"]) == ("created", "refused")
    assert item.notes == [
        {"code": "property_refused", "property": "MailingCountryCode", "reason": "not_an_option"}
    ]


def test_an_inactive_option_is_none(harness: CrmHarness, org: FakeSalesforce) -> None:
    column = picklist("MailingCountryCode", ("GB", "United Kingdom"), ("DE", "Germany"))
    column["picklistValues"][0]["active"] = False
    org.described = {"Contact": described(column)}

    [item] = harness.pushed(harness.owned_contact())

    assert item.actions["MailingCountryCode"] == "refused"


@pytest.mark.parametrize("status", [403, 404])
def test_an_org_that_may_not_be_described_gets_the_name_of_the_country(
    harness: CrmHarness, org: FakeSalesforce, status: int
) -> None:
    org.fail(status, [{"errorCode": "INSUFFICIENT_ACCESS"}], path="/Contact/describe")

    [item] = harness.pushed(harness.owned_contact())

    [stored] = org.people.values()
    assert (item.outcome, stored["MailingCountry"]) == ("created", "United Kingdom")


def test_a_token_that_ends_at_the_description_stops_the_connection(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.fail(401, [{"errorCode": "INVALID_SESSION_ID"}], path="/Contact/describe")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().error) == (None, "unauthorized")


def test_a_table_is_described_once_in_a_turn(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.described = {"Contact": described(CODES)}

    harness.pushed(harness.owned_contact(), harness.owned_contact("bob@acme.com", "Bob Ray"))

    assert [path.endswith("/Contact/describe") for _, path in org.requests].count(True) == 1


def test_columns_that_the_user_may_not_see_or_write_cost_only_themselves(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.described = {"Contact": described({"name": "Phone", "type": "phone", "createable": False})}
    org.unseen = {"Title", "MailingCountry", "Account.Name"}
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, "+12025550102")
    harness.map(website="Site__c")

    [item] = harness.pushed(contact_id)

    assert item.outcome == "created"
    assert {note["property"]: note["reason"] for note in item.notes or ()} == {
        "Title": "unknown_property",
        "MailingCountry": "unknown_property",
        "Phone": "read_only",
        "Site__c": "unknown_property",
    }


def test_a_custom_column_that_the_org_has_is_written(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.described = {"Contact": described({"name": "Site__c", "type": "url"})}
    harness.map(website="Site__c")

    harness.pushed(harness.owned_contact())

    assert [one["Site__c"] for one in org.people.values()] == ["acme.com"]


def test_an_encrypted_address_of_the_org_is_not_searched(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.described = {"Contact": described({"name": "Private__c", "type": "email", "filterable": False})}
    org.unseen = {"Private__c"}

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert not any("Private__c" in query for query in org.queries)


def test_a_query_that_stays_invalid_fails_the_person(harness: CrmHarness, org: FakeSalesforce) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    error = [{"errorCode": "INVALID_FIELD", "message": "No such column 'Elsewhere' on entity 'Contact'."}]
    push_id = harness.push(contact_id)
    org.fail(400, error, path="/query")

    harness.turn()

    [item] = harness.items(push_id)
    assert (item.outcome, item.error) == ("failed", "invalid_values: Elsewhere")


LEAD = {"FirstName": "Ada", "LastName": "Lovelace", "Company": "Acme Engines, Inc."}


@pytest.mark.parametrize(
    ("lead", "notes"),
    [
        (LEAD | {"Email": EMAIL}, ["existing_lead"]),
        (LEAD, ["found_by_name", "existing_lead"]),
        (LEAD | {"Email": "ada@home.example"}, ["found_by_name", "existing_lead"]),
        ({"LastName": "Countess", "Company": "Other", "Email": EMAIL.upper()}, ["existing_lead"]),
    ],
)
def test_a_lead_is_updated_where_it_is_empty_instead_of_creating_a_contact(
    harness: CrmHarness, org: FakeSalesforce, lead: dict[str, Any], notes: list[str]
) -> None:
    org.described = {"Lead": described(picklist("CountryCode", ("GB", "United Kingdom")))}
    org.leads["00Q1"] = dict(lead)
    contact_id = harness.owned_contact()

    [item] = harness.pushed(contact_id)
    [again] = harness.pushed(contact_id)

    assert (item.outcome, again.outcome, org.people, org.companies) == ("updated", "unchanged", {}, {})
    assert (
        org.leads["00Q1"]
        == {"Email": EMAIL, "FirstName": "Ada", "Title": "Engineer", "CountryCode": "GB"} | lead
    )
    assert [note["code"] for note in item.notes or ()] == notes


@pytest.mark.parametrize(
    "lead",
    [
        LEAD | {"Company": "Other"},
        LEAD | {"FirstName": "Augusta"},
        LEAD | {"Email": "lovelace2@acme.com"},
        LEAD | {"Email": f"x{EMAIL}"},
    ],
)
def test_a_lead_of_somebody_else_is_left_alone(
    harness: CrmHarness, org: FakeSalesforce, lead: dict[str, Any]
) -> None:
    org.leads["00Q1"] = dict(lead)

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, org.leads) == ("created", {"00Q1": lead})


def test_two_leads_of_one_name_at_the_company_are_left_alone(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.leads |= {"00Q1": dict(LEAD), "00Q2": dict(LEAD)}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, org.leads["00Q1"]) == ("created", LEAD)


def test_a_lead_has_the_name_of_the_country_in_an_org_without_picklists(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.leads["00Q1"] = LEAD | {"Email": EMAIL}

    harness.pushed(harness.owned_contact())

    assert org.leads["00Q1"]["Country"] == "United Kingdom"
    assert "MailingCountry" not in org.leads["00Q1"]


def test_a_person_without_a_company_is_not_looked_for_by_name(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.leads["00Q1"] = dict(LEAD)
    contact_id = harness.owned_contact()
    harness.change(contact_id, company_id=None)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, org.leads["00Q1"]) == ("created", LEAD)


@pytest.mark.parametrize("changes", [{"Email": EMAIL}, {}])
def test_a_converted_lead_leads_to_its_contact(
    harness: CrmHarness, org: FakeSalesforce, changes: dict[str, Any]
) -> None:
    org.people["003A"] = {"LastName": "King", "Email": "countess@home.example"}
    org.leads["00Q1"] = LEAD | {"IsConverted": True, "ConvertedContactId": "003A"} | changes

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, list(org.people)) == ("updated", ["003A"])
    assert (org.people["003A"]["LastName"], org.people["003A"]["Title"]) == ("King", "Engineer")
    assert "converted_lead" in [note["code"] for note in item.notes or ()]


@pytest.mark.parametrize("contact", ["003Gone", None])
def test_a_converted_lead_without_its_contact_makes_a_new_one(
    harness: CrmHarness, org: FakeSalesforce, contact: str | None
) -> None:
    org.leads["00Q1"] = LEAD | {"Email": EMAIL, "IsConverted": True, "ConvertedContactId": contact}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, len(org.people)) == ("created", 1)


def test_a_lead_that_was_converted_after_a_push_leads_to_its_contact(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.leads["00Q1"] = LEAD | {"Email": EMAIL}
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    org.leads["00Q1"] |= {"IsConverted": True, "ConvertedContactId": "003A"}
    org.people["003A"] = {"LastName": "Lovelace"}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, org.people["003A"]["Title"]) == ("updated", "Engineer")


def test_a_contact_is_taken_before_a_lead(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.people["003A"] = {"LastName": "Lovelace", "Email": EMAIL}
    org.leads["00Q1"] = LEAD | {"Email": EMAIL}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, item.notes, org.leads["00Q1"].get("Title")) == ("updated", [], None)


def test_a_contact_without_an_address_is_found_by_name_and_account(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.companies["001A"] = {"Name": "ACME Engines Inc"}
    org.people["003A"] = {"FirstName": "Ada", "LastName": "Lovelace", "AccountId": "001A"}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, list(org.people), org.people["003A"]["Email"]) == ("updated", ["003A"], EMAIL)
    assert item.notes == [{"code": "found_by_name"}]


def test_an_org_without_leads_is_pushed_to(harness: CrmHarness, org: FakeSalesforce) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    org.tables.pop("Lead")

    [item] = harness.pushed(contact_id)

    assert item.outcome == "created"


@pytest.mark.parametrize(("table", "record_id"), [("Contact", "003A"), ("Lead", "00Q1")])
def test_the_match_of_a_duplicate_rule_is_updated(
    harness: CrmHarness, org: FakeSalesforce, table: str, record_id: str
) -> None:
    org.tables[table][record_id] = {"LastName": "Lovelace", "Email": "ada@home.example"}
    record = {"attributes": {"type": table}, "Id": record_id}
    error = {
        "errorCode": "DUPLICATES_DETECTED",
        "duplicateResult": {"matchResults": [{"matchRecords": [{"record": {}}, {"record": record}]}]},
    }
    org.fail(400, [error], method="POST", path="/sobjects/Contact")

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "updated"
    assert org.tables[table][record_id]["Title"] == "Engineer"


def test_the_match_of_a_duplicate_rule_for_accounts_is_linked(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    record = {"attributes": {"type": "Account"}, "Id": "001A"}
    error = {
        "errorCode": "DUPLICATES_DETECTED",
        "duplicateResult": {"matchResults": [{"matchRecords": [{"record": record}]}]},
    }
    org.fail(400, [error], method="POST", path="/sobjects/Account")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, [one["AccountId"] for one in org.people.values()]) == ("created", ["001A"])


def test_a_daily_limit_delays_the_connection(harness: CrmHarness, org: FakeSalesforce) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    org.fail(403, [{"errorCode": "REQUEST_LIMIT_EXCEEDED", "message": "TotalRequests Limit exceeded."}])

    [item] = harness.pushed(contact_id)

    assert (item.outcome, harness.connection().error) == (None, "rate_limited")
