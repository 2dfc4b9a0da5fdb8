"""Blind indexes of stored values: keyed digests by which the encrypted e-mails and phones are found."""

from __future__ import annotations

from collections.abc import Iterable

from app.infra.database.session import Session


def stored_forms(session: Session, field: str, values: Iterable[str]) -> dict[str, str]:
    """Return the indexes of the values under all keys, each with its value."""
    ring = session.keys.ring
    return {form: value for value in values for form in ring.indexes(field, value)}
