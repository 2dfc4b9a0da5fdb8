"""Stopping: whether this process was told to end, so that long jobs can leave off where nothing is lost."""

from __future__ import annotations

import mmap

_begun = mmap.mmap(-1, 1)
"""One byte, shared with the children that a worker forks under `-P prefork`."""


def begin() -> None:
    """Say that the process is about to end."""
    _begun[0] = 1


def has_begun() -> bool:
    """Tell whether the process is about to end; a job that can go on elsewhere should be put back then."""
    return _begun[0] == 1
