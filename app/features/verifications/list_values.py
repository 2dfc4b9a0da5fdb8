"""The values of a verified list with their verdicts: recorded by workers, read in batches and counted.

No address at a domain that accepts all mail is `valid`, whatever job found that out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select, update

from app.domain.findings import EmailStatus
from app.domain.kinds import Outcome
from app.engine.jobs.jobs import Job, JobItem
from app.features.verifications.tables import VerificationValue
from app.infra.database.db import Database
from app.infra.database.session import Session

BATCH = 500
PENDING = "pending"
"""The status of a value before its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRow:
    """A value of a list with its verdict; `position` is its place in the list, from 0."""

    position: int
    line: int
    value: str
    status: str
    reasons: tuple[str, ...]
    country: str | None
    line_type: str | None
    credits: int | None
    verified_at: str | None
    job_id: str


def record(session: Session, job_id: str, item: int, status: str) -> None:
    """Record the status of an item of a job; for a job of no list, nothing is recorded."""
    of_item = (VerificationValue.job_id == job_id, VerificationValue.item == item)
    session.execute(update(VerificationValue).where(*of_item).values(status=status))


def not_valid(session: Session, job_id: str) -> set[int]:
    """Return the items of a job that are recorded as valid, at domains that accept all mail."""
    found = VerificationValue.__table__.alias("found").c
    accept_all = select(found.domain).where(
        found.list_id == VerificationValue.list_id, found.status == EmailStatus.ACCEPT_ALL.value
    )
    query = select(VerificationValue.item).where(
        VerificationValue.job_id == job_id,
        VerificationValue.status == EmailStatus.VALID.value,
        VerificationValue.domain.in_(accept_all),
    )
    return set(session.scalars(query))


def counts(session: Session, list_id: str) -> dict[str, int]:
    """Return how many values have each status, the most frequent first; no value is read."""
    status, number = _status(list_id).label("status"), func.count().label("number")
    query = (
        select(status, number)
        .join(Job, Job.id == VerificationValue.job_id)
        .where(VerificationValue.list_id == list_id)
        .group_by(status)
        .order_by(number.desc(), status)
    )
    return {row.status: row.number for row in session.execute(query)}


def page(session: Session, list_id: str, *, start: int, limit: int) -> list[ListRow]:
    """Return so many values of a list from this position on, in their order."""
    query = (
        select(
            *(VerificationValue.position, VerificationValue.line, _status(list_id).label("status")),
            *(
                JobItem.job_id,
                JobItem.index,
                JobItem.request,
                JobItem.outcome,
                JobItem.result,
                JobItem.charged,
            ),
        )
        .join(Job, Job.id == VerificationValue.job_id)
        .join(
            JobItem,
            and_(JobItem.job_id == VerificationValue.job_id, JobItem.index == VerificationValue.item),
        )
        .where(VerificationValue.list_id == list_id, VerificationValue.position >= start)
        .order_by(VerificationValue.position)
        .limit(limit)
    )
    return [_row(item) for item in session.execute(query)]


def batches(database: Database, list_id: str) -> Iterator[list[ListRow]]:
    """Yield the values of a list, some at a time; no transaction is open between them."""
    start = 0
    while True:
        with database.reading() as session:
            rows = page(session, list_id, start=start, limit=BATCH)
        if not rows:
            return
        yield rows
        start = rows[-1].position + 1


def _status(list_id: str) -> ColumnElement[str]:
    """Return the status of a value; one without a verdict is unknown when its job has ended."""
    found = VerificationValue.__table__.alias("found").c
    accept_all = select(found.domain).where(
        found.list_id == list_id, found.status == EmailStatus.ACCEPT_ALL.value
    )
    is_valid = VerificationValue.status == EmailStatus.VALID.value
    return case(
        (and_(is_valid, VerificationValue.domain.in_(accept_all)), EmailStatus.ACCEPT_ALL.value),
        (VerificationValue.status.is_not(None), VerificationValue.status),
        (Job.finished_at.is_(None), PENDING),
        else_=EmailStatus.UNKNOWN.value,
    )


def _row(item: Any) -> ListRow:  # noqa: ANN401 -- a row of several columns
    """Return the row of a value; a person who opted out since then is not named."""
    result = item.result or {}
    values = [*result.get("emails", ()), *result.get("phones", ())]
    value: dict[str, Any] = values[0] if values else {}
    return ListRow(
        position=item.position,
        line=item.line,
        value=item.request.get("email") or item.request.get("phone") or "",
        status=item.outcome if item.outcome == Outcome.SUPPRESSED else item.status,
        reasons=tuple(value.get("status_reasons", ())),
        country=value.get("country"),
        line_type=value.get("line_type"),
        credits=item.charged,
        verified_at=value.get("verified_at"),
        job_id=item.job_id,
    )
