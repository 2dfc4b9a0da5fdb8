"""The check of do-not-call registers: none is older than it may be used."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.exc import DatabaseError

from app.domain.errors import Unavailable
from app.features.call_registers import overviews
from app.features.call_registers.overviews import Overview
from app.infra.database.db import Database
from app.settings import Settings
from cli.checks.findings import Finding, ok, warning

WHAT = "Do-not-call register"


def findings(settings: Settings) -> Iterator[Finding]:
    """Check the age of each register; nothing without registers."""
    database = Database(settings.database_url)
    try:
        with database.reading() as session:
            rows = overviews.of_workspace(session, "")
    except (Unavailable, DatabaseError):
        return
    finally:
        database.close()
    yield from map(_finding, rows)


def _finding(row: Overview) -> Finding:
    what, state = f"{WHAT} {row.name}", f"of {row.date:%Y-%m-%d}, {row.numbers:,} numbers"
    if row.is_outdated:
        remedy = f"download it again, then: flask call-registers load {row.id} FILE --date DATE"
        return warning(what, f"{state}: older than {row.max_age_days} days", remedy)
    return ok(what, f"{state}, usable until {row.usable_until:%Y-%m-%d}")
