"""Tests of tokens by OAuth: the exchange of the code, renewal, and what ends an authorization."""

from __future__ import annotations

import pytest
from crm_support import FAKES, CrmHarness
from fake_crms import TOKEN, FakeCrm
from jobs_support import NOW, set_clock
from pytest_httpserver import HTTPServer
from structlog.testing import capture_logs

from app.features.crm import connections
from app.infra.database.db import Database
from app.settings import Settings
from workers.webhook_client import WebhookClient

PENDING = {"token": "", "code": "code-1", "verifier": "verifier-1", "redirect_uri": "https://a.example/crm"}
GRANTED = {"refresh_token": "refresh-1", "expires_at": (NOW.timestamp() + 1800)}


@pytest.fixture(params=["hubspot", "pipedrive", "salesforce", "zoho"])
def crm(request: pytest.FixtureRequest, httpserver: HTTPServer) -> FakeCrm:
    crm = FAKES[request.param](httpserver)
    crm.name = request.param
    return crm


def connected(
    settings: Settings, database: Database, crm: FakeCrm, patch: pytest.MonkeyPatch, **credentials: object
) -> CrmHarness:
    harness = CrmHarness.connected(settings, database, crm, crm.name, **credentials)
    set_clock(patch, lambda: harness.now)
    return harness


def test_the_code_of_an_authorization_is_exchanged_for_tokens(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **PENDING)

    harness.turn()

    with database.reading() as session:
        credentials = connections.decrypted(session, harness.connection())
    assert harness.connection().status == "connected"
    assert credentials.token == crm.token
    assert (credentials.code, credentials.verifier) == ("", "")


def test_a_token_that_expires_is_renewed_before_the_push(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **GRANTED)
    harness.turn()
    harness.later(minutes=29)

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert crm.token.startswith("refresh_token-")


def test_a_token_that_the_crm_revoked_is_renewed_once(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **GRANTED)
    harness.turn()
    crm.token = "another"

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert [path for _, path in crm.requests].count(crm.requests[0][1]) >= 1
    assert sum("token" in path for _, path in crm.requests) == 1


def test_a_withdrawn_authorization_needs_a_new_one(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **GRANTED | {"refresh_token": "revoked"})
    harness.later(minutes=40)

    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "authorization_ended")


@pytest.mark.parametrize(
    "answer",
    [
        (400, {"status": "BAD_CLIENT_SECRET", "message": "missing or invalid client secret"}),
        (400, {"error": "invalid_client_id", "error_description": "client identifier invalid"}),
        (401, {"error": "invalid_client"}),
        (200, {"error": "invalid_client_secret"}),
    ],
    ids=["HubSpot", "Salesforce", "RFC 6749", "Zoho"],
)
def test_a_wrong_client_of_this_server_is_not_an_authorization_that_ended(
    settings: Settings,
    database: Database,
    crm: FakeCrm,
    monkeypatch: pytest.MonkeyPatch,
    answer: tuple[int, dict[str, str]],
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **GRANTED)
    harness.later(minutes=40)
    crm.fail(*answer, path="/token")

    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "client_refused")


def test_a_renewal_that_fails_for_a_moment_is_tried_again(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **PENDING)
    crm.fail(503)

    harness.turn()
    between = harness.connection()
    harness.later(minutes=6)
    harness.turn()

    assert (between.status, between.error) == ("checking", "http_503")
    assert harness.connection().status == "connected"


def test_an_address_within_the_own_network_is_not_called(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch)

    harness.turn(WebhookClient())

    assert harness.connection().error == "refused"
    assert crm.requests == []


def test_neither_tokens_nor_values_are_logged(
    settings: Settings, database: Database, crm: FakeCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = connected(settings, database, crm, monkeypatch, **GRANTED)

    with capture_logs() as logs:
        harness.pushed(harness.owned_contact())

    assert TOKEN not in str(logs)
    assert "acme.com" not in str(logs)
    assert "contact pushed" in str(logs)
