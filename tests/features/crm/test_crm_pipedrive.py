"""Tests of pushes to Pipedrive: lists and names in one, the index that is behind, and its two limits."""

from __future__ import annotations

import dataclasses
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from crm_support import EMAIL, LOOPBACK, CrmHarness
from fake_crms import FakePipedrive
from jobs_support import set_clock
from pytest_httpserver import HTTPServer

from app.domain.errors import InvalidValue
from app.features.crm import authorizations, connections, mapping
from app.features.crm.vendors import registry
from app.features.crm.vendors.exchange import Request, Response
from app.features.crm.vendors.person import Employer
from app.features.crm.vendors.pipedrive import records
from app.infra.database.db import Database
from app.settings import Settings
from workers.webhook_client import WebhookClient, WebhookResponse

pytestmark = pytest.mark.any_database

KEY = "3b71d5b6cea10e23f3f433d248add2020d4aff2e"


@pytest.fixture
def vendor() -> str:
    return "pipedrive"


def listed(*values: str) -> list[dict[str, Any]]:
    """Return a list of addresses or numbers, the first of which is the primary one."""
    return [{"value": value, "primary": n == 0, "label": "home"} for n, value in enumerate(values)]


def only(harness: CrmHarness) -> dict[str, Any]:
    """Return the only person in the CRM."""
    [found] = harness.crm.people.values()
    return found


def pipedrive(harness: CrmHarness) -> FakePipedrive:
    assert isinstance(harness.crm, FakePipedrive)
    return harness.crm


def test_a_person_is_created_with_lists_and_one_name(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, "+12025550102")

    harness.pushed(contact_id)

    assert only(harness)["name"] == "Ada Lovelace"
    assert only(harness)["emails"] == [{"value": EMAIL, "primary": True, "label": "work"}]
    assert only(harness)["phones"] == [{"value": "+12025550102", "primary": True, "label": "work"}]


def test_a_person_without_a_mapped_name_is_named_by_the_address(harness: CrmHarness) -> None:
    with harness.database.transaction() as session:
        connection = connections.get(session, harness.workspace_id, harness.connection_id, lock=True)
        connection.mapping = {"email": "emails"}

    harness.pushed(harness.owned_contact())

    assert only(harness)["name"] == EMAIL


def test_a_renewed_address_leaves_the_others_that_people_added(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact("old@acme.com")
    harness.pushed(contact_id)
    only(harness)["emails"] = [
        *listed("old@acme.com", "home@ada.example", "ADA@acme.com", ""),
        {"value": None},
    ]
    harness.has_email(contact_id, EMAIL, confidence=0.99)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["emails"]) == ("updated", "update")
    assert only(harness)["emails"] == [
        {"value": EMAIL, "primary": True, "label": "home"},
        {"value": "home@ada.example", "primary": False, "label": "home"},
    ]


def test_a_renewed_first_name_keeps_the_last_name_that_a_person_edited(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    only(harness)["last_name"] = "King"
    harness.change(contact_id, first_name="Augusta")

    [item] = harness.pushed(contact_id)

    assert (item.actions["first_name"], item.actions["last_name"]) == ("update", "keep")
    assert only(harness)["name"] == "Augusta King"


def test_a_custom_field_is_written_and_read_by_its_key(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.map(website=KEY)
    harness.pushed(contact_id)

    [item] = harness.pushed(contact_id)

    assert only(harness)["custom_fields"] == {KEY: "acme.com"}
    assert (item.outcome, item.actions[KEY]) == ("unchanged", "same")


def test_a_custom_field_that_is_an_object_has_its_value() -> None:
    person = {"id": 7, "custom_fields": {KEY: {"value": "530 Fifth Avenue", "country": "USA"}}}

    assert records.record(person, [KEY]).values == {KEY: "530 Fifth Avenue"}


def test_a_list_without_a_primary_entry_begins_with_its_value() -> None:
    person = {"id": 7, "emails": [{"value": "a@x.com"}, {"value": "b@x.com"}], "phones": None}

    assert records.record(person, ["emails", "phones"]).values == {"emails": "a@x.com"}


def test_a_key_of_a_custom_field_may_begin_with_a_digit(settings: Settings) -> None:
    chosen = {"email": "emails", "title": KEY}

    assert mapping.validate(registry.load(settings)["pipedrive"], chosen) == chosen


@pytest.mark.parametrize(("vendor", "email"), [("pipedrive", "emails"), ("salesforce", "Email")])
def test_another_name_that_begins_with_a_digit_is_none(settings: Settings, vendor: str, email: str) -> None:
    with pytest.raises(InvalidValue):
        mapping.validate(registry.load(settings)[vendor], {"email": email, "title": "1st_title"})


def test_a_person_whom_the_search_does_not_find_yet_is_not_created_again(harness: CrmHarness) -> None:
    harness.crm.people["7"] = {"emails": listed("info@acme.com", "Ada@Acme.com"), "is_deleted": False}
    pipedrive(harness).unindexed.add("7")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, list(harness.crm.people)) == ("updated", ["7"])


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_deleted_person_is_created_again(harness: CrmHarness, *, dry_run: bool) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    only(harness)["is_deleted"] = True

    [item] = harness.pushed(contact_id, dry_run=dry_run)

    assert item.outcome == ("would_create" if dry_run else "created")
    assert len(harness.crm.people) == (1 if dry_run else 2)


def test_a_person_deleted_between_the_search_and_the_reading_is_created(harness: CrmHarness) -> None:
    harness.turn()
    harness.crm.fail(200, {"success": True, "data": {"items": [{"item": {"id": 7}}]}}, path="/persons/search")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, len(harness.crm.people)) == ("created", 1)


