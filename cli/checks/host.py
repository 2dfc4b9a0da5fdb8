"""Checks of this machine: processors and disk space."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.settings import Settings
from cli.checks.findings import Finding, error, ok, warning

MIN_FREE_BYTES = 1_000_000_000
MIN_FREE_SHARE = 0.05
PROCESSES_PER_CORE = 2


def findings(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Check the machine that this command runs on."""
    yield from _processes(settings.web_concurrency, environment)
    beat = Path(environment.get("BEAT_SCHEDULE") or ".data/beat-schedule").parent
    spool = Path(settings.spool_folder)
    yield from _disks({"beat's schedule": beat, "logs": Path("/var/log"), "uploads": spool})
    yield from _writable(beat)


def _processes(count: int | None, environment: Mapping[str, str]) -> Iterator[Finding]:
    cores = os.cpu_count() or 1
    if count and environment.get("WEB_CONCURRENCY"):
        if count > PROCESSES_PER_CORE * cores:
            yield warning(
                "WEB_CONCURRENCY",
                f"{count} processes on {cores} processors",
                f"unset it, or set at most {PROCESSES_PER_CORE * cores}",
            )
        else:
            yield ok("WEB_CONCURRENCY", f"{count} processes on {cores} processors")


def _disks(paths: Mapping[str, Path]) -> Iterator[Finding]:
    """Check the free space, once per disk."""
    devices: set[int] = set()
    for name, path in paths.items():
        existing = nearest_existing(path)
        device = existing.stat().st_dev
        if device in devices:
            continue
        devices.add(device)
        usage = shutil.disk_usage(existing)
        state = f"{usage.free / 1e9:.1f} GB free ({name})"
        if usage.free < MIN_FREE_BYTES or usage.free < MIN_FREE_SHARE * usage.total:
            yield warning(f"disk of {existing}", state, "free disk space; rotate logs (docs/install.md)")
        else:
            yield ok(f"disk of {existing}", state)


def _writable(folder: Path) -> Iterator[Finding]:
    if not os.access(nearest_existing(folder), os.W_OK):
        yield error(
            "BEAT_SCHEDULE", f"{folder} cannot be written to", "choose a directory that beat may write to"
        )


def nearest_existing(path: Path) -> Path:
    """Return the path if it exists, otherwise its closest parent that does."""
    return next((candidate for candidate in (path, *path.resolve().parents) if candidate.exists()), Path("/"))
