from __future__ import annotations

import pytest
from worker_harness import make_services

from app.infra.database.db import Database
from app.settings import Settings
from workers.execution.worker_services import WorkerServices


@pytest.fixture
def services(settings: Settings, database: Database) -> WorkerServices:
    return make_services(settings, database)
