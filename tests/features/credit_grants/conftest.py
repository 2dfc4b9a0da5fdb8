from __future__ import annotations

import pytest
from worker_harness import WorkerHarness, worker_harness

from app.infra.database.db import Database
from app.settings import Settings


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    return worker_harness(settings, database, monkeypatch)
