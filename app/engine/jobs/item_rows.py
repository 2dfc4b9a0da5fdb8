"""Inserts the items of many jobs in one statement; they are encrypted before, outside of the transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from sqlalchemy import Table, insert

from app.engine.jobs.jobs import JobItem
from app.infra.crypto.key_ring import KeyRing
from app.infra.database.encrypted_columns import EncryptedJson, row_name
from app.infra.database.session import Session

_TABLE = cast("Table", JobItem.__table__)
_REQUEST = cast("EncryptedJson", JobItem.__table__.c.request.type)
ItemRow = Mapping[str, Any]
"""The columns of an item that is not finished."""


def encrypted(ring: KeyRing, jobs: Iterable[tuple[str, Sequence[dict[str, Any]]]]) -> list[ItemRow]:
    """Return the rows of the items of jobs, each given as its id and the requests of its items."""
    placed = list(chain.from_iterable(_placed(job_id, requests) for job_id, requests in jobs))
    named = [(row_name(job_id, index), request) for job_id, index, request in placed]
    stored = _REQUEST.encrypted_all(ring, named)
    return [
        {"job_id": job_id, "index": index, "request": request, "charged": 0}
        for (job_id, index, _), request in zip(placed, stored, strict=True)
    ]


def add(session: Session, rows: Sequence[ItemRow]) -> None:
    """Insert the rows; their jobs must exist."""
    if rows:
        session.execute(insert(_TABLE), rows)


def _placed(job_id: str, requests: Sequence[dict[str, Any]]) -> Iterable[tuple[str, int, dict[str, Any]]]:
    return ((job_id, index, request) for index, request in enumerate(requests))
