"""A workspace that is connected to a fake HubSpot, unless the test names another CRM."""

from __future__ import annotations

import pytest
from crm_support import FAKES, CrmHarness
from jobs_support import set_clock
from pytest_httpserver import HTTPServer

from app.features.crm import credential_checks
from app.infra.database.db import Database
from app.settings import Settings


@pytest.fixture
def vendor() -> str:
    return "hubspot"


@pytest.fixture
def harness(
    vendor: str,
    settings: Settings,
    database: Database,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
) -> CrmHarness:
    harness = CrmHarness.connected(settings, database, FAKES[vendor](httpserver), vendor)
    set_clock(monkeypatch, lambda: harness.now)
    return harness


@pytest.fixture(autouse=True)
def _no_wait_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no request wait for a worker's check of credentials; most tests have no worker."""
    monkeypatch.setattr(credential_checks, "SECONDS", 0)
