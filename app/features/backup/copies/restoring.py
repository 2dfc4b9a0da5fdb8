"""Restores a backup into the database of the settings, or into a scratch database to verify it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyrage import x25519
from sqlalchemy import URL

from app.engine.accounts import sessions
from app.engine.audit import rule_checks
from app.engine.audit.rule_checks import RuleResult
from app.engine.privacy import suppression_replay
from app.engine.privacy.suppression_replay import Applied
from app.features.backup.copies import archive, fingerprints, postgresql, sqlite
from app.features.backup.copies.archive import BackupError, Content, Manifest, NoSink
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock, table_versions
from app.infra.database.db import Database
from app.infra.database.engines import parsed_url
from app.settings import Settings
from cli.database import migrate

DATA_TABLES = ("workspaces", "contacts", "companies", "suppressions")
"""A database without a row in any of these is empty."""
Report = Callable[[str], None]
"""Prints a step that has been done."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A loaded backup: its manifest, what the journal changed, the sessions ended, and the audit's result."""

    manifest: Manifest
    journal: Applied
    sessions_ended: int
    audit: Sequence[RuleResult]

    @property
    def faults(self) -> int:
        """The number of violations that the audit found."""
        return sum(len(result.faults) for result in self.audit)


@contextmanager
def private_copy(file: Path) -> Iterator[Path]:
    """Copy the backup to a place that only this user can write; return the copy, deleted after the block.

    A backup is read twice, to check it and to load it. Anyone who can write to its directory could replace it
    in between.
    """
    with tempfile.TemporaryDirectory(prefix="backup-") as directory:
        copy = Path(directory) / file.name
        try:
            shutil.copyfile(file, copy)
        except OSError as error:
            raise BackupError(f"{file} cannot be copied to {directory}: {error.strerror}.") from None
        yield copy


def inspect(file: Path, identities: Sequence[x25519.Identity], settings: Settings) -> Content:
    """Read the whole backup; return its manifest, and whether it was written with the settings' key."""
    try:
        content = archive.read(file, identities, lambda _manifest: NoSink(), settings.suppression_key)
    except OSError as error:
        raise BackupError(f"{file} cannot be read: {error.strerror}.") from None
    revision = content.manifest.revision
    if table_versions.is_newer(revision):
        message = f"The backup is of revision {revision}, newer than this version. Install that version."
        raise BackupError(message)
    if table_versions.is_unreleased(revision):
        message = f"The backup is of revision {revision}, from before version 0.1.0, and cannot be restored."
        raise BackupError(message)
    return content


def require_authentic(content: Content) -> None:
    """Check that the backup was written by this service."""
    if not content.is_authentic:
        message = (
            "The backup was not written with the SUPPRESSION_KEY of the settings: one of them was replaced."
            " If you know that it is yours: --accept-unauthenticated."
        )
        raise BackupError(message)


def require_keys(manifest: Manifest, settings: Settings) -> None:
    """Check that the settings have the keys that the backup needs."""
    missing = fingerprints.missing(manifest.keys, fingerprints.fingerprints(settings))
    if missing:
        message = (
            f"The backup was made with other keys than those of the settings: {', '.join(missing)}. Set them"
            " to their values of that time, which are not in the backup."
        )
        raise BackupError(message)


def require_journal(settings: Settings) -> None:
    """Check that the suppression journal can be read, if there is one."""
    path = settings.suppression_journal
    if path and not os.access(path, os.R_OK):
        message = (
            f"The suppression journal {path} cannot be read, so people suppressed or erased since the"
            " backup would be found again. Copy it there, or restore with --without-journal."
        )
        raise BackupError(message)


def require_target(url: URL, manifest: Manifest, *, replace: bool) -> None:
    """Check that the database is of the backup's kind and empty, or may be replaced and is not in use."""
    if url.get_backend_name() != manifest.dialect:
        message = (
            f"The backup is of {manifest.server}, and DATABASE_URL names another kind of database. Restore it"
            " into its own kind; `flask database move` copies a SQLite database to PostgreSQL."
        )
        raise BackupError(message)
    if _has_data(url) and not replace:
        message = (
            "The database is not empty. Restore into an empty one, or replace its content with --replace."
        )
        raise BackupError(message)
    if manifest.dialect == "postgresql" and (clients := postgresql.count_connections(url)):
        message = f"{clients} clients are connected to the database. Stop the service, and try again."
        raise BackupError(message)


def load(url: URL, file: Path, identities: Sequence[x25519.Identity], settings: Settings) -> Manifest:
    """Load the dump into the database, whose content it replaces, and compare the rows with the manifest."""
    is_sqlite = url.get_backend_name() == "sqlite"
    if not is_sqlite:
        postgresql.clear(url)
    with (sqlite.loading if is_sqlite else postgresql.loading)(url) as sink:
        content = archive.read(file, identities, lambda _manifest: sink, settings.suppression_key)
    manifest = content.manifest
    counted = _counts(url)
    different = sorted(name for name, count in manifest.rows.items() if counted.get(name) != count)
    if different:
        raise BackupError(f"These tables have other rows than the backup: {', '.join(different)}.")
    return manifest


def bring_up_to_date(
    url: URL,
    settings: Settings,
    manifest: Manifest,
    report: Report,
    *,
    journal: str = "",
    keep_sessions: bool = True,
) -> Restored:
    """Migrate a loaded database to this version, apply the journal, end its sessions, and audit it."""
    database = Database(
        url.render_as_string(hide_password=False), seconds=None, keys=DigestKeys.from_settings(settings)
    )
    try:
        migrate(database)
        report(f"Migrated from revision {manifest.revision} to {table_versions.revisions()[0]}.")
        applied = _replay(database, Path(journal), report) if journal else Applied()
        ended = 0
        if not keep_sessions:
            with database.transaction() as session:
                ended = sessions.end_everywhere(session, now=database_clock.now())
            report(f"Ended {ended} sessions: people sign in again.")
        with database.reading() as session:
            rule_checks.use_repeatable_read(session)
            stuck_after = rule_checks.stuck_after(settings)
            audit = list(rule_checks.check(session, stuck_after=stuck_after, now=manifest.created_at))
    finally:
        database.close()
    return Restored(manifest, applied, ended, audit)


def _replay(database: Database, journal: Path, report: Report) -> Applied:
    """Suppress and erase again whom the journal names, and report the counts."""
    result = suppression_replay.replay(database, journal)
    report(
        f"Applied the suppression journal: {result.applied.added} values suppressed again,"
        f" {result.erased['contacts']} people erased again."
    )
    return result.applied


@contextmanager
def scratch(url: URL, manifest: Manifest, directory: Path) -> Iterator[URL]:
    """Create an empty database of the backup's kind for the time of the block, and return its URL."""
    if manifest.dialect == "sqlite":
        with sqlite.temporary_file(directory) as file:
            yield parsed_url(f"sqlite:///{file}")
        return
    if url.get_backend_name() == "sqlite":
        raise BackupError("The backup is of PostgreSQL. Name a server to verify it on: --on postgresql://…")
    with postgresql.scratch_database(url, f"contact_lookup_verify_{secrets.token_hex(4)}") as created:
        yield created


def _has_data(url: URL) -> bool:
    """Return whether the database has more than what the commands themselves record in it."""
    counts = _counts(url)
    return any(counts.get(table, 0) for table in DATA_TABLES)


def _counts(url: URL) -> dict[str, int]:
    return sqlite.count_rows(url) if url.get_backend_name() == "sqlite" else postgresql.count_rows(url)
