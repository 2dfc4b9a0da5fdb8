"""The job of each Celery task of this process, which need not be the one that its message names."""

from __future__ import annotations

JOB_BY_TASK: dict[str, str] = {}
"""Job ids by the ids of Celery's tasks, while they run; empty in the parent of a prefork pool."""
