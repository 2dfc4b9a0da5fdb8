"""Backups: created while the service runs, encrypted, verified and restored, on both databases."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pyrage
import pytest
from audit_log_support import seal
from click.testing import Result
from jobs_support import NOW, a_workspace
from local_servers import POSTGRES, empty_database
from pyrage import x25519
from registers_support import DAY, a_register
from sqlalchemy import select, text
from stored_support import a_company, a_contact, an_email

from app.domain.call_registers import Effect
from app.engine.accounts import accounts, sessions
from app.engine.accounts.sessions import LoginSession, SessionLifetime
from app.engine.call_registers import listings
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions.suppression_journal import JournalLine
from app.engine.contacts.suppressions.suppressions import Suppression
from app.features.backup.copies import archive, authentication, key_files, postgresql, restoring, sqlite
from app.features.backup.gauges import gauges
from app.infra import clock
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import table_versions
from app.infra.database.db import Base, Database
from app.settings import Settings
from cli import contacts as _all_tables  # noqa: F401 -- its imports register the tables
from cli.application import create_app
from tools.services import postgres

CANARY = "canary.of.the.backup@acme.com"
DAYS = ("20260101T000000Z", "20260102T000000Z", "20260103T000000Z")
LIFETIME = SessionLifetime(idle=timedelta(days=14), absolute=timedelta(days=90))
MANIFEST = archive.Manifest(datetime(2026, 1, 1, tzinfo=UTC), "sqlite", "SQLite", "0001", {}, {})
OTHER_KEY = JournalLine("add", "another", NOW, "", "requested", "email", [b"digest"])
Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put `pg_dump` and `pg_restore` of the server's version on PATH."""
    monkeypatch.setenv("PATH", f"{postgres.find_binaries()}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def target(tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables."""
    with empty_database(tmp_path, "restored") as url:
        yield url


@pytest.fixture
def source(settings: Settings, tmp_path: Path) -> Iterator[Database]:
    """A database with a workspace, two sessions and a contact."""
    with empty_database(tmp_path, "backed_up") as url:
        database = Database(url, keys=DigestKeys.from_settings(settings))
        Base.metadata.create_all(database.engine)
        with database.transaction() as session:
            session.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
            session.execute(
                text("INSERT INTO alembic_version VALUES (:head)"), {"head": table_versions.revisions()[0]}
            )
            account = accounts.create(
                session,
                a_workspace(session),
                email="ada@acme.com",
                name="Ada",
                password_hash="x",
                now=NOW,
            )
            for _ in range(2):
                sessions.start(session, account.id, lifetime=LIFETIME, network=b"", now=NOW)
            an_email(session, a_contact(session, a_company(session)), CANARY)
        database.close()  # the restore refuses a database with clients
        yield database
        database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The directory of the backups."""
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


@pytest.fixture
def scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key file."""
    file = tmp_path / "backup.key"
    file.write_text(f"{x25519.Identity.generate()}\n")
    return file


@pytest.fixture
def run(settings: Settings, key: Path) -> Run:
    """Return a function that runs `flask backup` with the database at a URL."""
    public = str(x25519.Identity.from_str(key.read_text().strip()).to_public())

    def run(url: str, *arguments: object, stdin: str | None = None, **changes: Any) -> Result:
        values = {"database_url": url, "backup_recipients": (public,)} | changes
        app = create_app(dataclasses.replace(settings, **values))
        with closing(app.extensions["services"].database):
            return app.test_cli_runner().invoke(args=["backup", *map(str, arguments)], input=stdin)

    return run


@pytest.fixture
def backup(run: Run, source: Database, folder: Path) -> Path:
    """A backup of the source."""
    result = run(url_of(source), "create", folder, "--json")
    assert result.exit_code == 0, result.output
    return Path(json.loads(result.stdout)["file"])


def url_of(database: Database) -> str:
    return database.engine.url.render_as_string(hide_password=False)


def decrypted(file: Path, key: Path) -> bytes:
    return bytes(pyrage.decrypt(file.read_bytes(), [x25519.Identity.from_str(key.read_text().strip())]))


def refusal(result: Result) -> str:
    """Return the error of a failed command, which is one line without a traceback."""
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1, result.output
    [line] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    return line.removeprefix("Error: ")


def test_a_backup_is_encrypted_and_only_its_owner_can_read_it(backup: Path, folder: Path) -> None:
    content = backup.read_bytes()

    assert content.startswith(b"age-encryption.org/v1\n-> X25519 ")
    assert CANARY.encode() not in content
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert list(folder.iterdir()) == [backup]


@pytest.mark.usefixtures("backup")
def test_a_created_backup_is_known_to_the_metrics(source: Database) -> None:
    seal(source)

    with source.reading() as session:
        [age] = gauges(session, clock.now())
        assert len(age.samples) == 1


def test_the_manifest_names_the_rows_and_no_key(backup: Path, key: Path, settings: Settings) -> None:
    line, _, dump = decrypted(backup, key).partition(b"\n")

    manifest = json.loads(line)
    assert (manifest["rows"]["contacts"], manifest["rows"]["sessions"], manifest["rows"]["jobs"]) == (1, 2, 0)
    assert set(manifest["keys"]) >= {"SECRET_KEY", "SUPPRESSION_KEY"}
    assert manifest["revision"] == table_versions.revisions()[0]
    for secret in (settings.secret_key, settings.suppression_key):
        assert secret.encode() not in line + dump


def test_a_restored_database_has_the_rows_and_no_session(
    run: Run, backup: Path, key: Path, target: str
) -> None:
    result = run(target, "restore", backup, "--key", key)

    assert result.exit_code == 0, result.output
    assert "Ended 2 sessions" in result.output
    assert "The audit finds 0 faults in " in result.output
    restored = Database(target)
    with restored.reading() as session:
        assert session.scalars(select(Contact.full_name)).all() == ["Ada Lovelace"]
        ended = session.scalars(select(LoginSession.revoked_at)).all()
    restored.close()
    assert len(ended) == 2
    assert None not in ended


def test_do_not_call_registers_come_back_with_their_day_and_digests(
    run: Run, source: Database, folder: Path, key: Path, target: str
) -> None:
    listed, free = "+447860338653", "+447860338654"
    with source.transaction() as session:
        a_register(session, listed, effect=Effect.HIDE)
    source.close()
    file = json.loads(run(url_of(source), "create", folder, "--json").stdout)["file"]

    result = run(target, "restore", file, "--key", key)

    assert result.exit_code == 0, result.output
    restored = Database(target, keys=source.keys)
    with restored.reading() as session:
        found = listings.find(session, "wks_1", [listed, free])
    restored.close()
    assert {number: [one.is_listed for one in of_number] for number, of_number in found.items()} == {
        listed: [True],
        free: [False],
    }
    [register] = found[listed]
    assert (register.name, register.date, register.effect) == ("TPS", DAY, Effect.HIDE)


def test_a_backup_older_than_an_erasure_brings_nobody_back(
    run: Run, backup: Path, key: Path, source: Database, settings: Settings
) -> None:
    journal = str(key.with_name("journal"))
    app = create_app(dataclasses.replace(settings, database_url=url_of(source), suppression_journal=journal))
    with closing(app.extensions["services"].database):
        erased = app.test_cli_runner().invoke(args=["people", "erase", "--email", CANARY, "--yes"])
    assert erased.exit_code == 0, erased.output

    result = run(url_of(source), "restore", backup, "--key", key, "--replace", suppression_journal=journal)

    assert result.exit_code == 0, result.output
    assert " 1 people erased again." in result.output
    with source.reading() as session:
        assert session.scalars(select(Contact.id)).all() == []
        assert session.scalars(select(Email.id)).all() == []
        assert session.scalars(select(Suppression.kind)).all() != []


@pytest.mark.parametrize(
    "case",
    [
        ("half of a li", "These lines cannot be read and were left out: journal:1."),
        (OTHER_KEY.to_json(), "1 digests were made with another SUPPRESSION_KEY and were left out."),
    ],
)
def test_a_part_of_the_journal_that_cannot_be_applied_fails_the_restore(
    run: Run, backup: Path, key: Path, target: str, case: tuple[str, str]
) -> None:
    line, sentence = case
    journal = key.with_name("journal")
    journal.write_text(f"{line}\n")

    result = run(target, "restore", backup, "--key", key, suppression_journal=str(journal))

    assert refusal(result).startswith(sentence)
    assert "Restored the backup of " in result.stdout


def test_a_restore_without_the_journal_is_refused_before_anything_changes(
    run: Run, backup: Path, key: Path, target: str, tmp_path: Path
) -> None:
    lost = {"suppression_journal": str(tmp_path / "lost")}

    refused = run(target, "restore", backup, "--key", key, **lost)
    accepted = run(target, "restore", backup, "--key", key, "--without-journal", **lost)

    assert refusal(refused).startswith(f"The suppression journal {tmp_path / 'lost'} cannot be read")
    assert accepted.exit_code == 0, accepted.output


def test_sessions_can_be_kept(run: Run, backup: Path, key: Path, target: str) -> None:
    result = run(target, "restore", backup, "--key", key, "--keep-sessions", "--json")

    assert json.loads(result.stdout)["sessions_ended"] == 0
    restored = Database(target)
    with restored.reading() as session:
        assert session.scalars(select(LoginSession.revoked_at)).all() == [None, None]
    restored.close()


def test_a_database_with_rows_is_replaced_only_on_request(
    run: Run, backup: Path, key: Path, source: Database
) -> None:
    with source.transaction() as session:
        a_contact(session, full_name="Later Than Backup")
    source.close()

    refused = run(url_of(source), "restore", backup, "--key", key)
    replaced = run(url_of(source), "restore", backup, "--key", key, "--replace")

    assert refusal(refused) == (
        "The database is not empty. Restore into an empty one, or replace its content with --replace."
    )
    assert replaced.exit_code == 0, replaced.output
    with source.reading() as session:
        assert session.scalars(select(Contact.full_name)).all() == ["Ada Lovelace"]


def test_verification_restores_and_audits_and_leaves_nothing_behind(
    run: Run, backup: Path, key: Path, source: Database, scratch_folder: Path
) -> None:
    result = run(url_of(source), "verify", backup, "--key", key, "--json")

    body = json.loads(result.stdout)
    assert (body["faults"], body["rows"]["contacts"]) == (0, 1)
    assert list(scratch_folder.iterdir()) == []
    if POSTGRES:
        with source.reading() as session:
            names = session.scalars(text("SELECT datname FROM pg_database")).all()
        assert not [name for name in names if "verify" in name]


def test_verification_reports_a_ledger_that_is_wrong(
    run: Run, source: Database, folder: Path, key: Path
) -> None:
    with source.transaction() as session:
        session.execute(text("UPDATE workspaces SET spent = spent + 1"))
    run(url_of(source), "create", folder)
    [file] = folder.iterdir()

    result = run(url_of(source), "verify", file, "--key", key)

    assert result.exit_code == 1
    assert "The audit finds 1 faults in " in result.output


def test_a_shortened_or_changed_backup_is_refused_before_anything_changes(
    run: Run, backup: Path, key: Path, source: Database
) -> None:
    content = backup.read_bytes()
    middle = len(content) // 2
    for damaged in (content[:-1], content[:middle], content[:middle] + b"x" + content[middle + 1 :]):
        backup.write_bytes(damaged)

        result = run(url_of(source), "restore", backup, "--key", key, "--replace")

        assert refusal(result) == "The backup is incomplete or was changed. Use another one."
    with source.reading() as session:
        assert session.scalars(select(Contact.full_name)).all() == ["Ada Lovelace"]


def test_a_missing_key_is_named_before_anything_changes(
    run: Run, backup: Path, key: Path, target: str
) -> None:
    other = {"suppression_key": "another-suppression-key-of-more-than-32-chars"}

    refused = run(target, "restore", backup, "--key", key, **other)
    verified = run(target, "verify", backup, "--key", key, **other)
    both = ("--accept-other-keys", "--accept-unauthenticated")
    accepted = run(target, "restore", backup, "--key", key, *both, **other)

    for result in (refused, verified):
        assert refusal(result).startswith(
            "The backup was made with other keys than those of the settings: SUPPRESSION_KEY. Set them"
        )
    assert accepted.exit_code == 0, accepted.output


@pytest.mark.parametrize("copies_code", [True, False])
def test_a_backup_that_somebody_else_encrypted_for_the_public_key_is_refused(
    run: Run, backup: Path, key: Path, source: Database, target: str, *, copies_code: bool
) -> None:
    """They know the public key and the whole content, but not the settings."""
    line, _, rest = decrypted(backup, key).partition(b"\n")
    dump, code = rest[: -authentication.BYTES], rest[-authentication.BYTES :]
    public = x25519.Identity.from_str(key.read_text().strip()).to_public()
    forged = json.dumps(json.loads(line) | {"server": "theirs"}).encode()
    backup.write_bytes(
        pyrage.encrypt(forged + b"\n" + dump + (code if copies_code else bytes(len(code))), [public])
    )

    verified = run(url_of(source), "verify", backup, "--key", key)
    restored = run(target, "restore", backup, "--key", key)
    accepted = run(target, "restore", backup, "--key", key, "--accept-unauthenticated")

    for result in (verified, restored):
        assert refusal(result).startswith("The backup was not written with the SUPPRESSION_KEY of the")
    assert accepted.exit_code == 0, accepted.output


def test_a_backup_that_is_replaced_after_its_check_is_not_loaded(
    run: Run, backup: Path, key: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect = restoring.inspect

    def inspect_then_replace(*arguments: Any) -> archive.Content:
        content = inspect(*arguments)
        backup.write_bytes(b"another file")
        return content

    monkeypatch.setattr(restoring, "inspect", inspect_then_replace)

    result = run(target, "restore", backup, "--key", key)

    assert (result.exit_code, "Loaded" in result.output) == (0, True)


def test_another_key_cannot_read_the_backup(run: Run, backup: Path, target: str, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    other.write_text(f"{x25519.Identity.generate()}\n")

    result = run(target, "restore", backup, "--key", other)

    assert refusal(result) == "The backup cannot be decrypted: this is not its key, or not a backup."


@pytest.mark.release
def test_a_passphrase_protects_a_new_key(run: Run, source: Database, folder: Path, tmp_path: Path) -> None:
    file, url = tmp_path / "protected.key", url_of(source)
    made = run(url, "key", file, "--passphrase", "--json", stdin="correct horse\ncorrect horse\n")
    public = json.loads(made.stdout.splitlines()[-1])["public_key"]
    run(url, "create", folder, backup_recipients=(public,))
    [backup] = folder.iterdir()

    refused = run(url, "verify", backup, "--key", file, stdin="wrong\n")
    verified = run(url, "verify", backup, "--key", file, stdin="correct horse\n")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"AGE-SECRET-KEY" not in file.read_bytes()
    assert refusal(refused) == f"The passphrase is not that of the key file {file}."
    assert verified.exit_code == 0, verified.output


def test_a_key_file_is_never_overwritten(run: Run, source: Database, key: Path) -> None:
    before = key.read_text()

    result = run(url_of(source), "key", key)

    assert refusal(result) == (
        f"{key} exists. Name another file: earlier backups can be read only with their key."
    )
    assert key.read_text() == before


def test_the_newest_backups_are_kept(run: Run, source: Database, folder: Path) -> None:
    for day in DAYS:
        (folder / f"contact-lookup-{day}.age").touch()
    (folder / "notes.txt").touch()

    result = run(url_of(source), "create", folder, "--keep", "2", "--json")

    body = json.loads(result.stdout)
    assert [Path(file).name for file in body["deleted"]] == [
        "contact-lookup-20260101T000000Z.age",
        "contact-lookup-20260102T000000Z.age",
    ]
    assert sorted(file.name for file in folder.iterdir()) == [
        "contact-lookup-20260103T000000Z.age",
        Path(body["file"]).name,
        "notes.txt",
    ]


def test_backups_of_a_clock_that_was_ahead_do_not_make_the_new_one_the_oldest(
    run: Run, source: Database, folder: Path
) -> None:
    for day in DAYS:
        (folder / f"contact-lookup-{day}.age").touch()
        (folder / f"contact-lookup-{day.replace('2026', '2226')}.age").touch()

    result = run(url_of(source), "create", folder, "--keep", "2", "--json")

    body = json.loads(result.stdout)
    assert Path(body["file"]).exists()
    assert [Path(file).name for file in body["deleted"]] == [f"contact-lookup-{day}.age" for day in DAYS[:2]]


def test_a_backup_of_the_same_second_does_not_disturb_the_one_that_is_being_written(tmp_path: Path) -> None:
    writing = tmp_path / f"one{archive.SUFFIX}.partial"
    writing.touch()

    with pytest.raises(FileExistsError):
        archive.write(tmp_path / f"one{archive.SUFFIX}", (), MANIFEST, io.BytesIO(), "secret")

    assert writing.exists()


def test_sigterm_ends_a_backup_and_leaves_nothing_behind(
    run: Run, source: Database, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication.Authenticator, "update", _terminated)
    before = {file.name for file in tmp_path.iterdir() if file.is_dir()}

    result = run(url_of(source), "create", folder)

    assert result.exit_code == 128 + signal.SIGTERM
    assert list(folder.iterdir()) == []
    assert {file.name for file in tmp_path.iterdir() if file.is_dir()} == before


def test_sigterm_during_a_restore_does_not_blame_the_backup(
    run: Run, backup: Path, key: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication.Authenticator, "update", _terminated)

    result = run(target, "restore", backup, "--key", key)

    assert result.exit_code == 128 + signal.SIGTERM
    assert result.output == ""


def _terminated(*_arguments: object) -> None:
    signal.raise_signal(signal.SIGTERM)


def test_a_key_file_that_cannot_be_written_is_not_left_behind(
    run: Run, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(key_files.os, "fsync", _full_disk)
        failed = run(target, "key", tmp_path / "new.key")

    repeated = run(target, "key", tmp_path / "new.key")

    assert refusal(failed) == f"{tmp_path / 'new.key'} cannot be written: No space left on device."
    assert repeated.exit_code == 0, repeated.output


def test_a_full_disk_during_the_load_is_reported(
    run: Run, backup: Path, key: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite._Decompressing, "write", _full_disk)  # noqa: SLF001 -- what meets the full disk
    monkeypatch.setattr(postgresql._Input, "write", _full_disk)  # noqa: SLF001 -- likewise

    result = run(target, "restore", backup, "--key", key)

    assert refusal(result) == "A file cannot be used: No space left on device."


@pytest.mark.skipif(bool(POSTGRES), reason="PostgreSQL has no database file")
def test_a_damaged_sqlite_file_is_neither_backed_up_nor_written_to(
    run: Run, backup: Path, key: Path, folder: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"not a database" * 500)
    url = f"sqlite:///{damaged}"

    created = run(url, "create", folder)
    replaced = run(url, "restore", backup, "--key", key, "--replace")
    damaged.unlink()
    restored = run(url, "restore", backup, "--key", key)

    assert refusal(created).startswith(f"The SQLite file {damaged} cannot be copied beside it: file is not a")
    assert refusal(replaced).startswith(f"The SQLite file {damaged} cannot be read: file is not a database.")
    assert restored.exit_code == 0, restored.output


def test_without_a_key_or_a_directory_nothing_is_written(run: Run, source: Database, folder: Path) -> None:
    without_key = run(url_of(source), "create", folder, backup_recipients=())
    without_directory = run(url_of(source), "create", folder / "missing")

    assert refusal(without_key).startswith("BACKUP_RECIPIENTS is not set. Create a key on another machine")
    assert refusal(without_directory).startswith(f"There is no directory {folder / 'missing'}.")
    assert list(folder.iterdir()) == []


def test_a_dump_that_fails_leaves_no_file(
    run: Run, source: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive.pyrage, "encrypt_io", _full_disk)

    result = run(url_of(source), "create", folder)

    assert refusal(result) == f"The backup cannot be written to {folder}: No space left on device."
    assert list(folder.iterdir()) == []


def _full_disk(*_arguments: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("revision", "reason"),
    [
        ("9999", "newer than this version. Install that version."),
        ("0056", "from before version 0.1.0, and cannot be restored."),
    ],
)
def test_a_backup_of_another_version_is_refused(
    run: Run,
    source: Database,
    folder: Path,
    key: Path,
    target: str,
    *,
    revision: str,
    reason: str,
) -> None:
    with source.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    run(url_of(source), "create", folder)
    [file] = folder.iterdir()

    result = run(target, "restore", file, "--key", key)

    assert refusal(result) == f"The backup is of revision {revision}, {reason}"


@pytest.mark.skipif(not POSTGRES, reason="SQLite cannot tell who uses the file")
def test_a_database_in_use_is_not_replaced(run: Run, backup: Path, key: Path, source: Database) -> None:
    with source.engine.connect():
        result = run(url_of(source), "restore", backup, "--key", key, "--replace")

    assert refusal(result) == "1 clients are connected to the database. Stop the service, and try again."


@pytest.mark.skipif(not POSTGRES, reason="SQLite has no connections of others")
def test_a_connection_that_is_about_to_end_is_awaited(run: Run, backup: Path, key: Path, target: str) -> None:
    with psycopg.connect(target.replace("+psycopg", "")) as connection:
        ending = threading.Timer(0.3, connection.close)
        ending.start()
        result = run(target, "restore", backup, "--key", key, "--without-journal")
        ending.join()

    assert "Restored the backup of " in result.stdout


@pytest.mark.skipif(not POSTGRES, reason="only PostgreSQL's dump is made by a program")
def test_the_reason_of_a_failed_program_is_shown(
    run: Run, source: Database, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pg_dump"
    program.write_text("#!/bin/sh\necho half of a dump\necho 'pg_dump: error: it broke' >&2\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    result = run(url_of(source), "create", folder)

    assert refusal(result) == "pg_dump failed: pg_dump: error: it broke"
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(not POSTGRES, reason="SQLite needs no program")
def test_a_missing_program_is_named_with_its_package(
    run: Run, source: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))

    assert refusal(run(url_of(source), "create", folder)).startswith("pg_dump is not installed. Install")


@pytest.mark.skipif(bool(POSTGRES), reason="writes to SQLite")
def test_a_backup_of_sqlite_has_what_was_committed_while_writers_are_at_work(
    run: Run, source: Database, folder: Path, key: Path, target: str
) -> None:
    with source.transaction() as session:
        a_contact(session, full_name="Not Committed")
        session.flush()

        created = run(url_of(source), "create", folder)

    assert created.exit_code == 0, created.output
    [file] = folder.iterdir()
    run(target, "restore", file, "--key", key)
    restored = Database(target)
    with restored.reading() as session:
        assert session.scalars(select(Contact.full_name)).all() == ["Ada Lovelace"]
    restored.close()


def test_the_age_program_decrypts_a_backup(backup: Path, key: Path) -> None:
    """The format is a public one: no code of this service is needed to read a backup."""
    assert decrypted(backup, key).partition(b"\n")[2][:5] in {b"PGDMP", b"\x1f\x8b\x08\x00\x00"}


def test_the_backup_of_a_database_without_tables_is_refused(run: Run, target: str, folder: Path) -> None:
    if not POSTGRES:
        Path(target.removeprefix("sqlite:///")).touch()

    result = run(target, "create", folder)

    assert refusal(result) == "The database has no tables. Run: flask database upgrade"