def test_a_person_deleted_before_the_write_fails_alone(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")
    harness.crm.fail(404, {"success": False, "error": "Person not found"}, method="PATCH")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "http_404")
    assert harness.connection().status == "connected"


def test_the_oldest_organization_of_the_name_is_linked(harness: CrmHarness) -> None:
    harness.crm.companies |= {"12": {"name": "ACME Engines"}, "9": {"name": "Acme Engines"}}

    harness.pushed(harness.owned_contact())

    assert only(harness)["org_id"] == 9
    assert len(harness.crm.companies) == 2


def test_a_deleted_organization_is_not_linked(harness: CrmHarness) -> None:
    harness.crm.companies["9"] = {"name": "Acme Engines", "is_deleted": True}

    harness.pushed(harness.owned_contact())

    assert str(only(harness)["org_id"]) == list(harness.crm.companies)[-1] != "9"


def test_a_company_without_any_name_is_not_searched(settings: Settings) -> None:
    crm = registry.load(settings)["pipedrive"]

    assert (
        crm.find_company(lambda _request: pytest.fail("no request is needed"), Employer(None, None)) is None
    )


def test_a_company_known_by_its_domain_only_is_found_by_it(settings: Settings) -> None:
    crm = registry.load(settings)["pipedrive"]
    employer = Employer(None, "acme.com")
    answers = iter([{"items": []}, [{"id": 9, "name": "Acme.com"}]])

    def send(_request: Request) -> Response:
        return Response(200, {"success": True, "data": next(answers)})

    assert crm.find_company(send, employer) == "9"


def test_a_title_without_contact_sync_is_refused_and_the_rest_written(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, "+12025550102")
    pipedrive(harness).has_contact_sync = False

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.notes) == (
        "created",
        [{"code": "property_refused", "property": "job_title", "reason": "read_only"}],
    )
    assert {"org_id", "phones"} <= only(harness).keys()


def test_several_refused_properties_are_named_at_once(harness: CrmHarness) -> None:
    harness.map(website=KEY)
    harness.crm.refusals = {
        "job_title": "is unknown",
        KEY: "must be one of [1, 2]",
        "org_id": "must be visible",
    }

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert {(note["property"], note["reason"]) for note in item.notes or ()} == {
        ("job_title", "unknown_property"),
        (KEY, "not_an_option"),
        ("org_id", "invalid"),
    }


def test_a_refused_name_is_both_of_its_parts(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.crm.refusals = {"name": "is too long"}
    harness.change(contact_id, first_name="Augusta", title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert (item.actions["first_name"], item.actions["job_title"]) == ("refused", "update")
    assert only(harness)["name"] == "Ada Lovelace"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "90"}, 90),
        ({"x-ratelimit-reset": "40"}, 40),
        ({"x-ratelimit-reset": "soon"}, 10),
        ({}, 10),
        ({"x-daily-ratelimit-token-remaining": "0", "Retry-After": "2"}, 3600),
        ({"x-daily-ratelimit-token-remaining": "12", "Retry-After": "30"}, 30),
    ],
)
def test_a_limit_delays_the_connection_until_it_may_be_over(
    harness: CrmHarness, headers: dict[str, str], seconds: int
) -> None:
    harness.turn()
    push_id = harness.push(harness.owned_contact())
    harness.crm.fail(429, {"success": False, "error": "request over limit"}, headers=headers)

    harness.turn()
    harness.later(seconds=seconds - 2)
    harness.turn()
    before = harness.items(push_id)[0]
    harness.later(seconds=4)
    harness.turn()

    assert (before.outcome, before.attempts) == (None, 0)
    assert harness.items(push_id)[0].outcome == "created"


