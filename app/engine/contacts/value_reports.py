"""What a workspace reported last of each value, under whichever contact has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, ScalarSelect, Select, literal, select, union_all
from sqlalchemy.orm import InstrumentedAttribute

from app.engine.contacts.bounce_reports import Feedback
from app.engine.contacts.bulk import batched
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.infra.clock import rfc3339
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session

Field: TypeAlias = Literal["email", "phone"]
_LISTS: tuple[tuple[str, Field, str], ...] = (("emails", "email", "email"), ("phones", "phone", "e164"))
"""The lists of an answer, their field, and the key of the value in an entry."""
_OF_EMAIL = (Email.__table__.alias("reported_emails"), Feedback.email_id, "email_index")
_OF_PHONE = (Phone.__table__.alias("reported_phones"), Feedback.phone_id, "e164_index")


class ValueReport(NamedTuple):
    """The kind of a report, and when it was made."""

    kind: str
    at: datetime


ValueReports: TypeAlias = Mapping[tuple[str, str], ValueReport]
"""The last report of each value, by its field and itself."""


def last(
    column: InstrumentedAttribute[Any],
    field: Field,
    value_index: ColumnElement[Any],
    workspace_id: ColumnElement[str],
) -> ScalarSelect[Any]:
    """Return a column of the workspace's last report of the value with this blind index, or null."""
    values, value_id, name = _OF_EMAIL if field == "email" else _OF_PHONE
    return (
        select(column)
        .join(values, values.c.id == value_id)
        .where(values.c[name] == value_index, Feedback.workspace_id == workspace_id)
        .order_by(Feedback.created_at.desc(), Feedback.id.desc())
        .limit(1)
        .correlate_except(Feedback.__table__, values)
        .scalar_subquery()
    )


def find(session: Session, workspace_id: str, answers: Iterable[Mapping[str, Any] | None]) -> ValueReports:
    """Return the workspace's last reports of the values in answers of jobs; without values, read nothing."""
    named = sorted({pair for answer in answers if answer for pair in _values(answer)})
    found: dict[tuple[str, str], ValueReport] = {}
    for part in batched(named):
        forms: dict[tuple[str, str], str] = {
            (field, form): value
            for field in ("email", "phone")
            for form, value in stored_forms(
                session, field, [text for of, text in part if of == field]
            ).items()
        }
        for row in session.execute(_reports(workspace_id, list(forms))):
            found[row.field, forms[row.field, row.value_index]] = ValueReport(row.kind, row.created_at)
    return found


def marked(answer: dict[str, Any] | None, reports: ValueReports) -> dict[str, Any] | None:
    """Return an answer of a job with what was reported of each of its values."""
    if not answer:
        return answer
    lists = {
        name: [entry | to_public(reports.get((field, entry[key]))) for entry in answer[name]]
        for name, field, key in _LISTS
        if answer.get(name)
    }
    return answer | lists


def to_public(report: ValueReport | None) -> dict[str, Any]:
    """Return the fields of a value that say what the workspace reported of it, and when."""
    kind, at = report or (None, None)
    return {"reported": kind, "reported_at": rfc3339(at)}


def _values(answer: Mapping[str, Any]) -> Iterator[tuple[Field, str]]:
    return ((field, entry[key]) for name, field, key in _LISTS for entry in answer.get(name) or ())


def _reports(workspace_id: str, forms: Sequence[tuple[str, str]]) -> Select[Any]:
    """Return the query of the workspace's reports of values with these blind indexes, the last ones last."""
    of_fields = [
        select(
            literal(field).label("field"),
            values.c[name].label("value_index"),
            Feedback.kind,
            Feedback.created_at,
            Feedback.id,
        )
        .join(values, values.c.id == value_id)
        .where(
            Feedback.workspace_id == workspace_id,
            values.c[name].in_([form for of, form in forms if of == field]),
        )
        for field, (values, value_id, name) in (("email", _OF_EMAIL), ("phone", _OF_PHONE))
    ]
    rows = union_all(*of_fields).subquery()
    return select(rows.c.field, rows.c.value_index, rows.c.kind, rows.c.created_at).order_by(
        rows.c.created_at, rows.c.id
    )
