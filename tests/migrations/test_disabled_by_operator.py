"""The migration that remembers who disabled an account reads it from the audit log."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from local_servers import empty_database
from sqlalchemy import create_engine, text

from cli.database import _config

TIME = "2026-01-01 00:00:00+00:00"
WORKSPACE = f"""
INSERT INTO workspaces (id, name, available, held, spent, created_at)
VALUES ('wks_1', 'Acme', 0, 0, 0, '{TIME}')
"""  # noqa: S608 -- texts of this file
ACCOUNT = f"""
INSERT INTO accounts (id, workspace_id, email, name, role, api_access, password_hash, disabled_at, created_at)
VALUES (:id, 'wks_1', :id, 'Ada', 'member', FALSE, '', {{}}, '{TIME}')
"""  # noqa: S608 -- texts of this file
ENTRY = f"""
INSERT INTO audit_log_pending (occurred_at, actor_kind, action, object_id, workspace_id, outcome)
VALUES ('{TIME}', :kind, 'account.disable', :id, 'wks_1', 'succeeded')
"""  # noqa: S608 -- texts of this file


def test_what_no_admin_disabled_counts_as_disabled_by_an_operator(tmp_path: Path) -> None:
    with empty_database(tmp_path, "before_disabled_by_operator") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(_config(connection), "0054")
            connection.execute(text(WORKSPACE))
            disabled, active = (text(ACCOUNT.format(value)) for value in (f"'{TIME}'", "NULL"))
            connection.execute(disabled, [{"id": "by_admin"}, {"id": "by_operator"}, {"id": "long_ago"}])
            connection.execute(active, {"id": "active"})
            connection.execute(text(ENTRY), [{"id": "by_admin", "kind": "account"}])
            connection.execute(text(ENTRY), [{"id": "by_operator", "kind": "command"}])
            connection.commit()

            command.upgrade(_config(connection), "0055")

            rows = connection.execute(text("SELECT id, disabled_by_operator FROM accounts")).all()
        engine.dispose()

    assert {name for name, is_by_operator in rows if is_by_operator} == {"by_operator", "long_ago"}
