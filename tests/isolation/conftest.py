"""The `mallory` fixture: a workspace with scripted providers, on a database shared with others."""

from __future__ import annotations

import pytest
from finding_support import Desk, a_desk

from app.infra.db import Database
from app.settings import Settings


@pytest.fixture
def mallory(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return a_desk(settings, database, monkeypatch)
