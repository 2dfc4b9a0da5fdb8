"""A directory of base backups and the write-ahead log (WAL) of a PostgreSQL server, and recovery from it.

The layout of the directory:

    base-20261123T175405Z/   base.tar.gz and backup_manifest, as `pg_basebackup` writes them
    wal/                     segments, the last one with the suffix .partial, as `pg_receivewal` writes them
    recovered                exists after a recovery: another server may not stream into this directory
"""

from __future__ import annotations

import json
import shlex
import shutil
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL

from app.features.backup.copies import programs
from app.features.backup.copies.archive import BackupError

SLOT = "contact_lookup_backup"
"""The replication slot by which the server keeps the WAL that the directory does not have yet."""
_PREFIX, _PARTIAL = "base-", ".partial"
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"
_MANIFEST, _ARCHIVE = "backup_manifest", "base.tar.gz"
_RECOVERED = "recovered"
_FILTER: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}
"""Python 3.11.0 to 3.11.3 have no filters; the archive is one that pg_basebackup wrote here."""
_TIMELINE_DIGITS = 8
_SEGMENT_DIGITS = 24


@dataclass(frozen=True, slots=True)
class WalDirectory:
    """The directory at this path."""

    path: Path

    @property
    def wal(self) -> Path:
        """The directory of the segments."""
        return self.path / "wal"

    def prepare(self) -> None:
        """Create the directory of the segments."""
        if not self.path.is_dir():
            message = f"There is no directory {self.path}. Create it, for this user only (mode 0700)."
            raise BackupError(message)
        if (self.path / _RECOVERED).exists():
            message = (
                f"A server was recovered from {self.path}. Stream the new server into another directory."
            )
            raise BackupError(message)
        self.wal.mkdir(mode=0o700, exist_ok=True)

    def bases(self) -> Sequence[Path]:
        """Return the complete base backups, the oldest first."""
        found = self.path.glob(f"{_PREFIX}*/{_MANIFEST}")
        return sorted(file.parent for file in found if file.parent.suffix != _PARTIAL)

    def newest_base_at(self) -> datetime | None:
        """Return when the newest base backup was started; None if there is none."""
        bases = self.bases()
        if not bases:
            return None
        return datetime.strptime(bases[-1].name.removeprefix(_PREFIX), _TIME_FORMAT).replace(tzinfo=UTC)

    def create_base(self, url: URL, now: datetime) -> Path:
        """Copy the server's data directory while it runs; return the base backup."""
        for unfinished in self.path.glob(f"{_PREFIX}*{_PARTIAL}"):
            shutil.rmtree(unfinished)
        base = self.path / f"{_PREFIX}{now.strftime(_TIME_FORMAT)}"
        partial = base.with_name(f"{base.name}{_PARTIAL}")
        command = [programs.find("pg_basebackup"), f"--pgdata={partial}", "--format=tar", "--gzip"]
        command += [
            "--wal-method=none",
            "--checkpoint=fast",
            "--no-password",
            f"--dbname={programs.address(url)}",
        ]
        with programs.running(command, programs.environment(url)):
            pass
        return partial.rename(base)

    def prune(self, keep: int) -> None:
        """Delete all but the newest `keep` base backups, and the segments that none of these needs."""
        bases, segments = self.bases(), self._complete_segments()
        for base in bases[:-keep]:
            shutil.rmtree(base)
        if not segments:
            return
        first = _first_segment(bases[-keep:][0], segments[0].stat().st_size)
        for segment in segments:
            if segment.name[_TIMELINE_DIGITS:] < first:
                segment.unlink()

    def recover(self, data: Path, until: datetime | None = None) -> Path:
        """Unpack the newest base backup (before `until`) into a new data directory of a server.

        When the server starts on it, it replays all WAL in this directory, or that until the time, and then
        accepts connections. Return the base backup.
        """
        bases = [base for base in self.bases() if until is None or base.name < f"{_PREFIX}{_utc(until)}"]
        if not bases:
            raise BackupError(
                f"{self.path} has no complete base backup. Name a directory of `flask backup stream`."
            )
        if data.exists() and any(data.iterdir()):
            raise BackupError(f"{data} is not empty. Name a new data directory, or move the old one away.")
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        data.chmod(0o700)
        with tarfile.open(bases[-1] / _ARCHIVE) as archive:
            archive.extractall(data, **_FILTER)  # noqa: S202  # nosec B202 - its own archive
        with (data / "postgresql.auto.conf").open("a") as settings:
            settings.write(self._recovery_settings(until))
        (data / "recovery.signal").touch(0o600)
        (self.path / _RECOVERED).touch()
        return bases[-1]

    def _recovery_settings(self, until: datetime | None) -> str:
        """Return the settings with which the server finds the WAL, at the end also the unfinished segment."""
        directory = shlex.quote(str(self.wal.resolve())).replace("%", "%%")
        segment = f"{directory}/%f"
        command = f"cp {segment} %p 2>/dev/null || cp {segment}{_PARTIAL} %p".replace("'", "''")
        lines = [f"restore_command = '{command}'", "recovery_target_action = 'promote'"]
        if until is not None:
            lines.append(f"recovery_target_time = '{until.astimezone(UTC).isoformat(' ')}'")
        return "\n".join([*lines, ""])

    def _complete_segments(self) -> Sequence[Path]:
        """Return the segments; not the last one, which is being written, nor histories of timelines."""
        return [file for file in self.wal.iterdir() if len(file.name) == _SEGMENT_DIGITS]


def _first_segment(base: Path, segment_bytes: int) -> str:
    """Return the name, without the timeline, of the first segment that a base backup needs.

    The name is the number of the segment in two halves (PostgreSQL's XLogFileName).
    """
    manifest = json.loads((base / _MANIFEST).read_bytes())
    high, low = (int(part, 16) for part in manifest["WAL-Ranges"][0]["Start-LSN"].split("/"))
    return f"{high:08X}{low // segment_bytes:08X}"


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(_TIME_FORMAT)
