"""Whether the tables are those of a later version than this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sqlalchemy import inspect, text

from app import migrations
from app.infra.database.session import Session

_TABLE = "alembic_version"


def are_newer(session: Session) -> bool:
    """Return whether a migration that this version does not have has changed the tables."""
    if not inspect(session.connection()).has_table(_TABLE):
        return False
    revision = session.scalar(text(f"SELECT version_num FROM {_TABLE}"))  # noqa: S608 -- a constant
    return revision is not None and revision not in _revisions()


@cache
def _revisions() -> frozenset[str]:
    """Return the revisions of the migrations: the name of each file begins with its own."""
    versions = Path(migrations.__path__[0]) / "versions"
    return frozenset(path.name.partition("_")[0] for path in versions.glob("[0-9]*.py"))
