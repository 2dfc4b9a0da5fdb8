"""`flask backup`: create, verify and restore encrypted backups of the database."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup
from sqlalchemy import URL

from app.features.backup.copies import creating, key_files, restoring, stopping, streaming
from app.features.backup.copies.archive import BackupError, Manifest
from app.features.backup.copies.restoring import Restored
from app.features.backup.copies.wal import WalDirectory
from app.infra.database.engines import parsed_url
from app.web.services import services
from cli.groups.command_group import DatabaseGroup, as_json_option, show
from cli.suppression_journals import refuse_unapplied
from cli.tables import table

BASE_HOURS = "Hours after which a new base backup is made; recovery replays what was written since the last."
FILE = click.Path(path_type=Path, dir_okay=False)
identity_option = click.option(
    "--key", "key_file", type=FILE, required=True, help="The key file that `flask backup key` wrote."
)
unauthenticated_option = click.option(
    "--accept-unauthenticated",
    is_flag=True,
    help="Accept a file that the keys of the settings did not write; whoever wrote it can run SQL.",
)


class BackupGroup(DatabaseGroup):
    """A command group that reports a failed backup as a message, not as a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            with stopping.exit_on_sigterm():
                return super().invoke(ctx)
        except BackupError as error:
            raise click.ClickException(str(error)) from error


group: AppGroup = BackupGroup("backup", help="Create, verify and restore encrypted backups.")


@group.command()
@click.argument("file", type=FILE)
@click.option("--passphrase", "protected", is_flag=True, help="Protect the key file by a passphrase.")
@as_json_option
def key(file: Path, *, protected: bool, as_json: bool) -> None:
    """Write a new key to FILE, and print the setting with its public key.

    Keep FILE away from the machine that is backed up. Anyone who has it can read the backups; without it,
    no one can.
    """
    secret = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True) if protected else None
    public = key_files.create(file, secret)
    text = f"Wrote {file}. Keep it apart from the backups. In the settings:\nBACKUP_RECIPIENTS={public}"
    show({"file": str(file), "public_key": public}, text, as_json=as_json)


@group.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option("--keep", type=click.IntRange(min=1), help="Delete all but this many backups of the directory.")
@as_json_option
def create(directory: Path, *, keep: int | None, as_json: bool) -> None:
    """Write an encrypted backup of the database to DIRECTORY, while the service runs."""
    created = creating.create(services().settings, directory, keep)
    rows = sum(created.manifest.rows.values())
    text = f"Wrote {created.file}: {rows:,} rows, {created.bytes:,} bytes."
    if created.deleted:
        text += f"\nDeleted {len(created.deleted)} older: {', '.join(file.name for file in created.deleted)}."
    body = _body(created.manifest) | {
        "file": str(created.file),
        "bytes": created.bytes,
        "deleted": [str(file) for file in created.deleted],
    }
    show(body, text, as_json=as_json)


@group.command()
@click.argument("file", type=FILE)
@identity_option
@click.option(
    "--on", "server", help="URL of a PostgreSQL server to verify on; default: that of DATABASE_URL."
)
@unauthenticated_option
@as_json_option
def verify(
    file: Path, key_file: Path, *, server: str | None, accept_unauthenticated: bool, as_json: bool
) -> None:
    """Restore FILE into a database that is deleted afterwards, migrate it, count its rows and audit it.

    Exits with 1 if the backup was replaced or cannot be restored, if keys are missing, or if the audit finds
    a violation.
    """
    settings = services().settings
    identities = _identities(key_file)
    file = click.get_current_context().with_resource(restoring.private_copy(file))
    content = restoring.inspect(file, identities, settings)
    manifest = content.manifest
    restoring.require_keys(manifest, settings)
    if not accept_unauthenticated:
        restoring.require_authentic(content)
    url = parsed_url(server or settings.database_url)
    with restoring.scratch(url, manifest, Path(tempfile.gettempdir())) as target:
        restoring.load(target, file, identities, settings)
        restored = restoring.bring_up_to_date(target, settings, manifest, _reporter(as_json=as_json))
    _show(
        restored,
        f"The backup of {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC can be restored.",
        as_json=as_json,
    )


