"""Stop process groups. This module imports little, because a process stays for each owner of groups."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

KILL_SECONDS = 2.0  # to wait after SIGKILL


class Process(Protocol):
    """A process that this one has started; `returncode` is None until `poll` has seen its end."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """Return the exit code, None while the process runs."""


def stop_groups(groups: Iterable[int], children: Iterable[Process] = (), *, grace: float) -> None:
    """Send SIGTERM to each group, and SIGKILL after `grace` seconds; return when all are gone.

    `children` are the group leaders that this process has started: a group exists until its leader is reaped.
    """
    remaining, children = set(groups), list(children)
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, KILL_SECONDS)):
        for group in remaining:
            _signal(group, number)
        deadline = time.monotonic() + seconds
        while remaining and time.monotonic() < deadline:
            for child in children:
                child.poll()
            remaining = {group for group in remaining if _signal(group, 0)}
            time.sleep(0.02)


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; return False if the group is gone."""
    with suppress(ProcessLookupError):
        try:
            os.killpg(group, number)
        except PermissionError:  # what macOS raises for a group of zombies
            return False
        return True
    return False
