"""The result of an uploaded list: its rows in order, each with what was found, its cost and its receipt.

As a file it is read in parts: a long list occupies neither memory nor locks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select, tuple_
from sqlalchemy.orm import aliased

from app.domain.errors import JobExpired
from app.domain.findings import SourceKind
from app.domain.kinds import Outcome
from app.domain.messages import Message
from app.engine.call_registers import listed_answers
from app.engine.contacts import hidden_values, value_reports
from app.engine.jobs import jobs
from app.engine.jobs.jobs import Job, JobItem
from app.engine.ledger.reveals import RevealedValue
from app.features.uploads import row_store
from app.features.uploads.result_rows import STATUS_NOTES, ResultRow, StoredRow, do_not_call
from app.features.uploads.tables import Operation, Upload, UploadChunk, UploadRow
from app.features.uploads.verify import results as verified
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.languages import stored_texts

BATCH = 500
_ERASED = Message("The person was erased.")
MAX_MISSED = 10
"""The rows that were not found which are listed as examples."""
_NOT_FOUND = Message("Nothing was found, so nothing was charged.")
_WHY = {
    Outcome.PARTIAL.value: Message("Only a part was found, and only that was charged."),
    Outcome.SUPPRESSED.value: Message("The person has opted out. Nothing was charged."),
}
_HELPFUL = {
    frozenset({"linkedin_url", "company_domain"}): Message(
        "A row with a LinkedIn profile or the company's website is found more often."
    ),
    frozenset({"linkedin_url"}): Message("A row with a LinkedIn profile is found more often."),
    frozenset({"company_domain"}): Message("A row with the company's website is found more often."),
}
"""By what a person is found more often, by those of these identifiers that the row does not have."""
_IDENTIFIERS = ("linkedin_url", "company_domain")
_origin = aliased(UploadRow, name="origins")


def rows(
    session: Session, upload: Upload, *, first: int, limit: int, as_admin: bool = False
) -> list[ResultRow]:
    """Return the rows from this number on with their results; a duplicate has the result of the first row.

    Numbers that do-not-call registers hide from members are in it if the reader `as_admin`.
    They are fewer than the limit if their cells are long, but at least one.
    """
    query = row_store.fitting(session, _joined(), upload.id, first=first, limit=limit)
    return _read(session, upload, query, as_admin=as_admin)


def problem_rows(session: Session, upload: Upload, *, limit: int) -> list[ResultRow]:
    """Return the first rows that identify no person, cannot be read or failed, and some not found."""
    has_problem = UploadRow.fault.is_not(None) | JobItem.error.is_not(None)
    is_missed = (JobItem.outcome == Outcome.NOT_FOUND) & JobItem.error.is_(None)
    return [
        *_some_rows(session, upload, has_problem, limit),
        *_some_rows(session, upload, is_missed, min(limit, MAX_MISSED)),
    ]


def _some_rows(
    session: Session, upload: Upload, condition: ColumnElement[bool], limit: int
) -> list[ResultRow]:
    query = _joined().where(UploadRow.duplicate_of.is_(None), condition)
    fitting = row_store.fitting(session, query, upload.id, first=0, limit=limit)
    return _read(session, upload, fitting, as_admin=False)


def verdicts(session: Session, upload: Upload) -> Counter[str]:
    """Return how many values of a list that was verified have each verdict."""
    counts: Counter[str] = Counter()
    query = _joined().where(UploadRow.duplicate_of.is_(None), UploadRow.person_digest.is_not(None))
    first: int | None = 0
    while first is not None:
        fitting = row_store.fitting(session, query, upload.id, first=first, limit=BATCH)
        read = _read(session, upload, fitting, as_admin=False)
        counts.update(row.outcome for row in read)
        first = read[-1].number + 1 if read else None
    return counts


def batches(database: Database, upload: Upload, *, as_admin: bool = False) -> Iterator[list[ResultRow]]:
    """Yield all rows in batches, each read in a session of its own: a slow reader holds no connection."""
    first = 0
    while True:
        with database.reading() as session:
            found = rows(session, upload, first=first, limit=BATCH, as_admin=as_admin)
        if not found:
            return
        yield found
        first = found[-1].number + 1


def without_costs(found: list[ResultRow]) -> list[ResultRow]:
    """Return the rows for a reader who may not see costs."""
    return [replace(row, credits=None) for row in found]


def in_language(found: list[ResultRow], language: str) -> list[ResultRow]:
    """Return the rows with their notes in a language."""
    return [
        row if row.note is None else replace(row, note=stored_texts.translate(row.note, language))
        for row in found
    ]


def contact_ids(session: Session, upload: Upload, *, first: int, limit: int) -> tuple[list[str], int | None]:
    """Return the contacts whom these rows found, and the number of the next row, or None after the last.

    A result names values. Its contact is the one under which the workspace revealed them.
    """
    read = rows(session, upload, first=first, limit=limit, as_admin=True)  # nothing of them is shown
    emails = stored_forms(session, "email", [row.email for row in read if row.email])
    phones = stored_forms(session, "phone", [row.phone for row in read if row.phone])
    values = [*(("email", form) for form in emails), *(("phone", form) for form in phones)]
    query = select(RevealedValue.contact_id).where(
        RevealedValue.workspace_id == upload.workspace_id,
        tuple_(RevealedValue.field, RevealedValue.value_index).in_(values),
    )
    found = sorted(set(session.scalars(query))) if values else []
    return found, read[-1].number + 1 if read else None


def _read(session: Session, upload: Upload, query: Select[Any], *, as_admin: bool) -> list[ResultRow]:
    found = [StoredRow._make(row) for row in session.execute(query)]
    if upload.operation == Operation.VERIFY:
        return verified.read(session, upload, found)
    hidden = hidden_values.in_answers(session, [(row.result, row.request or {}) for row in found])
    listed = listed_answers.find(session, upload.workspace_id, (row.result for row in found))
    visible = (hidden_values.without(row.result, hidden) for row in found)
    shown = [listed_answers.shown(values, listed, as_admin=as_admin) or {} for values in visible]
    reports = value_reports.find(session, upload.workspace_id, shown)
    shown = [value_reports.marked(values, reports) or {} for values in shown]
    return [_result(row, upload.status, values) for row, values in zip(found, shown, strict=True)]


def _joined() -> Select[Any]:
    """Return the query for rows with the result of their person, which the person's first row has."""
    origin_number = func.coalesce(UploadRow.duplicate_of, UploadRow.number)
    return (
        select(
            UploadRow.number,
            UploadRow.line,
            UploadRow.cells,
            UploadRow.fault,
            UploadRow.duplicate_of,
            UploadRow.subject,
            _origin.charged.label("charged_before"),
            _origin.is_pending,
            UploadChunk.job_id,
            Job.finished_at,
            JobItem.outcome,
            JobItem.result,
            JobItem.request,
            JobItem.error,
            JobItem.charged,
        )
        .join(_origin, and_(_origin.upload_id == UploadRow.upload_id, _origin.number == origin_number))
        .outerjoin(
            UploadChunk,
            and_(UploadChunk.upload_id == _origin.upload_id, UploadChunk.number == _origin.chunk),
        )
        .outerjoin(Job, Job.id == UploadChunk.job_id)
        .outerjoin(JobItem, and_(JobItem.job_id == UploadChunk.job_id, JobItem.index == _origin.item))
    )


