"""When a worker continues an upload.

Reading and pricing may take minutes, so one upload of a workspace is read or priced at a time. Otherwise the
uploads of one workspace could occupy all threads.
"""

from __future__ import annotations

from datetime import timedelta

from app.domain.kinds import ADVANCE_UPLOAD
from app.engine.work import items, specs
from app.engine.work.items import NewItem
from app.engine.work.specs import WorkSpec
from app.features.uploads.tables import UNFINISHED, Upload
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

ADVANCING = specs.register(
    WorkSpec(
        task=ADVANCE_UPLOAD,
        label="upload",
        lease=timedelta(seconds=20),
        republish_after=timedelta(seconds=10),
        max_attempts=5,
        per_key=1,
    )
)
"""Every batch of rows renews the lease."""


def schedule(session: Session, upload: Upload, *, now: Moment) -> None:
    """Let a worker continue a locked upload now; a turn that is under way is over."""
    key = None if upload.status in UNFINISHED else upload.id
    items.add(session, ADVANCING, NewItem(upload.id, upload.workspace_id, now, key))
