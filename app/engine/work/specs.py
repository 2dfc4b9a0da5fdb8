"""Kinds of work: the task that does it, how long its lease is, and how it is shared among workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

TURNS_FAILED = "turns_failed"
"""The error of work that was given up because no turn made progress."""
FULL_QUEUE = 100
"""Queue length above which nothing is published: receivers are slow, or workers few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """What one kind of work needs.

    `task` is the name of the Celery task. `label` is the kind in the metrics of failed work, None if a
    failure is not the service's. A worker counts as lost if it has not renewed its turn within `lease`, a
    message if no worker has taken it within `republish_after`.

    Workers and the queue have at most `per_key` items of one fairness key, any number if it is None. After
    `max_attempts` turns without progress the task ends the work as failed; an error in a turn is followed by
    the next one after `retry_after`. `full_queue` is the length of the queue above which no messages are
    published. A failure counts in the metrics for an hour, or until the work is added again if
    `failure_lasts`.
    """

    task: str
    label: str | None
    lease: timedelta
    republish_after: timedelta
    max_attempts: int
    retry_after: timedelta = timedelta(0)
    per_key: int | None = None
    full_queue: int = FULL_QUEUE
    failure_lasts: bool = False


SPECS: dict[str, WorkSpec] = {}
"""The kinds of work by the name of their task."""


def register(spec: WorkSpec) -> WorkSpec:
    """Add a kind of work, in the module that adds its items; return it."""
    SPECS[spec.task] = spec
    return spec
