"""Erasure of a person from uploaded lists: the row stays empty, so that the others keep their places.

A file whose name mentions the person is named like its upload.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.core.uploads.upload_tables import Upload, UploadRow
from app.domain.records.person_matcher import PersonMatcher

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
