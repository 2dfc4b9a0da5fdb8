"""Blind indexes of stored values: keyed digests by which the encrypted e-mails and phones are found."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from app.infra.database.encrypted_columns import key_ring


def stored_forms(session: Session, field: str, values: Iterable[str]) -> dict[str, str]:
    """Return the indexes of the values under all keys, each with its value."""
    ring = key_ring(session)
    return {form: value for value in values for form in ring.indexes(field, value)}
