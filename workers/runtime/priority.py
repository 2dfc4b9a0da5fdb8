"""The priority of a worker's process: where both need the processor, bulk work gives way to clicks."""

from __future__ import annotations

import os
from collections.abc import Collection

from app.domain.kinds import CLICKS

NICENESS = 5
"""About a third of the processor time of a process that answers clicks, where both need all of it."""


def set_for(queues: Collection[str]) -> None:
    """Lower the priority of this thread, and of those that it starts, unless the worker runs clicks."""
    if not set(CLICKS).intersection(queues):
        os.nice(NICENESS)
