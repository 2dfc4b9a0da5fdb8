"""The environment of the programs of PostgreSQL that copy and restore a database."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from app.features.backup.copies import programs


def test_the_programs_of_postgresql_get_the_password_and_their_own_variables_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGSSLMODE", "require")
    for name in ("SECRET_KEY", "DATABASE_URL", "HUNTER_API_KEY", "SALESFORCE_CLIENT_SECRET", "SMTP_PASSWORD"):
        monkeypatch.setenv(name, "concealed")

    environment = programs.environment(make_url("postgresql+psycopg://u:pw@host/db"))

    assert (environment["PGPASSWORD"], environment["PGSSLMODE"]) == ("pw", "require")
    assert "concealed" not in environment.values()
