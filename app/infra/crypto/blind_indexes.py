"""Blind indexes of stored values: keyed digests by which the encrypted e-mails and phones are found."""

from __future__ import annotations

from collections.abc import Iterable

from app.infra.database.session import Session


def stored_forms(session: Session, field: str, values: Iterable[str]) -> dict[str, str]:
    """Return each text that may stand for one of the values in a column of indexes, with the value.

    These are the indexes under all keys and, for rows of earlier releases, the value itself.
    """
    ring = session.keys.ring
    return {form: value for value in values for form in ring.indexes(field, value)}