@group.command()
@click.argument("file", type=FILE)
@identity_option
@click.option(
    "--replace", "replacing", is_flag=True, help="Replace the content of a database that is not empty."
)
@click.option(
    "--keep-sessions", is_flag=True, help="Leave people signed in, also those who signed out since."
)
@click.option("--without-journal", is_flag=True, help="Restore although the suppression journal is lost.")
@click.option("--accept-other-keys", is_flag=True, help="Restore although keys of the settings are others.")
@unauthenticated_option
@as_json_option
def restore(
    file: Path,
    key_file: Path,
    *,
    replacing: bool,
    keep_sessions: bool,
    without_journal: bool,
    accept_other_keys: bool,
    accept_unauthenticated: bool,
    as_json: bool,
) -> None:
    """Restore FILE into the database of DATABASE_URL, which must be empty; stop the service before.

    The whole file is authenticated before anything is changed. Then the tables are migrated to this version,
    people who were suppressed after the backup are suppressed again, and the ledger is audited.
    """
    settings, identities = services().settings, _identities(key_file)
    services().database.close()
    file = click.get_current_context().with_resource(restoring.private_copy(file))
    content = restoring.inspect(file, identities, settings)
    manifest = content.manifest
    if not accept_other_keys:
        restoring.require_keys(manifest, settings)
    if not accept_unauthenticated:
        restoring.require_authentic(content)
    if not without_journal:
        restoring.require_journal(settings)
    url = parsed_url(settings.database_url)
    restoring.require_target(url, manifest, replace=replacing)
    report = _reporter(as_json=as_json)
    restoring.load(url, file, identities, settings)
    report(f"Loaded {sum(manifest.rows.values()):,} rows; their number by table is that of the backup.")
    restored = restoring.bring_up_to_date(
        url,
        settings,
        manifest,
        report,
        keep_sessions=keep_sessions,
        journal="" if without_journal else settings.suppression_journal,
    )
    _show(restored, f"Restored the backup of {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC.", as_json=as_json)
    refuse_unapplied(restored.journal)


@group.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option("--server", help="URL of the PostgreSQL server; default: DATABASE_URL.")
@click.option("--base-hours", type=click.FloatRange(min=0.1), default=24, show_default=True, help=BASE_HOURS)
@click.option(
    "--keep", type=click.IntRange(min=1), default=2, show_default=True, help="Base backups to keep."
)
def stream(directory: Path, *, server: str | None, base_hours: float, keep: int) -> None:
    """Receive the write-ahead log of PostgreSQL into DIRECTORY, on another machine, until stopped.

    If the server is destroyed, `flask backup recover` restores all but what was committed last.
    The database user needs the right REPLICATION.
    """
    url = _postgresql_url(server or services().settings.database_url)
    every = timedelta(hours=base_hours)
    streaming.stream(url, WalDirectory(directory), every=every, keep=keep, report=_reporter(as_json=False))


@group.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.argument("data", type=click.Path(path_type=Path, file_okay=False))
@click.option("--until", type=click.DateTime(), help="Replay until this time (UTC); default: to the end.")
@as_json_option
def recover(directory: Path, data: Path, *, until: datetime | None, as_json: bool) -> None:
    """Create the data directory DATA of a PostgreSQL server from a DIRECTORY of `flask backup stream`.

    Run it as the server's user, and start the server: it replays the log, and then accepts connections.
    """
    base = WalDirectory(directory).recover(data, None if until is None else until.replace(tzinfo=UTC))
    text = f"Unpacked {base.name}. Start the server on {data}; it replays the write-ahead log first."
    show({"base": str(base), "data": str(data)}, text, as_json=as_json)


def _postgresql_url(text: str) -> URL:
    url = parsed_url(text)
    if url.get_backend_name() == "sqlite":
        raise BackupError("SQLite has no write-ahead log to stream. docs/backup.md names a program that can.")
    return url


def _identities(file: Path) -> list[Any]:
    return key_files.load(file, lambda: str(click.prompt("Passphrase", hide_input=True, err=True)))


def _reporter(*, as_json: bool) -> restoring.Report:
    return lambda line: click.echo(line, err=as_json)


def _body(manifest: Manifest) -> dict[str, Any]:
    return {
        "created_at": manifest.created_at.isoformat(),
        "server": manifest.server,
        "revision": manifest.revision,
        "rows": manifest.rows,
    }


def _show(restored: Restored, sentence: str, *, as_json: bool) -> None:
    """Print the rows of a restored backup and how many violations the audit found; exit 1 if any."""
    filled = [(name, f"{count:,}") for name, count in restored.manifest.rows.items() if count]
    audit = f"The audit finds {restored.faults} faults in {len(restored.audit)} rules."
    text = "\n".join([table(("table", "rows"), filled), "", audit, sentence if not restored.faults else ""])
    body = _body(restored.manifest) | {"sessions_ended": restored.sessions_ended, "faults": restored.faults}
    show(body, text.rstrip(), as_json=as_json)
    if restored.faults:
        raise SystemExit(1)
