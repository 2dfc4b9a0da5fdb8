"""The price of an uploaded list: whom each row names, who occurs twice, and what all may cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.core.lookups import enrichment_estimates
from app.core.uploads import dispatch
from app.core.uploads.dispatch import Turn
from app.core.uploads.upload_tables import Upload, UploadRow, UploadStatus
from app.domain.errors import InvalidValue
from app.domain.lists import upload_columns
from app.domain.lists.column_mapping import ColumnMapping
from app.domain.lists.list_countries import list_countries
from app.domain.lists.row_values import ImportDefaults
from app.domain.records.subjects import Subject
from app.infra.database_clock import Moment
from app.settings import Settings

SOURCE = "upload"


@dataclass(slots=True)
class Pricing:
    """The mapping of a list, and what was counted of its rows so far.

    `first_rows` maps a person to the number of the first row that names them.
    """

    fields: tuple[str, ...]
    layout: ColumnMapping
    defaults: ImportDefaults
    counts: Counter[str] = field(default_factory=Counter)
    first_rows: dict[str, int] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, upload: Upload, sample: Sequence[Sequence[str]], *, now: datetime) -> Pricing:
        """Return the pricing of an upload; `sample` are rows that suggest the country of phone numbers."""
        layout = upload_columns.layout_of(upload.columns)
        defaults = ImportDefaults(SOURCE, now, now, countries=list_countries(layout, sample))
        return cls(tuple(upload.fields), layout, defaults)

    def changes(self, rows: Sequence[UploadRow]) -> list[dict[str, Any]]:
        """Return the new values of the rows, which must come in order, and count them."""
        return [self._change(row) for row in rows]

    def _change(self, row: UploadRow) -> dict[str, Any]:
        change: dict[str, Any] = {
            "upload_id": row.upload_id,
            "number": row.number,
            "subject": None,
            "fault": row.fault,
            "duplicate_of": None,
            "is_pending": False,
        }
        if not row.is_readable:
            self.counts["invalid"] += 1
            return change
        try:
            subject = upload_columns.subject_of(row.cells, self.layout, self.defaults)
        except InvalidValue as error:
            self.counts["invalid"] += 1
            return change | {"fault": str(error)}
        return change | {"fault": None} | self._occurrence(row.number, subject)

    def _occurrence(self, number: int, subject: Subject) -> dict[str, Any]:
        first = self.first_rows.setdefault(json.dumps(subject.question(), sort_keys=True), number)
        if first != number:
            self.counts["duplicates"] += 1
            return {"subject": subject.as_dict(), "duplicate_of": first}
        self.counts["people"] += 1
        return {"subject": subject.as_dict(), "is_pending": True}


def add_cost(
    session: Session,
    turn: Turn,
    pricing: Pricing,
    changes: Sequence[dict[str, Any]],
    *,
    settings: Settings,
    now: datetime,
) -> None:
    """Add the estimated cost of the people in these rows to the counts."""
    requests = [{"subject": change["subject"]} for change in changes if change["is_pending"]]
    estimate = enrichment_estimates.estimate(
        session,
        turn.workspace_id,
        requests,
        pricing.fields,
        settings=settings,
        now=now,
        counted=pricing.counted,
    )
    pricing.counts.update(asdict(estimate))


def store(session: Session, turn: Turn, changes: Sequence[dict[str, Any]], *, now: Moment) -> bool:
    """Store whom the rows name; return whether the price of this mapping is still needed."""
    priced = changes[-1]["number"] + 1
    if not dispatch.renew(session, turn, now=now, priced=priced):
        return False
    session.execute(update(UploadRow), changes)
    return True


def finish(session: Session, turn: Turn, pricing: Pricing) -> None:
    """Store the price; the upload can be started then."""
    names = ("credits_min", "credits_max", "owned", "suppressed", "people", "duplicates", "invalid")
    session.execute(
        update(Upload)
        .where(Upload.id == turn.upload_id, Upload.status == turn.status, Upload.revision == turn.revision)
        .values(
            status=UploadStatus.READY.value,
            estimate={name: pricing.counts[name] for name in names},
            next_at=None,
            published_at=None,
        )
        .execution_options(synchronize_session=False)
    )
