"""A job as requests read it: a row of values, never written back.

A test compares the fields with the columns of the table.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple


class StoredJob(NamedTuple):
    """The columns of a job that a request, its receipt and the history read; see `Job`."""

    id: str
    workspace_id: str
    account_id: str | None
    key_id: str | None
    kind: str
    request: dict[str, Any]
    status: str
    outcome: str | None
    result: dict[str, Any] | None
    trace: list[dict[str, Any]]
    error: dict[str, Any] | None
    held: int
    charged: int
    already_owned: bool
    progress_done: int
    progress_total: int
    attempts: int
    crashes: int
    created_at: datetime
    finished_at: datetime | None
