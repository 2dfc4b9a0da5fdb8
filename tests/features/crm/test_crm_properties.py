"""The properties of each CRM: a worker reads them, entries are checked by them, and constants are written."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from crm_index_support import a_crm
from crm_support import FAKES, CrmHarness
from fake_crms import FakeSalesforce
from page_support import Visitor
from sqlalchemy import select, update
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.domain.audit_actions import Action
from app.engine.accounts.accounts import Account, Role
from app.engine.audit_log.entries import PendingEntry
from app.features.crm import connections, properties
from app.features.crm.connections import CrmConnection
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.mapping import MAX_CONSTANTS
from app.features.crm.vendors.properties import MAX_OPTIONS, Property
from app.infra import clock

KEY = "3b71d5b6cea10e23f3f433d248add2020d4aff2e"
SOURCE, LEVEL, ID = "source", "level", "id"
SOURCES = [("1", "Web"), ("2", "Fair")]


def options(value: str, label: str) -> list[dict[str, str]]:
    return [{value: one, label: title} for one, title in SOURCES]


DESCRIBED: dict[str, list[dict[str, Any]]] = {
    "hubspot": [
        {"name": SOURCE, "label": "Source", "options": options("value", "label")},
        {"name": LEVEL, "label": "Level", "options": []},
        {"name": ID, "label": "Id", "modificationMetadata": {"readOnlyValue": True}},
        {"name": "old", "label": "Old", "archived": True},
    ],
    "pipedrive": [
        {"key": KEY, "name": "Source", "options": options("id", "label"), "bulk_edit_allowed": True},
        {"key": LEVEL, "name": "Level", "bulk_edit_allowed": True},
        {"key": ID, "name": "Id", "bulk_edit_allowed": False},
    ],
    "salesforce": [
        {
            "name": SOURCE,
            "label": "Source",
            "type": "picklist",
            "restrictedPicklist": True,
            "picklistValues": [
                *options("value", "label"),
                {"value": "3", "label": "Former", "active": False},
            ],
        },
        {"name": LEVEL, "label": "Level", "type": "string"},
        {"name": ID, "label": "Id", "type": "id", "createable": False, "updateable": False},
    ],
    "twenty": [
        {"name": SOURCE, "label": "Source", "type": "SELECT", "options": options("value", "label")},
        {"name": LEVEL, "label": "Level", "type": "TEXT"},
        {"name": ID, "label": "Id", "type": "UUID", "isSystem": True},
    ],
    "zoho": [
        {
            "api_name": SOURCE,
            "field_label": "Source",
            "pick_list_values": options("actual_value", "display_value"),
        },
        {"api_name": LEVEL, "field_label": "Level", "pick_list_values": []},
        {"api_name": ID, "field_label": "Id", "read_only": True},
    ],
}
"""A property with options, one without, and one that is read-only, as each CRM describes them."""
VENDORS = sorted(FAKES)
READ = [
    Property(name=SOURCE, label="Source", options=SOURCES),
    Property(name=LEVEL, label="Level"),
    Property(name=ID, label="Id", is_writable=False),
]


def describe(harness: CrmHarness, listed: list[dict[str, Any]]) -> None:
    if isinstance(harness.crm, FakeSalesforce):
        harness.crm.described["Contact"] = listed
    else:
        harness.crm.properties = listed


def known(harness: CrmHarness) -> dict[str, Property]:
    with harness.database.reading() as session:
        connection = session.get_one(CrmConnection, harness.connection_id)
        return properties.of_connection(session, connection)


def fix(harness: CrmHarness, **constants: str) -> None:
    """Give properties a constant value, as an admin does."""
    with harness.database.transaction() as session:
        connection = connections.get(session, harness.workspace_id, harness.connection_id, lock=True)
        connections.change_mapping(session, connection, connection.mapping, constants)


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_properties_are_read_when_the_credentials_are_checked(harness: CrmHarness, vendor: str) -> None:
    describe(harness, DESCRIBED[vendor])

    harness.turn()

    found = known(harness)
    assert list(found) == [KEY if vendor == "pipedrive" else SOURCE, LEVEL, ID]
    assert [one.label for one in found.values()] == ["Source", "Level", "Id"]
    assert [one.is_writable for one in found.values()] == [True, True, False]
    assert [one.options for one in found.values()] == [SOURCES, [], []]


@pytest.mark.parametrize("vendor", VENDORS)
def test_properties_that_may_not_be_read_are_no_obstacle(harness: CrmHarness) -> None:
    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert known(harness) == {}


def test_a_token_that_ends_at_the_properties_asks_to_connect_again(harness: CrmHarness) -> None:
    harness.crm.fail(401, {}, path="/properties/contacts")

    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "unauthorized")


@pytest.mark.parametrize("status", [429, 500, 404])
def test_a_failure_at_the_properties_does_not_delay_pushes(harness: CrmHarness, status: int) -> None:
    harness.crm.fail(status, {}, path="/properties/contacts")

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"


def test_too_many_options_are_not_kept(harness: CrmHarness) -> None:
    many = [{"value": str(number), "label": ""} for number in range(MAX_OPTIONS + 1)]
    describe(harness, [{"name": "country", "label": "Country", "options": many}])

    harness.turn()

    assert known(harness)["country"].options == []


@pytest.mark.parametrize("vendor", ["twenty"])
def test_composite_fields_and_relations_are_listed_by_what_is_written(harness: CrmHarness) -> None:
    fields = [
        {"name": "name", "label": "Name", "type": "FULL_NAME"},
        {"name": "company", "label": "Company", "type": "RELATION"},
        {"name": "createdBy", "label": "Created by", "type": "ACTOR"},
    ]
    describe(harness, fields)

    harness.turn()

    found = [(one.name, one.is_writable) for one in known(harness).values()]
    assert found == [
        ("name.firstName", True),
        ("name.lastName", True),
        ("companyId", True),
        ("createdBy", False),
    ]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_the_record_types_that_the_user_may_use_are_options(harness: CrmHarness) -> None:
    assert isinstance(harness.crm, FakeSalesforce)
    describe(harness, [{"name": "RecordTypeId", "label": "Record Type ID", "type": "reference"}])
    harness.crm.record_types = [
        {"recordTypeId": "012A", "name": "Partner", "available": True, "master": False},
        {"recordTypeId": "012B", "name": "Staff", "available": False, "master": False},
        {"recordTypeId": "012M", "name": "Master", "available": True, "master": True},
    ]

    harness.turn()

    assert known(harness)["RecordTypeId"].options == [("012A", "Partner")]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_constant_and_a_mapped_custom_field_are_written_to_a_new_contact(harness: CrmHarness) -> None:
    harness.map(seniority="Seniority__c")
    fix(harness, LeadSource="Contact lookup", OwnerId="005A", RecordTypeId="012A")

    [item] = harness.pushed(harness.owned_contact(seniority="director"))

    [person] = harness.crm.people.values()
    expected = {
        "Seniority__c": "director",
        "LeadSource": "Contact lookup",
        "OwnerId": "005A",
        "RecordTypeId": "012A",
    }
    assert person.items() >= expected.items()
    assert (item.outcome, item.actions["LeadSource"]) == ("created", "fill")


def create_leads(harness: CrmHarness) -> FakeSalesforce:
    """Have new people created as leads; return the org."""
    assert isinstance(harness.crm, FakeSalesforce)
    with harness.database.transaction() as session:
        connection = connections.get(session, harness.workspace_id, harness.connection_id, lock=True)
        connections.create_as(session, connection, RecordKind.LEAD)
    return harness.crm


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_new_people_can_become_leads_with_their_company_and_record_type(harness: CrmHarness) -> None:
    org = create_leads(harness)
    fix(harness, RecordTypeId="012L", LeadSource="Contact lookup")
    contact_id = harness.owned_contact()

    [first] = harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")
    [second] = harness.pushed(contact_id)

    [lead] = org.leads.values()
    expected = {"Company": "Acme Engines", "RecordTypeId": "012L", "LeadSource": "Contact lookup"}
    assert lead.items() >= (expected | {"Title": "Chief Engineer"}).items()
    assert (first.outcome, second.outcome, org.people, org.companies) == ("created", "updated", {}, {})


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_contact_stays_one_although_new_people_become_leads(harness: CrmHarness) -> None:
    org = create_leads(harness)
    org.people["003A"] = {"Email": "ada@acme.com", "LastName": "Lovelace"}
    fix(harness, RecordTypeId="012L", LeadSource="Contact lookup")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, org.leads) == ("updated", {})
    assert "RecordTypeId" not in org.people["003A"]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_the_properties_of_leads_are_read_if_new_people_become_leads(harness: CrmHarness) -> None:
    org = create_leads(harness)
    describe(harness, DESCRIBED["salesforce"])
    org.described["Lead"] = [{"name": "Rating__c", "label": "Rating", "type": "string"}]

    harness.turn()

    assert [*known(harness)] == [SOURCE, LEVEL, ID, "Rating__c"]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_lead_keeps_its_record_type_and_its_owner(harness: CrmHarness) -> None:
    assert isinstance(harness.crm, FakeSalesforce)
    harness.crm.leads["00Q1"] = {"Email": "ada@acme.com", "OwnerId": "005B", "LastName": "Lovelace"}
    fix(harness, OwnerId="005A", RecordTypeId="012A", LeadSource="Contact lookup")

    [item] = harness.pushed(harness.owned_contact())

    lead = harness.crm.leads["00Q1"]
    assert (lead["OwnerId"], lead["LeadSource"], "RecordTypeId" in lead) == ("005B", "Contact lookup", False)
    assert (item.actions["OwnerId"], item.actions["LeadSource"]) == ("keep", "fill")


def test_a_constant_fills_what_is_empty_and_keeps_what_a_person_edited(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    fix(harness, leadsource="Web")
    harness.pushed(contact_id)
    fix(harness, leadsource="Fair")
    [renewed] = harness.pushed(contact_id)
    [person] = harness.crm.people.values()
    before = person["leadsource"]
    person["leadsource"] = "Chosen by hand"

    [kept] = harness.pushed(contact_id)

    assert (renewed.actions["leadsource"], before) == ("update", "Fair")
    assert (kept.actions["leadsource"], person["leadsource"]) == ("keep", "Chosen by hand")


@pytest.mark.parametrize("vendor", ["pipedrive"])
def test_an_option_of_a_custom_field_is_written_by_its_id(harness: CrmHarness) -> None:
    plain = "0" * 40
    described = [*DESCRIBED["pipedrive"], {"key": plain, "name": "Number"}]
    describe(harness, described)
    fix(harness, **{KEY: "2", plain: "2"})
    contact_id, other_id = harness.owned_contact(), harness.owned_contact("bob@acme.com", "Bob Ray")

    harness.pushed(contact_id, other_id)
    harness.change(contact_id, title="Chief Engineer")
    [again] = harness.pushed(contact_id)

    assert [one["custom_fields"] for one in harness.crm.people.values()] == [{KEY: 2, plain: "2"}] * 2
    assert harness.crm.requests.count(("GET", "/api/v1/personFields")) == 2  # once in a turn that writes it
    assert again.actions[KEY] == "same"


@pytest.mark.parametrize("vendor", ["zoho"])
def test_an_owner_is_written_as_a_lookup(harness: CrmHarness) -> None:
    fix(harness, Owner="77")

    [item] = harness.pushed(harness.owned_contact())

    [person] = harness.crm.people.values()
    assert person["Owner"] == {"id": "77"}
    assert item.outcome == "created"


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return user


@pytest.fixture
def connection_id(admin: SignedInUser) -> str:
    """A connection to HubSpot whose properties were read."""
    with admin.database.transaction() as session:
        connection = a_crm(session, admin.workspace_id, mapping={"email": "email", "title": "jobtitle"})
        properties.store(session, connection, READ, now=clock.now())
        return connection.id


def post(admin: SignedInUser, connection_id: str, **body: Any) -> TestResponse:
    return admin.client.post(f"/api/crm/connections/{connection_id}", json=body, headers=admin.headers)


def changes(admin: SignedInUser) -> list[str]:
    with admin.database.reading() as session:
        mapped = PendingEntry.action == Action.CRM_MAPPING.value
        return list(session.scalars(select(PendingEntry.object_id).where(mapped)))


def test_constants_and_custom_properties_are_stored_and_audited(
    admin: SignedInUser, connection_id: str
) -> None:
    mapped = {"email": "email", "title": "jobtitle", "seniority": LEVEL}

    response = post(admin, connection_id, mapping=mapped, constants={SOURCE: "2", LEVEL + "_2": " "})
    repeated = post(admin, connection_id, constants={SOURCE: "2"})

    stored = response.get_json()["connection"]
    assert (stored["mapping"], stored["constants"]) == (mapped, {SOURCE: "2"})
    assert repeated.status_code == 200
    assert changes(admin) == [connection_id]


@pytest.mark.parametrize(
    ("body", "pointer", "part"),
    [
        ({"mapping": {"email": "email", "seniority": "grade"}}, "/mapping/seniority", "no property grade"),
        ({"mapping": {"email": "email", "seniority": ID}}, "/mapping/seniority", "id cannot be written"),
        ({"mapping": {"email": "email", "marks": "grade"}}, "/mapping/marks", "no property grade"),
        ({"mapping": {"email": "email", "marks": ID}}, "/mapping/marks", "id cannot be written"),
        ({"mapping": {"email": "email", "marks": SOURCE}}, "/mapping/marks", "Name a property of text."),
        ({"constants": {"nowhere": "x"}}, "/constants/nowhere", "HubSpot has no property nowhere"),
        ({"constants": {ID: "x"}}, f"/constants/{ID}", "id cannot be written"),
        ({"constants": {SOURCE: "Web"}}, f"/constants/{SOURCE}", "does not accept Web. It accepts 1, 2."),
        ({"constants": {"not a name": "x"}}, "/constants", "is not a name"),
        ({"constants": {"jobtitle": "x"}}, "/constants", "written from a field already"),
        ({"constants": {f"c{n}": "x" for n in range(MAX_CONSTANTS + 1)}}, "/constants", "At most 20"),
    ],
)
def test_what_the_crm_would_refuse_is_refused_with_the_field(
    admin: SignedInUser, connection_id: str, body: dict[str, Any], pointer: str, part: str
) -> None:
    response = post(admin, connection_id, **body)

    [error] = response.get_json()["errors"]
    assert (response.status_code, error["pointer"]) == (422, pointer)
    assert part in error["detail"]
    assert changes(admin) == []


def test_an_entry_that_was_there_before_is_not_refused(admin: SignedInUser, connection_id: str) -> None:
    response = post(
        admin, connection_id, mapping={"email": "email", "title": "jobtitle"}, constants={LEVEL: "x"}
    )

    assert response.status_code == 200


def a_connection(admin: SignedInUser, vendor: str) -> str:
    with admin.database.transaction() as session:
        return a_crm(session, admin.workspace_id, vendor, mapping={"email": "Email"}).id


def test_that_new_people_become_leads_is_stored_and_audited_once(admin: SignedInUser) -> None:
    chosen_id = a_connection(admin, "salesforce")

    shown = [post(admin, chosen_id, new_people=kind).get_json() for kind in ("contact", "lead", "lead")]

    assert [one["connection"]["new_people"] for one in shown] == ["contact", "lead", "lead"]
    assert shown[1]["connection"]["status"] == "checking"
    assert changes(admin) == [chosen_id]


def test_leads_are_refused_where_they_cannot_be_created(admin: SignedInUser) -> None:
    response = post(admin, a_connection(admin, "hubspot"), new_people="lead")

    assert response.get_json()["errors"] == [
        {"pointer": "/new_people", "detail": "New people can be contacts only in HubSpot."}
    ]


def test_the_page_has_the_choice_of_new_people(admin: SignedInUser, browser: Visitor) -> None:
    chosen_id = a_connection(admin, "salesforce")

    page = browser.send(f"/crm/connections/{chosen_id}/mapping", email="Email", new_people="lead")

    assert 'value="lead" checked' in page.text


def test_more_options_than_fit_into_a_sentence_are_counted(admin: SignedInUser, connection_id: str) -> None:
    with admin.database.transaction() as session:
        many = Property(name=SOURCE, label="", options=[(str(number), "") for number in range(23)])
        properties.store(session, session.get_one(CrmConnection, connection_id), [many], now=clock.now())

    response = post(admin, connection_id, constants={SOURCE: "Web"})

    assert response.get_json()["errors"][0]["detail"].endswith("18, 19 and 3 more.")


def test_without_known_properties_only_the_names_are_checked(admin: SignedInUser, connection_id: str) -> None:
    with admin.database.transaction() as session:
        properties.store(session, session.get_one(CrmConnection, connection_id), [], now=clock.now())

    response = post(admin, connection_id, constants={"nowhere": "x"})

    assert response.status_code == 200


def test_the_properties_are_listed(admin: SignedInUser, connection_id: str) -> None:
    path = f"/api/crm/connections/{connection_id}/properties"

    listed = admin.client.get(path, headers=admin.headers).get_json()["properties"]

    assert listed[0] == {
        "name": SOURCE,
        "label": "Source",
        "is_writable": True,
        "options": [{"value": "1", "label": "Web"}, {"value": "2", "label": "Fair"}],
    }
    assert [one["is_writable"] for one in listed] == [True, True, False]


def test_the_page_offers_the_properties_and_keeps_what_was_typed(
    admin: SignedInUser, connection_id: str, app: APIFlask, browser: Visitor
) -> None:
    path = f"/crm/connections/{connection_id}/mapping"
    form = {"email": "email", "constant_0": SOURCE, "constant_value_0": "2"}
    stored = browser.send(path, **form)

    refused = browser.send(path, **form | {"constant_1": LEVEL, "constant_value_1": "9", "title": "nowhere"})

    assert f'<option value="{SOURCE}">Source</option>' in stored.text
    assert f'<option value="{ID}">' not in stored.text
    assert 'name="constant_value_0" value="2"' in stored.text
    assert refused.status_code == 422
    assert "HubSpot has no property nowhere" in refused.text
    assert 'name="constant_value_1" value="9"' in refused.text
