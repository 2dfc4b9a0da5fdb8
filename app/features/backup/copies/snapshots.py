"""A snapshot of a database that is being backed up: what it contains, and its dump as a stream."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.features.backup.copies.archive import BackupError, Readable
from app.infra.database.table_versions import REVISION_TABLE

NO_TABLES = "The database has no tables. Run: flask database upgrade"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The dump of a database, and the time, the server, the revision and the rows by table that it has."""

    taken_at: datetime
    server: str
    revision: str
    rows: dict[str, int]
    dump: Readable


def tables_of(stored: set[str]) -> list[str]:
    """Return the tables to count, in the order of their names.

    Raises:
        BackupError: the database has none.

    """
    if REVISION_TABLE not in stored:
        raise BackupError(NO_TABLES)
    return sorted(stored - {REVISION_TABLE})
