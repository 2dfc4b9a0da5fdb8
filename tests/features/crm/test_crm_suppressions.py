"""A suppressed person is not pushed, in whichever way they are suppressed."""

from __future__ import annotations

from typing import Any

import pytest
from crm_support import CrmHarness
from fake_crms import FakeHubSpot
from pytest_httpserver import HTTPServer
from stored_support import own
from suppressed_support import EMAIL, LISTS, stored, suppress_ada
from worker_harness import WorkerHarness, worker_harness

from app.engine.contacts.contacts import Contact
from app.infra.database.db import Database
from app.settings import Settings


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    return worker_harness(settings, database, monkeypatch)


@pytest.fixture(params=LISTS, ids=" ".join)
def kind(request: pytest.FixtureRequest, harness: WorkerHarness) -> str:
    """Suppress Ada in one way; return the kind of her identifier."""
    return suppress_ada(harness, *request.param)


def pushed(harness: WorkerHarness, httpserver: HTTPServer) -> tuple[list[tuple[str | None, str | None]], Any]:
    """Push Ada to a CRM; return what became of it, and the people whom the CRM has then."""
    crm = FakeHubSpot(httpserver)
    connected = CrmHarness.connected(harness.services.settings, harness.database, crm, "hubspot")
    contact_id = stored(harness)
    with harness.database.transaction() as session:
        own(session, connected.workspace_id, session.get_one(Contact, contact_id), "email")
    return [(item.outcome, item.error) for item in connected.pushed(contact_id)], crm


def test_nothing_of_a_suppressed_person_is_sent_to_a_crm(
    harness: WorkerHarness, kind: str, httpserver: HTTPServer
) -> None:
    items, crm = pushed(harness, httpserver)

    sent = b"".join(request.get_data() for request, _response in httpserver.log)
    assert (items, crm.people, b"ada" in sent.lower()) == ([("skipped", "suppressed")], {}, False)
    assert kind


def test_anybody_else_is_sent_to_the_crm(harness: WorkerHarness, httpserver: HTTPServer) -> None:
    items, crm = pushed(harness, httpserver)

    assert items == [("created", None)]
    assert [row["email"] for row in crm.people.values()] == [EMAIL]
