"""Checks of the spool, the folder of the API for uploaded files that are being received."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from app.settings import Settings
from cli.checks.findings import Finding, error, ok, warning
from cli.checks.host import nearest_existing

WHAT = "SPOOL_FOLDER"
IN_MEMORY = frozenset({"tmpfs", "ramfs"})
MOUNTS = Path("/proc/self/mountinfo")


def findings(settings: Settings) -> Iterator[Finding]:
    """Check that the folder can be written to, is on a disk, and has room for SPOOL_MAX_MB."""
    folder = Path(settings.spool_folder).resolve()
    existing = nearest_existing(folder)
    free_mb = shutil.disk_usage(existing).free >> 20
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        remedy = "choose a directory that the API may write to: uploads are refused without it"
        yield error(WHAT, f"{folder} cannot be written to", remedy)
    elif _filesystem(existing) in IN_MEMORY:
        remedy = "choose a directory on a disk: unfinished uploads would fill the memory"
        yield warning(WHAT, f"{folder} is in memory ({_filesystem(existing)})", remedy)
    elif settings.spool_max_mb is not None and free_mb < settings.spool_max_mb:
        state = f"{folder} has {free_mb:,} MB free, less than SPOOL_MAX_MB={settings.spool_max_mb}"
        yield warning(WHAT, state, "free disk space, or lower SPOOL_MAX_MB")
    else:
        yield ok(WHAT, f"{folder} is on a disk")


def _filesystem(path: Path) -> str:
    """Return the type of the file system of a path, or an empty text where Linux does not tell it."""
    if not MOUNTS.exists():
        return ""
    device = path.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in MOUNTS.read_text(errors="replace").splitlines():
        mount, _, kind = line.partition(" - ")  # proc(5)
        if mount.split()[2] == number:
            return kind.split()[0]
    return ""
