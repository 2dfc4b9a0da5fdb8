"""Erasure of a person from uploaded lists: the row stays empty, so that the others keep their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, tuple_, update
from sqlalchemy.orm import Session

from app.core.uploads.upload_tables import UploadRow
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


def clear(session: Session, keys: Sequence[RowKey]) -> None:
    """Delete what the rows say; those that wait are not submitted."""
    changes: list[dict[str, Any]] = [
        {"upload_id": upload_id, "number": number, "cells": [], "subject": None, "is_pending": False}
        for upload_id, number in keys
    ]
    if changes:
        session.execute(update(UploadRow), changes)