def _result(row: StoredRow, status: str, values: Mapping[str, Any]) -> ResultRow:
    result = partial(ResultRow, number=row.number, line=row.line, cells=tuple(row.cells))
    if row.fault is not None:
        return result(outcome="invalid", note=row.fault)
    is_duplicate = row.duplicate_of is not None
    outcome, note = _outcome(row, status)
    email: dict[str, Any] = next(iter(values.get("emails", ())), {})
    phone: dict[str, Any] = next(iter(values.get("phones", ())), {})
    return result(
        outcome=outcome,
        email=email.get("email"),
        email_status=email.get("status"),
        phone=phone.get("e164"),
        phone_do_not_call=do_not_call(phone),
        email_reported=reported(email),
        phone_reported=reported(phone),
        credits=0 if is_duplicate else row.charged_before + (row.charged or 0),
        sources=_sources((email, phone)),
        receipt=row.job_id,
        note=note or _same_as(row.duplicate_of),
    )


def reported(value: Mapping[str, Any]) -> str | None:
    """Return what the workspace reported of the value, with the day."""
    return value.get("reported") and f"{value['reported']} on {value['reported_at'][:10]}"


def _same_as(number: int | None) -> str | None:
    return None if number is None else Message("The same person as row {number}.", number=number + 1)


def _outcome(row: StoredRow, status: str) -> tuple[str, str | None]:
    """Return the outcome of a row that names a person, and what explains it."""
    if row.subject is None and not row.cells:
        return Outcome.SUPPRESSED.value, _ERASED
    detail = None if row.error is None else row.error.get("detail") or row.error.get("title")
    if row.outcome == Outcome.EXCLUDED and row.result:
        return row.outcome, jobs.public_exclusion(row.result)["message"]
    if row.result and jobs.SKIPPED in row.result:
        detail = detail or _skip_note(row)
    if row.outcome is not None:
        return row.outcome, STATUS_NOTES.get(status) if row.is_pending else detail or _why(row)
    if row.error is not None:
        return "failed", detail
    if row.finished_at is not None:
        return "failed", JobExpired.title
    return "pending", STATUS_NOTES.get(status)


def _why(row: StoredRow) -> str | None:
    """Return why nothing, or not everything, was found of the person, and what the row could say more."""
    if row.outcome == Outcome.NOT_FOUND:
        missing = frozenset(_IDENTIFIERS).difference(row.subject or {})
        return " ".join(filter(None, (_NOT_FOUND, _HELPFUL.get(missing))))
    return _WHY.get(row.outcome or "")


def _skip_note(row: StoredRow) -> str:
    skipped = jobs.public_skip(row.outcome, row.result or {})
    return " ".join(filter(None, (skipped["message"], skipped["url"])))


def _sources(values: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    sources = [source for value in values for source in value.get("sources", ())]
    return tuple(dict.fromkeys(map(_source, sources)))


def _source(source: Mapping[str, str]) -> str:
    """Return the name of a source, after its kind if it is a system of the workspace: `crm: hubspot`."""
    name, kind = source["provider"], source["kind"]
    return name if kind in set(SourceKind) else f"{kind}: {name}"
