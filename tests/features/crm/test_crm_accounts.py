"""Tests of the account of a CRM to which a connection belongs: a token of another one is refused."""

from __future__ import annotations

import base64
import json

import pytest
from crm_support import FAKES, CrmHarness
from fake_crms import FakeCrm
from jobs_support import NOW, set_clock
from pytest_httpserver import HTTPServer

from app.features.crm.turn import accounts
from app.features.crm.vendors import registry
from app.infra.database.db import Database
from app.settings import Settings


def replaced(harness: CrmHarness, account: str) -> tuple[str, str | None, str | None]:
    """Replace the token by one of this account; return the status, the error and the stored account."""
    harness.crm.token, harness.crm.account = "another-token", account
    harness.replace_token("another-token")
    connection = harness.connection()
    return connection.status, connection.error, connection.account


def test_a_token_of_another_portal_is_refused_and_nothing_is_pushed_to_it(harness: CrmHarness) -> None:
    harness.crm.account = "62515"
    harness.turn()

    found = replaced(harness, "700700")
    [item] = harness.pushed(harness.owned_contact())

    assert found == ("reconnect", "other_account", "62515")
    assert (item.outcome, harness.crm.people) == (None, {})


def test_a_new_token_of_the_same_portal_is_accepted(harness: CrmHarness) -> None:
    harness.crm.account = "62515"
    harness.turn()

    assert replaced(harness, "62515") == ("connected", None, "62515")


def test_a_token_of_the_first_portal_ends_the_refusal(harness: CrmHarness) -> None:
    harness.crm.account = "62515"
    harness.turn()
    replaced(harness, "700700")

    assert replaced(harness, "62515") == ("connected", None, "62515")


def test_a_token_that_no_longer_says_its_portal_is_refused(harness: CrmHarness) -> None:
    harness.crm.account = "62515"
    harness.turn()

    assert replaced(harness, "") == ("reconnect", "account_unknown", "62515")


def test_a_crm_that_never_said_its_account_is_used_without(harness: CrmHarness) -> None:
    harness.turn()
    asked = len(harness.crm.requests)

    [item] = harness.pushed(harness.owned_contact())

    assert (harness.connection().account, item.outcome) == ("", "created")
    assert "/account-info/v3/details" not in [path for _, path in harness.crm.requests[asked:]]


def test_an_account_that_could_not_be_read_is_asked_for_again(harness: CrmHarness) -> None:
    harness.crm.account = "62515"
    harness.crm.fail(503, path="/details")
    harness.turn()
    first = harness.connection()

    [item] = harness.pushed(harness.owned_contact())

    assert (first.status, first.account) == ("connected", None)
    assert (harness.connection().account, item.outcome) == ("62515", "created")


def test_a_known_account_that_cannot_be_read_now_delays_the_check(harness: CrmHarness) -> None:
    harness.crm.account = "62515"
    harness.turn()
    harness.crm.fail(503, path="/details")

    assert replaced(harness, "62515") == ("checking", "account_unknown", "62515")


@pytest.fixture
def salesforce(
    settings: Settings, database: Database, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> CrmHarness:
    granted = {"refresh_token": "refresh-1", "expires_at": NOW.timestamp() + 1800}
    crm: FakeCrm = FAKES["salesforce"](httpserver)
    harness = CrmHarness.connected(settings, database, crm, "salesforce", **granted)
    set_clock(monkeypatch, lambda: harness.now)
    return harness


def test_the_org_of_salesforce_is_selected(salesforce: CrmHarness) -> None:
    salesforce.crm.account = "00Dxx0000001gPLEAY"
    salesforce.turn()

    found = replaced(salesforce, "00Dyy0000009zZZEAY")

    assert found == ("reconnect", "other_account", "00Dxx0000001gPL")


def test_the_org_of_salesforce_is_read_from_the_access_token(salesforce: CrmHarness) -> None:
    salesforce.crm.token = "00Dxx0000001gPL!AR8AQJXg5oj8jXSgxJfA0lBog"
    salesforce.replace_token(salesforce.crm.token)

    assert salesforce.connection().account == "00Dxx0000001gPL"


def test_the_org_of_salesforce_is_read_from_the_grant(salesforce: CrmHarness) -> None:
    salesforce.crm.identity = "https://login.salesforce.com/id/00Dxx0000001gPLEAY/005xx000001SwiUAAS"
    salesforce.later(minutes=29)
    salesforce.turn()

    assert salesforce.connection().account == "00Dxx0000001gPL"


def jwt(payload: object) -> str:
    """Return an unsigned token with this payload."""
    encoded = base64.urlsafe_b64encode(json.dumps(payload).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJIUzI1NiJ9.{encoded}.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("token", "account"),
    [
        (jwt({"sub": "w-1", "type": "API_KEY", "workspaceId": "w-1"}), "w-1"),
        (jwt({"sub": "w-1"}), ""),
        (jwt(["w-1"]), ""),
        ("not.a*b.jwt", ""),
        ("opaque", ""),
    ],
)
def test_the_workspace_of_twenty_is_read_from_the_key(settings: Settings, token: str, account: str) -> None:
    twenty = registry.load(settings)["twenty"]

    assert accounts.read(twenty, lambda _request: pytest.fail("no request is needed"), token) == account
