"""Rows of uploaded lists about erased people are emptied, also those that workers store during an erasure.

A file that is being read is therefore not searched by an erasure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, update

from app.domain.lists.row_subjects import subject_positions
from app.domain.records.identifier_finder import identifiers_in
from app.domain.records.subjects import Subject
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import ERASED
from app.engine.lookups import contact_data
from app.features.uploads.tables import UNFINISHED, Upload, UploadRow
from app.infra.database.session import Session

RowKey = tuple[str, int]
"""The id of an upload and the number of a row."""
RowMentions = list[frozenset[Identifier]]
"""The identifiers in each cell of a row."""


def clear(session: Session, keys: Sequence[RowKey]) -> None:
    """Delete what the rows say, and the digest from which it could be guessed; none is submitted any more."""
    blank: dict[str, Any] = {"cells": [], "subject": None, "person_digest": None, "is_pending": False}
    changes: list[dict[str, Any]] = [
        {"upload_id": upload_id, "number": number, **blank} for upload_id, number in keys
    ]
    if changes:
        session.execute(update(UploadRow), changes)


def of_erased_people(session: Session, people: Mapping[int, Subject]) -> frozenset[int]:
    """Return which rows are about an erased person, by the people read from them.

    Call it in the transaction that stores the rows, after `turns.renew`.
    """
    if not suppression_checks.has_reason(session, ERASED):
        return frozenset()
    identifiers = {
        number: frozenset(contact_data.requested_identifiers(subject, names=True))
        for number, subject in people.items()
    }
    named = frozenset().union(*identifiers.values())
    erased = suppression_checks.with_reason(session, named, ERASED)
    return frozenset(number for number, own in identifiers.items() if not own.isdisjoint(erased))


def mentioned_in(rows: Iterable[Sequence[str]]) -> list[RowMentions]:
    """Return the identifiers in each cell of the rows; call it with no transaction open: rows may be long."""
    return [[frozenset(Identifier(*found) for found in identifiers_in(cell)) for cell in row] for row in rows]


def is_needed(session: Session) -> bool:
    """Return whether anybody was erased, so that rows have to be searched."""
    return suppression_checks.has_reason(session, ERASED)


def without_erased_people(
    session: Session,
    rows: Mapping[int, Sequence[str]],
    columns: Sequence[str | None],
    mentions: Sequence[RowMentions] | None,
) -> dict[int, list[str]]:
    """Return the cells to store of the rows that mention an erased person: none if the row is about them.

    `columns` are the fields of the columns, `mentions` the mentions in the rows, None if nobody was erased
    when they were read. Call it as `of_erased_people`.
    """
    if not is_needed(session):
        return {}
    found = mentioned_in(rows.values()) if mentions is None else mentions
    mentioned = dict(zip(rows, found, strict=True))
    named = frozenset().union(*(found for cells in mentioned.values() for found in cells))
    erased = suppression_checks.with_reason(session, named, ERASED)
    kept: dict[int, list[str]] = {}
    for number, cells in rows.items():
        is_named = [not found.isdisjoint(erased) for found in mentioned[number]]
        if any(is_named[position] for position in subject_positions(cells, columns)):
            kept[number] = []
        elif any(is_named):
            kept[number] = ["" if is_gone else cell for cell, is_gone in zip(cells, is_named, strict=True)]
    return kept


def await_writers(session: Session) -> None:
    """Wait until the rows that workers are storing are committed.

    They lock their upload first. Those that begin later know who was suppressed before this was called.
    """
    unfinished = select(Upload.id).where(Upload.status.in_(UNFINISHED))
    session.execute(unfinished.order_by(Upload.id).with_for_update()).all()
