"""The versions of the tables: the revisions of this version's migrations, and the revision of a database.

Revisions are numbers, in the order of the migrations. Development versions before 0.1.0 had lower ones.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import inspect, text

from app import migrations
from app.infra.database.session import Session

REVISION_TABLE = "alembic_version"


def revisions() -> list[str]:
    """Return the revisions of the migrations, the newest first: the name of each file begins with its own."""
    versions = Path(migrations.__path__[0]) / "versions"
    return sorted((path.name.partition("_")[0] for path in versions.glob("[0-9]*.py")), reverse=True)


def is_newer(revision: str) -> bool:
    """Return whether only a later version of the service has this migration."""
    return revision > revisions()[0]


def is_unreleased(revision: str) -> bool:
    """Return whether a development version made these tables, which no migration can upgrade."""
    return revision < revisions()[-1]


def are_newer(session: Session) -> bool:
    """Return whether a migration that this version does not have has changed the tables."""
    if not inspect(session.connection()).has_table(REVISION_TABLE):
        return False
    revision: str | None = session.scalar(text(f"SELECT version_num FROM {REVISION_TABLE}"))  # noqa: S608 -- a constant
    return revision is not None and is_newer(revision)
