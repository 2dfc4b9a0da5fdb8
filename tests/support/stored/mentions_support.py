"""Helpers for tests of the index of mentions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from jobs_support import NOW

from app.engine.mentions import mentions
from app.engine.mentions.mention_sources import SOURCES
from app.engine.uploads import uploads
from app.engine.uploads.upload_tables import Upload, UploadRow, UploadStatus
from app.infra.database import database_clock
from app.infra.database.session import Session


def index_all(session: Session) -> int:
    """Index everything, as if it were changed an hour ago; return how many rows there were."""
    now = database_clock.value(session) + timedelta(hours=1)
    total = 0
    for source in SOURCES:
        while count := mentions.index_next(session, source, now=now):
            total += count
    return total


def stored_upload(session: Session, workspace_id: str, rows: Sequence[list[str]]) -> Upload:
    """Insert an upload that is ready, with these rows."""
    upload = uploads.create(
        session,
        workspace_id=workspace_id,
        account_id="acc_1",
        api_key_id=None,
        file_name="people.csv",
        content=b"",
        now=NOW,
    )
    upload.status = UploadStatus.READY.value
    counts = dict.fromkeys(("cost", "charged", "tries", "line"), 0)
    session.add_all(
        UploadRow(
            upload_id=upload.id, number=number, cells=cells, is_readable=True, is_pending=False, **counts
        )
        for number, cells in enumerate(rows)
    )
    session.flush()
    return upload
