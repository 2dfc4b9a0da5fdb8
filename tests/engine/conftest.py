"""Fixtures for the tests of app.engine."""

from __future__ import annotations

import pytest
from jobs_support import a_workspace

from app.infra.database.session import Session


@pytest.fixture
def workspace_id(session: Session) -> str:
    """The id of a workspace with ten credits."""
    return a_workspace(session)
