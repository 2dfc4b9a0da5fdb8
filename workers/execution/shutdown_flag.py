"""A flag that tells long jobs that their process is shutting down."""

from __future__ import annotations

import mmap

_flag = mmap.mmap(-1, 1)
"""One byte of memory shared with the child processes of `-P prefork`."""


def begin() -> None:
    """Mark this process as shutting down."""
    _flag[0] = 1


def has_begun() -> bool:
    """Return whether this process is shutting down; a long job should then be requeued for another worker."""
    return _flag[0] == 1
