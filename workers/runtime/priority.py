"""The priority of a worker's process: bulk work leaves the processor to jobs that a user waits for."""

from __future__ import annotations

import os
from collections.abc import Collection

from app.domain.kinds import CLICKS

NICENESS = 5
"""Where two processes need the whole processor, this one gets a third of what one without it gets."""


def set_for(queues: Collection[str]) -> None:
    """Lower the priority of this thread, and of those that it starts, if no user waits for these queues."""
    if not set(CLICKS).intersection(queues):
        os.nice(NICENESS)
