from __future__ import annotations

import pytest
from people_search_support import Searches
from worker_harness import worker_harness

from app.infra.database.db import Database
from app.settings import Settings


@pytest.fixture
def searches(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Searches:
    return Searches(worker_harness(settings, database, monkeypatch))
