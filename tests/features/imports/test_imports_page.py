from __future__ import annotations

from datetime import UTC, datetime, timedelta

from page_support import Visitor
from users_support import SignedInUser

from app.domain.lists.headers.column_mapping import Entity
from app.engine.lists import import_runs
from app.features.imports import queued_imports
from app.features.imports.import_folder import FoundFile
from app.features.imports.queued_imports import QueuedOptions
from app.features.imports.tables import QueuedImport

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_import_runs_are_listed(operator: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        run = import_runs.start(session, entity="contacts", now=NOON)
        import_runs.touch(session, run.id, rows=12_345, now=NOON + timedelta(minutes=5))

    page = operator.open("/admin/imports").text

    assert "12\u202f345" in page
    assert "2026-11-20 12:05 UTC" in page


def test_queued_imports_are_listed_with_their_progress(operator: Visitor, user: SignedInUser) -> None:
    file = FoundFile("people.csv", 1000, 1)
    with user.database.transaction() as session:
        options = QueuedOptions(source="people.csv")
        import_id = queued_imports.add(session, file, Entity.CONTACTS, options, now=NOON)
        row = session.get_one(QueuedImport, import_id)
        row.bytes_done, row.rows_done = 250, 12_345
        row.result, row.detail = {"counts": {"new": 54_321}}, "The reason."

    page = operator.open("/admin/imports").text

    assert all(text in page for text in ("people.csv", "25 %", "12\u202f345", "54\u202f321", "The reason."))
