"""Erasure of a person from uploaded lists: the row stays empty, so that the others keep their places.

A file whose name mentions the person is named like its upload.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from sqlalchemy import select, tuple_, update
from sqlalchemy.orm import Session

from app.core.uploads.upload_tables import Upload, UploadRow
from app.domain.records.person_matcher import PersonMatcher

BATCH = 500
RowKey = tuple[str, int]
"""The id of an upload and the number of a row."""


def mentioning(session: Session, matcher: PersonMatcher) -> list[RowKey]:
    """Return the rows with an identifier of the person in any cell, or with their name and company."""
    columns = (UploadRow.upload_id, UploadRow.number, UploadRow.cells, UploadRow.subject)
    query = select(*columns).order_by(UploadRow.upload_id, UploadRow.number).limit(BATCH)
    position = tuple_(UploadRow.upload_id, UploadRow.number)
    found: list[RowKey] = []
    last: RowKey = ("", -1)
    while rows := session.execute(query.where(position > last)).all():
        found += [(row.upload_id, row.number) for row in rows if matcher.matches([row.cells, row.subject])]
        last = (rows[-1].upload_id, rows[-1].number)
    return found


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
