"""Files of lines that several processes append to, each line on the disk before the call returns."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path


def append(path: Path, lines: Sequence[str]) -> None:
    """Append the lines and write them to the disk; the file is created with mode 0600.

    A line that a process left unfinished when it was killed stays as it is; the new ones start after it.

    Raises:
        OSError: the file cannot be written.

    """
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        is_unfinished = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        text = "".join(f"{line}\n" for line in lines)
        _write(descriptor, (("\n" if is_unfinished else "") + text).encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        sync_directory(path.parent)


def _write(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_directory(directory: Path) -> None:
    """Write the directory to the disk, so that a new name in it survives a crash."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
