"""Erasure of a person from uploaded lists: the row stays empty, so that the others keep their places.

A row that names an erased person is stored empty, too, so a file that is being read during an erasure is not
searched. A file whose name mentions the person is named like its upload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.core.contacts import suppression_checks
from app.core.contacts.suppression_digests import Identifier
from app.core.contacts.suppressions import ERASED
from app.core.lookups import contact_data
from app.core.uploads.upload_tables import UNFINISHED, Upload, UploadRow
from app.domain.records.identifier_finder import identifiers_in
from app.domain.records.person_matcher import PersonMatcher
from app.domain.records.subjects import Subject

RowKey = tuple[str, int]
"""The id of an upload and the number of a row."""


def named_after(session: Session, matcher: PersonMatcher) -> list[str]:
    """Return the uploads whose file name mentions the person."""
    files = session.execute(select(Upload.id, Upload.file_name))
    return [row.id for row in files if matcher.matches(PurePath(row.file_name).stem)]


def rename(session: Session, upload_ids: Sequence[str]) -> None:
    """Replace the names of the files."""
    session.execute(update(Upload).where(Upload.id.in_(upload_ids)).values(file_name=Upload.id))


def clear(session: Session, keys: Sequence[RowKey]) -> None:
    """Delete what the rows say, and the digest from which it could be guessed; none is submitted any more."""
    blank: dict[str, Any] = {"cells": [], "subject": None, "person": None, "is_pending": False}
    changes: list[dict[str, Any]] = [
        {"upload_id": upload_id, "number": number, **blank} for upload_id, number in keys
    ]
    if changes:
        session.execute(update(UploadRow), changes)


def of_erased_people(session: Session, rows: Mapping[int, Sequence[str] | Subject]) -> frozenset[int]:
    """Return which rows name an erased person, by their cells or by the people read from them.

    Call it in the transaction that stores the rows, after `dispatch.renew`.
    """
    if not suppression_checks.has_reason(session, ERASED):
        return frozenset()
    identifiers = {number: frozenset(_identifiers(row)) for number, row in rows.items()}
    named = frozenset().union(*identifiers.values())
    erased = suppression_checks.with_reason(session, named, ERASED)
    return frozenset(number for number, own in identifiers.items() if not own.isdisjoint(erased))


def await_writers(session: Session) -> None:
    """Wait until the rows that workers are storing are committed.

    They lock their upload first. Those that begin later know who was suppressed before this was called.
    """
    unfinished = select(Upload.id).where(Upload.status.in_(UNFINISHED))
    session.execute(unfinished.order_by(Upload.id).with_for_update()).all()


def _identifiers(row: Sequence[str] | Subject) -> list[Identifier]:
    if isinstance(row, Subject):
        return contact_data.requested_identifiers(row, names=True)
    return [Identifier(*found) for found in identifiers_in(list(row))]
