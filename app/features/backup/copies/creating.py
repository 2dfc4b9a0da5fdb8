"""Creates a backup, and deletes the oldest ones of its directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.features.backup.copies import archive, fingerprints, postgresql, sqlite
from app.features.backup.copies.archive import BackupError, Manifest
from app.infra.database.engines import parsed_url
from app.settings import Settings

PREFIX = "contact-lookup-"
TIME_FORMAT = "%Y%m%dT%H%M%SZ"
NO_RECIPIENTS = (
    "BACKUP_RECIPIENTS is not set. Create a key on another machine with `flask backup key` or `age-keygen`,"
    " and set it to the public key."
)


@dataclass(frozen=True, slots=True)
class Created:
    """A new backup, its size, and the backups that were deleted for it."""

    file: Path
    bytes: int
    manifest: Manifest
    deleted: tuple[Path, ...]


def create(settings: Settings, directory: Path, keep: int | None) -> Created:
    """Back up the database into a directory; keep its newest `keep` backups, or all."""
    if not settings.backup_recipients:
        raise BackupError(NO_RECIPIENTS)
    if not directory.is_dir():
        raise BackupError(
            f"There is no directory {directory}. Create it, for the service's user only (mode 0700)."
        )
    url = parsed_url(settings.database_url)
    dialect = url.get_backend_name()
    taking = sqlite.snapshot if dialect == "sqlite" else postgresql.snapshot
    with taking(url) as snapshot:
        manifest = Manifest(
            created_at=snapshot.taken_at,
            dialect=dialect,
            server=snapshot.server,
            revision=snapshot.revision,
            rows=snapshot.rows,
            keys=fingerprints.fingerprints(settings),
        )
        file = directory / f"{PREFIX}{snapshot.taken_at.strftime(TIME_FORMAT)}{archive.SUFFIX}"
        try:
            size = archive.write(
                file, settings.backup_recipients, manifest, snapshot.dump, settings.suppression_key
            )
        except OSError as error:
            raise BackupError(f"The backup cannot be written to {directory}: {error.strerror}.") from None
    deleted = () if keep is None else _delete_oldest(file, keep)
    return Created(file, size, manifest, deleted)


def backups(directory: Path) -> Sequence[Path]:
    """Return the backups in a directory, the oldest first: their names contain the time."""
    return sorted(directory.glob(f"{PREFIX}*{archive.SUFFIX}"))


def _delete_oldest(newest: Path, keep: int) -> tuple[Path, ...]:
    """Delete the oldest backups; those that a wrong clock dated later neither count nor are deleted."""
    directory = newest.parent
    oldest = tuple(file for file in backups(directory) if file.name <= newest.name)[:-keep]
    for file in oldest:
        file.unlink()
    return oldest