def test_a_page_of_the_firewall_is_a_limit_and_no_refusal(harness: CrmHarness) -> None:
    harness.turn()
    push_id = harness.push(harness.owned_contact())
    harness.crm.fail(403, headers={"Content-Length": "0"})

    harness.turn()
    between = harness.connection()
    harness.later(minutes=61)
    harness.turn()

    assert (between.status, between.error) == ("connected", "rate_limited")
    assert harness.items(push_id)[0].outcome == "created"


def test_an_account_that_is_not_open_waits_for_a_new_connection(harness: CrmHarness) -> None:
    harness.turn()
    harness.crm.fail(402, {"success": False, "error": "Company account is not open"})

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().error) == (None, "account_not_open")


@pytest.mark.parametrize(
    "body",
    [{"unknown": True}, [], {"data": [5]}, {"data": {"items": [{}]}}, {"data": {"items": [{"item": 5}]}}],
)
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


def test_an_api_token_has_a_header_of_its_own(harness: CrmHarness) -> None:
    harness.pushed(harness.owned_contact())

    assert set(pipedrive(harness).schemes) == {"x-api-token"}


def test_a_token_that_was_replaced_in_pipedrive_needs_a_new_one(harness: CrmHarness) -> None:
    harness.turn()
    harness.crm.token = "another"

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().status) == (None, "reconnect")


def rerouted(crm: FakePipedrive, urls: list[str]) -> WebhookClient:
    """Return a client that notes the URLs of its requests, and sends them to the fake."""

    class ReroutedClient(WebhookClient):
        def send(self, method: str, url: str, *request: Any, **options: Any) -> WebhookResponse:
            urls.append(url)
            return super().send(method, re.sub("https://[^/]+", crm.url, url), *request, **options)

    return ReroutedClient(LOOPBACK.networks)


def test_a_token_is_issued_by_the_oauth_host_and_is_a_bearer_at_the_host_of_the_company(
    settings: Settings, database: Database, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    crm, urls = FakePipedrive(httpserver), list[str]()
    granted = {
        "token": "",
        "code": "code-1",
        "verifier": "verifier-1",
        "redirect_uri": "https://a.example/crm",
    }
    harness = CrmHarness.connected(settings, database, crm, "pipedrive", **granted)
    variables = (("CRM_PIPEDRIVE_CLIENT_ID", "client-1"), ("CRM_PIPEDRIVE_CLIENT_SECRET", "secret-1"))
    harness.settings = dataclasses.replace(settings, crm_variables=variables)
    set_clock(monkeypatch, lambda: harness.now)

    harness.turn(rerouted(crm, urls))

    assert urls[0] == "https://oauth.pipedrive.com/oauth/token"
    assert urls[1] == f"{crm.url}/api/v2/persons?limit=1"
    assert (harness.connection().status, set(crm.schemes)) == ("connected", {"Authorization"})


def test_an_api_token_is_sent_to_the_host_of_all_companies(harness: CrmHarness) -> None:
    urls: list[str] = []
    harness.settings = dataclasses.replace(harness.settings, crm_variables=())

    harness.turn(rerouted(pipedrive(harness), urls))

    assert urls[0] == "https://api.pipedrive.com/api/v2/persons?limit=1"
    assert harness.connection().status == "connected"


def test_the_scopes_of_an_authorization_are_those_of_the_client(harness: CrmHarness) -> None:
    crm = registry.load(harness.settings)["pipedrive"]

    with harness.database.transaction() as session:
        connection = connections.get(session, harness.workspace_id, harness.connection_id, lock=True)
        url = authorizations.begin(
            session, connection, crm, session_id="ses_1", redirect_uri="https://a.example/crm/callback"
        )

    query = parse_qs(urlsplit(url).query, keep_blank_values=True)
    assert query["redirect_uri"] == ["https://a.example/crm/callback"]
    assert "scope" not in query


def test_the_company_of_the_user_is_the_account(harness: CrmHarness) -> None:
    harness.crm.account = "5512"
    harness.turn()
    harness.crm.token, harness.crm.account = "another-token", "6623"

    harness.replace_token("another-token")

    assert (harness.connection().error, harness.connection().account) == ("other_account", "5512")
