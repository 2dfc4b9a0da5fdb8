"""The price of an uploaded list: whom each row names, who occurs twice, and what all may cost.

Rows are priced in their order, in batches. What is counted is stored with each batch, so that any worker can
continue.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update

from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.records.subjects import Subject
from app.engine.enrichments import enrichment_estimates
from app.engine.enrichments.enrichment_estimates import ItemEstimate
from app.engine.own_records.own_records import Find
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.uploads import choices, erasure
from app.features.uploads.row_reader import RowReader, is_erased
from app.features.uploads.tables import Upload, UploadRow, UploadStatus
from app.infra.database import database_clock
from app.infra.database.bulk_statements import is_among
from app.infra.database.database_clock import Moment
from app.infra.database.encrypted_columns import encrypted, row_name
from app.infra.database.session import Session
from app.settings import Settings

COUNTS = (
    "credits_min",
    "credits_max",
    "to_buy",
    "owned",
    "suppressed",
    "excluded",
    "people",
    "duplicates",
    "invalid",
)
DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class PricedBatch:
    """The new values of consecutive rows, the people whom they name, and what was counted of them."""

    changes: list[dict[str, Any]]
    people: dict[int, Subject]
    counts: Counter[str]

    @property
    def end(self) -> int:
        """Return the number of the row after the last one."""
        return int(self.changes[-1]["number"]) + 1


def price(
    session: Session,
    turn: Turn,
    reader: RowReader,
    rows: Sequence[UploadRow],
    *,
    settings: Settings,
    finds: Mapping[str, Find],
    now: datetime,
) -> PricedBatch:
    """Return the price of the rows; earlier rows have been priced. `finds` are the own records to search."""
    subjects = [reader.subject(row) for row in rows]
    named = [
        (row, subject) for row, subject in zip(rows, subjects, strict=True) if isinstance(subject, Subject)
    ]
    requests = [{"subject": subject.as_dict()} for _row, subject in named]
    estimates = enrichment_estimates.estimate_items(
        session, reader.workspace_id, requests, reader.fields, settings=settings, now=now, finds=finds
    )
    priced = {row.number: (_digest(item), item) for (row, _), item in zip(named, estimates, strict=True)}
    first_by_person = first_rows(session, turn, rows[0].number, [digest for digest, _ in priced.values()])
    counts: Counter[str] = Counter()
    changes = []
    for row, subject in zip(rows, subjects, strict=True):
        change = blank(row)
        if isinstance(subject, Subject):
            digest, item = priced[row.number]
            first = first_by_person.setdefault(digest, row.number)
            change |= _named(digest, item, None if first == row.number else first)
            name = row_name(row.upload_id, row.number)
            change["subject"] = encrypted(session, UploadRow.subject, name, subject.as_dict())
            counts += _count(item, is_duplicate=first != row.number)
        elif is_erased(row):
            counts += Counter(people=1, suppressed=1)
        else:
            change["fault"] = subject or row.fault
            counts["invalid"] += 1
        changes.append(change)
    return PricedBatch(changes, {row.number: subject for row, subject in named}, counts)


def store(
    session: Session,
    turn: Turn,
    batch: PricedBatch,
    counts: Counter[str],
    warnings: CellWarnings,
    *,
    now: Moment,
) -> None:
    """Store a batch, and what was counted so far."""
    done = {"priced": batch.end, "counts": dict(counts), "warnings": warnings.to_json()}
    _update(session, turn, done)
    turns.renew(session, turn, now=now, progressed=True)
    erased = erasure.of_erased_people(session, batch.people)
    erasure.clear(session, [(turn.id, number) for number in sorted(erased)])
    if changes := _without_erased(session, turn.id, batch.changes):
        session.execute(update(UploadRow), changes)


def _without_erased(session: Session, upload_id: str, changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lock the rows, and return the changes of those whose person was not erased since they were read."""
    numbers = [change["number"] for change in changes]
    rows = select(UploadRow.number, UploadRow.cells).where(
        UploadRow.upload_id == upload_id, UploadRow.number.in_(numbers)
    )
    locked = session.execute(rows.order_by(UploadRow.number).with_for_update()).all()
    filled = {row.number for row in locked if row.cells}
    return [change for change in changes if change["number"] in filled or change["person_digest"] is None]


def estimate(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the price of all rows, whose people were counted by `price`."""
    return {name: counts.get(name, 0) for name in COUNTS} | choices.described(counts)


def finish(session: Session, turn: Turn, priced: Mapping[str, Any], phones_read_as: str | None) -> None:
    """Store the price, and the country that was guessed for numbers; the upload can be started then."""
    table_format = session.execute(select(Upload.table_format).where(Upload.id == turn.id)).scalar_one()
    values = {
        "status": UploadStatus.READY.value,
        "estimate": priced,
        "table_format": table_format and {**table_format, "phones_read_as": phones_read_as},
        "touched_at": database_clock.now(),
    }
    _update(session, turn, values)
    turns.end(session, turn)


def _update(session: Session, turn: Turn, values: dict[str, Any]) -> None:
    changed = update(Upload).where(Upload.id == turn.id).values(values)
    session.execute(changed.execution_options(synchronize_session=False))


def first_rows(session: Session, turn: Turn, before: int, people: Sequence[bytes]) -> dict[bytes, int]:
    """Return the first of the earlier rows about each of these people, or with each of these values."""
    query = select(UploadRow.person_digest, func.min(UploadRow.number)).where(
        UploadRow.upload_id == turn.id,
        UploadRow.number < before,
        is_among(session, UploadRow.__table__.c.person_digest, people),
    )
    return {
        person: number
        for person, number in session.execute(query.group_by(UploadRow.person_digest))
        if person
    }


def _digest(item: ItemEstimate) -> bytes:
    return hashlib.blake2b(item.person.encode(), digest_size=DIGEST_BYTES).digest()


def blank(row: UploadRow) -> dict[str, Any]:
    """Return the values of a row that identifies no person, or has nothing to verify."""
    return {
        "upload_id": row.upload_id,
        "number": row.number,
        "subject": None,
        "person_digest": None,
        "cost": 0,
        "fault": None,
        "duplicate_of": None,
        "is_pending": False,
    }


def _named(digest: bytes, item: ItemEstimate, duplicate_of: int | None) -> dict[str, Any]:
    return {
        "person_digest": digest,
        "cost": item.credits_max,
        "duplicate_of": duplicate_of,
        "is_pending": duplicate_of is None,
    }


def _count(item: ItemEstimate, *, is_duplicate: bool) -> Counter[str]:
    if is_duplicate:
        return Counter(duplicates=1)
    counts = choices.counts_of(item)
    counts.update(
        people=1,
        to_buy=int(bool(item.costs)),
        credits_min=item.credits_min,
        credits_max=item.credits_max,
    )
    if item.free is not None:
        counts[item.free] = 1
    return counts
