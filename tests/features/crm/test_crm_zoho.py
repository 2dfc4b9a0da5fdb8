"""Tests of pushes to Zoho CRM: leads, accounts as lookups, the index that is behind, and its error codes."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from crm_support import EMAIL, CrmHarness
from fake_crms import FakeZoho
from jobs_support import NOW, set_clock
from pytest_httpserver import HTTPServer
from sqlalchemy import select

from app.features.crm import authorizations, connections
from app.features.crm.records import CrmWrittenRecord
from app.features.crm.vendors import registry
from app.features.crm.vendors.exchange import Request, Response
from app.features.crm.vendors.person import Employer
from app.features.crm.vendors.zoho import records
from app.infra.database.db import Database
from app.settings import Settings

pytestmark = pytest.mark.any_database


@pytest.fixture
def vendor() -> str:
    return "zoho"


def zoho(harness: CrmHarness) -> FakeZoho:
    assert isinstance(harness.crm, FakeZoho)
    return harness.crm


def only(harness: CrmHarness) -> dict[str, Any]:
    """Return the only contact in the CRM."""
    [found] = harness.crm.people.values()
    return found


def record_id(harness: CrmHarness) -> str | None:
    """Return the id of the record that the only contact was pushed to."""
    with harness.database.reading() as session:
        return session.scalars(select(CrmWrittenRecord.crm_id)).one()


def error(code: str, **details: Any) -> dict[str, Any]:
    """Return an error of the record in the body of a response."""
    return {"data": [{"code": code, "details": details, "message": "refused", "status": "error"}]}


def test_a_lead_is_updated_in_the_fields_of_leads_and_no_contact_created(harness: CrmHarness) -> None:
    zoho(harness).leads["5"] = {"Email": EMAIL, "Last_Name": "Lovelace", "Designation": ""}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, record_id(harness), harness.crm.people) == ("updated", "Leads/5", {})
    assert item.notes == [{"code": "existing_lead"}]
    lead = zoho(harness).leads["5"]
    assert (lead["Designation"], lead["Company"]) == ("Engineer", "Acme Engines")
    assert harness.crm.companies == {}


def test_a_lead_that_was_pushed_to_is_found_by_its_id(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    zoho(harness).leads["5"] = {"Email": EMAIL}
    harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")
    zoho(harness).leads["5"]["Email"] = "countess@lovelace.example"

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["Designation"], item.actions["Email"]) == ("updated", "update", "keep")


def test_a_lead_that_was_converted_leads_to_its_contact(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    zoho(harness).leads["5"] = {"Email": EMAIL}
    harness.pushed(contact_id)
    harness.crm.people["9"] = zoho(harness).leads.pop("5")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, record_id(harness)) == ("updated", "9")


@pytest.mark.parametrize("modules", [{"Contacts", "Accounts"}])
def test_leads_that_the_user_may_not_read_do_not_stop_the_push(
    harness: CrmHarness, modules: set[str]
) -> None:
    zoho(harness).may_read = modules

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().status) == ("created", "connected")


def test_credentials_that_end_at_the_leads_stop_the_connection(harness: CrmHarness) -> None:
    harness.turn()
    harness.crm.fail(401, {"code": "INVALID_TOKEN", "status": "error"}, path="/Leads/search")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().error) == (None, "unauthorized")


def test_a_scope_that_is_missing_is_a_permission(harness: CrmHarness) -> None:
    harness.crm.fail(401, {"code": "OAUTH_SCOPE_MISMATCH", "details": {}, "status": "error"})

    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "forbidden")


def test_a_contact_whom_the_search_does_not_find_yet_is_not_created_again(harness: CrmHarness) -> None:
    harness.crm.people["7"] = {"Email": "info@acme.com", "Secondary_Email": "Ada@Acme.com"}
    zoho(harness).unindexed.add("7")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, list(harness.crm.people)) == ("updated", ["7"])


def test_an_address_in_a_field_of_the_company_s_own_finds_the_contact(harness: CrmHarness) -> None:
    harness.crm.people["7"] = {"Email": "info@acme.com", "Private_Email": EMAIL, "Age": 36}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, list(harness.crm.people)) == ("updated", ["7"])


def test_the_oldest_of_two_contacts_with_the_address_is_taken(harness: CrmHarness) -> None:
    harness.crm.people |= {"12": {"Email": EMAIL}, "9": {"Email": EMAIL}}

    [item] = harness.pushed(harness.owned_contact())

    assert (record_id(harness), item.notes) == ("9", [{"code": "other_records"}])


def test_a_deleted_contact_is_created_again(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.crm.people.clear()

    [item] = harness.pushed(contact_id)

    assert (item.outcome, len(harness.crm.people)) == ("created", 1)


@pytest.mark.parametrize(
    "body",
    [
        error("INVALID_DATA", api_name="id", json_path="$.data[0].id"),
        {"code": "INVALID_DATA", "details": {"resource_path_index": 1}, "status": "error"},
        error("RECORD_LOCKED"),
    ],
)
def test_a_contact_that_cannot_be_written_fails_alone(harness: CrmHarness, body: dict[str, Any]) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")
    harness.crm.fail(400, body, method="PUT")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "record_not_writable")
    assert harness.connection().status == "connected"


@pytest.mark.parametrize("status", [200, 202, 400])
def test_an_error_of_the_record_may_have_the_status_of_a_success(harness: CrmHarness, status: int) -> None:
    refusal = error("INVALID_DATA", api_name="id", json_path="$.data[0].Account_Name.id")
    harness.crm.fail(status, refusal, method="POST", path="/Contacts")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, item.actions["Account_Name"]) == ("created", "refused")


def test_a_request_that_is_refused_with_200_is_no_success(harness: CrmHarness) -> None:
    harness.crm.fail(200, error("INVALID_QUERY")["data"][0], method="GET")

    harness.turn()

    assert harness.connection().error == "invalid_values"


@pytest.mark.parametrize("is_named", [True, False])
def test_a_contact_that_somebody_created_at_the_same_moment_is_updated(
    harness: CrmHarness, *, is_named: bool
) -> None:
    harness.turn()
    contact_id = harness.owned_contact()
    known = {"duplicate_record": {"id": "7"}} if is_named else {}
    harness.crm.on_write = lambda: harness.crm.people.setdefault("7", {"Email": EMAIL, "Title": "Countess"})
    harness.crm.fail(400, error("DUPLICATE_DATA", api_name="Email", **known), method="POST", path="/Contacts")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, record_id(harness), item.actions["Title"]) == ("updated", "7", "keep")


def test_a_new_address_that_another_contact_has_is_left_out_of_the_update(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact("old@acme.com")
    harness.pushed(contact_id)
    harness.crm.people["9"] = {"Email": EMAIL}
    zoho(harness).is_unique = True
    harness.has_email(contact_id, EMAIL, confidence=0.99)
    harness.change(contact_id, title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["Email"], item.actions["Title"]) == ("updated", "refused", "update")


def test_the_oldest_account_of_exactly_the_name_is_linked(harness: CrmHarness) -> None:
    names = {"12": "Acme Engines", "9": "Acme Engines", "8": "Acme Engines of Leeds"}
    harness.crm.companies |= {id_: {"Account_Name": name} for id_, name in names.items()}

    harness.pushed(harness.owned_contact())

    assert only(harness)["Account_Name"] == "9"


def test_a_company_with_brackets_in_its_name_is_found(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.change_company(name="Acme (Leeds), Ltd")
    harness.crm.companies["9"] = {"Account_Name": "Acme (Leeds), Ltd"}

    harness.pushed(contact_id)

    assert only(harness)["Account_Name"] == "9"


def test_a_company_that_is_created_has_its_website(harness: CrmHarness) -> None:
    harness.pushed(harness.owned_contact())

    assert list(harness.crm.companies.values()) == [{"Account_Name": "Acme Engines", "Website": "acme.com"}]


def test_a_company_without_any_name_is_not_searched(settings: Settings) -> None:
    crm = registry.load(settings)["zoho"]

    assert (
        crm.find_company(lambda _request: pytest.fail("no request is needed"), Employer(None, None)) is None
    )


def test_a_company_known_by_its_domain_only_is_found_by_it(settings: Settings) -> None:
    crm = registry.load(settings)["zoho"]
    answers = iter([Response(204), Response(200, {"data": [{"id": "9", "Account_Name": "Acme.com"}]})])

    def send(_request: Request) -> Response:
        return next(answers)

    assert crm.find_company(send, Employer(None, "acme.com")) == "9"


def test_a_lookup_has_the_value_of_its_id() -> None:
    row = {"id": "7", "Account_Name": {"id": "9", "name": "Acme"}}

    assert records.record(row, "Contacts", ["Account_Name"], ()).values == {"Account_Name": "9"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry-After": "90"}, 90), ({}, 10), ({"X-API-CREDITS-REMAINING": "0", "Retry-After": "2"}, 3600)],
)
def test_a_limit_delays_the_connection_until_it_may_be_over(
    harness: CrmHarness, headers: dict[str, str], seconds: int
) -> None:
    harness.turn()
    push_id = harness.push(harness.owned_contact())
    harness.crm.fail(429, {"code": "TOO_MANY_REQUESTS", "status": "error"}, headers=headers)

    harness.turn()
    harness.later(seconds=seconds - 2)
    harness.turn()
    before = harness.items(push_id)[0]
    harness.later(seconds=4)
    harness.turn()

    assert (before.outcome, before.attempts) == (None, 0)
    assert harness.items(push_id)[0].outcome == "created"


@pytest.mark.parametrize("body", [{"unknown": True}, {"data": [5]}, {"data": [{"Email": EMAIL}]}])
def test_a_response_that_is_not_as_documented_is_tried_again(harness: CrmHarness, body: object) -> None:
    harness.turn()
    push_id = harness.push(harness.owned_contact())
    harness.crm.fail(200, body, method="GET")

    harness.turn()
    between = harness.items(push_id)[0]
    harness.later(minutes=2)
    harness.turn()

    assert (between.outcome, between.error) == (None, "unexpected_response")
    assert harness.items(push_id)[0].outcome == "created"


def test_the_organization_is_the_account(harness: CrmHarness) -> None:
    harness.crm.account = "74822955"
    harness.turn()
    harness.crm.token, harness.crm.account = "another-token", "655906806"

    harness.replace_token("another-token")

    assert (harness.connection().error, harness.connection().account) == ("other_account", "74822955")


def test_the_grant_names_the_data_center_and_is_asked_for_with_a_refresh_token(
    settings: Settings, database: Database, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    crm = FakeZoho(httpserver)
    granted = {
        "token": "",
        "code": "code-1",
        "verifier": "verifier-1",
        "redirect_uri": "https://a.example/crm",
    }
    harness = CrmHarness.connected(settings, database, crm, "zoho", **granted)
    set_clock(monkeypatch, lambda: harness.now)
    loaded = registry.load(harness.settings)["zoho"]

    harness.turn()
    with database.transaction() as session:
        connection = connections.get(session, harness.workspace_id, harness.connection_id, lock=True)
        credentials = connections.decrypted(session, connection)
        url = authorizations.begin(
            session, connection, loaded, session_id="ses_1", redirect_uri="https://a.example/crm"
        )

    query = parse_qs(urlsplit(url).query)
    assert (credentials.api_url, credentials.refresh_token) == (crm.url, "refresh-1")
    assert url.startswith(f"{crm.url}/oauth/v2/auth?")
    assert (query["access_type"], query["prompt"]) == (["offline"], ["consent"])
    assert "ZohoCRM.modules.contacts.CREATE,ZohoCRM.modules.contacts.UPDATE" in query["scope"][0]


def test_a_code_that_zoho_refuses_with_200_needs_a_new_authorization(
    settings: Settings, database: Database, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    crm = FakeZoho(httpserver)
    expiring = {"refresh_token": "refresh-1", "expires_at": NOW.timestamp()}
    harness = CrmHarness.connected(settings, database, crm, "zoho", **expiring)
    set_clock(monkeypatch, lambda: harness.now)
    crm.fail(200, {"error": "invalid_code"}, path="/token")

    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "authorization_ended")
