"""A check of SCIM tokens: the admin who made one is still an admin."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.exc import DatabaseError

from app.domain.errors import Unavailable
from app.features.scim import tokens
from app.infra.database.db import Database
from app.settings import Settings
from cli.checks.findings import Finding, note


def findings(settings: Settings) -> Iterator[Finding]:
    """Name the tokens whose makers are no longer admins; nothing if there are none."""
    database = Database(settings.database_url)
    try:
        with database.reading() as session:
            rows = tokens.of_former_admins(session)
    except (Unavailable, DatabaseError):
        return
    finally:
        database.close()
    for workspace_id, workspace, maker in rows:
        state = f"was made by {maker}, who is no longer an admin"
        remedy = f"make another one: flask scim rotate-token {workspace_id}, and enter it at the provider"
        yield note(f"SCIM token of {workspace}", state, remedy)
