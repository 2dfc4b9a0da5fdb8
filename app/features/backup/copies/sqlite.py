"""Copies a SQLite database with its online backup API, and loads a copy into a database."""

from __future__ import annotations

import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from sqlalchemy import URL

from app.features.backup.copies.archive import BackupError, Sink
from app.features.backup.copies.snapshots import Snapshot, tables_of
from app.infra.database.table_versions import REVISION_TABLE

_LEVEL = 6
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_READ_BYTES = 65_536
_BUSY_SECONDS = 30.0


@contextmanager
def snapshot(url: URL) -> Iterator[Snapshot]:
    """Copy the database as it is now, while the service runs: in WAL mode a reader does not delay writers.

    The copy is a temporary file beside the database, compressed while it is read.
    """
    file = path_of(url)
    if not file.exists():
        raise BackupError(f"The SQLite file {file} does not exist. Check DATABASE_URL.")
    with temporary_file(file.parent) as copy:
        taken_at = datetime.now(UTC)
        try:
            rows, revision = _copy(file, copy)
        except sqlite3.Error as error:
            raise BackupError(f"The SQLite file {file} cannot be copied beside it: {error}.") from None
        with copy.open("rb") as opened:
            yield Snapshot(taken_at, f"SQLite {sqlite3.sqlite_version}", revision, rows, _Compressed(opened))


@contextmanager
def loading(url: URL) -> Iterator[Sink]:
    """Load the copy that the block writes; replaces the content of the database, in one transaction."""
    file = path_of(url)
    with temporary_file(file.parent) as copy:
        with copy.open("wb") as opened:
            sink = _Decompressing(opened)
            yield sink
            sink.finish()
        try:
            with closing(_connect(copy)) as source, closing(_connect(file)) as target:
                source.backup(target)
        except sqlite3.Error as error:
            message = f"The database cannot be written: {error}. Stop the service, and try again."
            raise BackupError(message) from None
    file.chmod(0o600)


def count_rows(url: URL) -> dict[str, int]:
    """Return the number of rows by table; empty if there is no file or no table."""
    file = path_of(url)
    if not file.exists():
        return {}
    with closing(_connect(file)) as connection:
        try:
            return _rows(connection)
        except BackupError:
            return {}
        except sqlite3.DatabaseError as error:
            message = (
                f"The SQLite file {file} cannot be read: {error}. Move it and its files with the endings -wal"
                " and -shm to another place, and try again."
            )
            raise BackupError(message) from None


def path_of(url: URL) -> Path:
    """Return the path of the file."""
    if not url.database or url.database == ":memory:":
        raise BackupError("The database is in memory. Name a file or PostgreSQL in DATABASE_URL.")
    return Path(url.database)


@contextmanager
def temporary_file(directory: Path) -> Iterator[Path]:
    """Yield a file name in a new directory that only its owner can read and that the block's end deletes."""
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=directory) as name:
        yield Path(name) / "copy.sqlite3"


def _copy(file: Path, copy: Path) -> tuple[dict[str, int], str]:
    """Copy the database; return its rows by table and its revision."""
    with closing(_connect(file)) as source, closing(_connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
        rows = _rows(target)
        query = f"SELECT version_num FROM {REVISION_TABLE}"  # noqa: S608 -- a constant
        (revision,) = target.execute(query).fetchone()
    return rows, revision


def _connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=_BUSY_SECONDS)


def _rows(connection: sqlite3.Connection) -> dict[str, int]:
    stored = {name for (name,) in connection.execute(_TABLES)}
    count = 'SELECT count(*) FROM "{}"'
    return {name: connection.execute(count.format(name)).fetchone()[0] for name in tables_of(stored)}


class _Compressed:
    """A file, read as a stream in the gzip format."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened
        self._compressor = zlib.compressobj(_LEVEL, wbits=zlib.MAX_WBITS | 16)
        self._ready = bytearray()
        self._at_end = False

    def read(self, size: int = -1) -> bytes:
        while not self._at_end and (size < 0 or len(self._ready) < size):
            piece = self._opened.read(_READ_BYTES)
            self._ready += self._compressor.compress(piece) if piece else self._compressor.flush()
            self._at_end = not piece
        end = size if size >= 0 else len(self._ready)
        piece = bytes(self._ready[:end])
        del self._ready[:end]
        return piece


class _Decompressing:
    """Writes a stream in the gzip format to a file, decompressed."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened
        self._decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def write(self, piece: bytes) -> None:
        """Write the piece, decompressed."""
        try:
            self._opened.write(self._decompressor.decompress(piece))
        except zlib.error:
            raise BackupError("The dump in the backup is not that of a SQLite database.") from None

    def finish(self) -> None:
        """Write what is left."""
        self._opened.write(self._decompressor.flush())
        if not self._decompressor.eof:
            raise BackupError("The dump in the backup is incomplete. Use another one.")
