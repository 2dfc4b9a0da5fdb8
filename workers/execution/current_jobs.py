"""The jobs running in this process, by Celery task id."""

from __future__ import annotations

JOB_BY_TASK: dict[str, str] = {}
"""Job ids by Celery task id. A task may run another job than the one its message names.

Empty in the parent process of a prefork pool.
"""
