"""Messages in the format of Celery's workers, which carry only the ids of jobs.

Source: docs.celeryq.dev, "Message Protocol", version 2.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

CONTENT_TYPE, CONTENT_ENCODING = "application/json", "utf-8"


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """A message that makes a worker run a task; its arguments are the ids of jobs or other rows."""

    id: str
    headers: dict[str, Any]
    body: str


def build(task: str, *ids: str) -> TaskMessage:
    """Return a new message for the task."""
    task_id = str(uuid.uuid4())
    options = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    headers = {
        "lang": "py",
        "task": task,
        "id": task_id,
        "root_id": task_id,
        "parent_id": None,
        "group": None,
        "retries": 0,
        "timelimit": [None, None],
        "eta": None,
        "expires": None,
        "argsrepr": repr(ids),
        "kwargsrepr": "{}",
        "ignore_result": True,
        "origin": "api",
    }
    return TaskMessage(task_id, headers, json.dumps([ids, {}, options]))
