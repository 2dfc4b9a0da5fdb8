"""The archive of a backup: a file in the age format that holds a line of JSON, the manifest, and then a dump.

The last line, of 65 bytes, is the code that tells that the archive was written with the keys of this service.
The age format (https://age-encryption.org/v1) encrypts for public keys, so the machine that creates backups
cannot read them. Each block of 64 KiB is authenticated, and the last one is marked, so a changed or shortened
file is rejected. `age --decrypt -i KEY FILE | tail -n +2 | head -c -66` prints the dump without this program.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyrage
from pyrage import x25519

from app.features.backup.copies import authentication
from app.features.backup.copies.authentication import Authenticator
from app.infra.append_log import sync_directory

FORMAT = 1
"""The version of the archive; a later one is not read. Version 1 had no code at its end."""
SUFFIX = ".age"
MAX_MANIFEST_BYTES = 1_000_000


class BackupError(Exception):
    """A backup cannot be created or read; `flask backup` prints the message, which says what to do."""


class Readable(Protocol):
    """A stream of bytes, such as a file or the output of a process."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


class Sink(Protocol):
    """Takes the dump in pieces, such as a program that loads it."""

    def write(self, piece: bytes) -> None:
        """Write the next piece."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup contains: kind and revision of the database, rows by table, fingerprints of its keys."""

    created_at: datetime
    dialect: str
    server: str
    revision: str
    rows: dict[str, int]
    keys: dict[str, str]
    format: int = FORMAT

    def as_line(self) -> bytes:
        """Return the manifest as one line of JSON."""
        body = asdict(self) | {"created_at": self.created_at.isoformat()}
        return json.dumps(body).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Manifest:
        """Return the manifest of its line."""
        try:
            body: dict[str, Any] = json.loads(line)
            version = body["format"]
            if version <= FORMAT:
                return cls(**body | {"created_at": datetime.fromisoformat(body["created_at"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise BackupError("The file is encrypted, but is not a backup of this service.") from None
        raise BackupError(f"The backup has format {version}. Restore it with a later version of the service.")


@dataclass(frozen=True, slots=True)
class Content:
    """What was read: the manifest, and whether the archive was written with the secret."""

    manifest: Manifest
    is_authentic: bool


def write(file: Path, recipients: Sequence[str], manifest: Manifest, dump: Readable, secret: str) -> int:
    """Encrypt a manifest and a dump into a new file that only its owner can read; return its size in bytes.

    `secret` authenticates them: who does not know it cannot write an archive that `read` finds authentic.
    The file is complete and on the disk when this returns, and does not exist if anything fails.
    """
    partial = file.with_name(f"{file.name}.partial")
    output = create_private(partial)  # if it exists, another process writes it
    try:
        with output:
            keys = [x25519.Recipient.from_str(recipient) for recipient in recipients]
            _encrypt(_Joined(manifest.as_line(), dump, Authenticator(secret)), output, keys)
            output.flush()
            os.fsync(output.fileno())
        partial.rename(file)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
    sync_directory(file.parent)
    return file.stat().st_size


def read(
    file: Path, identities: Sequence[x25519.Identity], sink_for: Callable[[Manifest], Sink], secret: str
) -> Content:
    """Decrypt a backup: call `sink_for` with the manifest, and write the dump to the sink that it returns.

    The sink gets unchanged blocks only. Whether the file is complete, and was written with the secret, is
    known when this returns.
    """
    splitter = _Splitter(sink_for, Authenticator(secret))
    try:
        with file.open("rb") as encrypted:
            pyrage.decrypt_io(encrypted, splitter, identities)
    except (pyrage.DecryptError, OSError) as error:
        if splitter.fault is not None:
            raise splitter.fault from None
        if isinstance(error, pyrage.DecryptError):
            message = "The backup cannot be decrypted: this is not its key, or not a backup."
        elif error.errno is None:  # of the decryption
            message = "The backup is incomplete or was changed. Use another one."
        else:
            raise
        raise BackupError(message) from None
    return splitter.content()


def create_private(file: Path) -> BinaryIO:
    """Create a file that only its owner can read.

    Raises:
        FileExistsError: it exists.

    """
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


class NoSink:
    """A sink that discards the dump, to read the manifest and to authenticate the whole file."""

    def write(self, piece: bytes) -> None:
        """Discard the piece."""


class _Joined:
    """A stream of the manifest, the dump and the code; `fault` is the error that reading raised."""

    def __init__(self, line: bytes, dump: Readable, authenticator: Authenticator) -> None:
        self._line = io.BytesIO(line)
        self._dump = dump
        self._authenticator = authenticator
        self._end: io.BytesIO | None = None
        self.fault: BaseException | None = None

    def read(self, size: int = -1) -> bytes:
        try:
            return self._read(size)
        except BaseException as error:
            self.fault = error
            raise

    def _read(self, size: int) -> bytes:
        piece = b"" if self._end else self._line.read(size) or self._dump.read(size)
        if piece:
            self._authenticator.update(piece)
            return piece
        if self._end is None:
            self._end = io.BytesIO(self._authenticator.line())
        return self._end.read(size)


def _encrypt(joined: _Joined, output: BinaryIO, keys: Sequence[x25519.Recipient]) -> None:
    """Encrypt the stream; raise the error that reading it raised, which the library would replace."""
    try:
        pyrage.encrypt_io(joined, output, keys)
    except pyrage.EncryptError:
        if joined.fault is not None:
            raise joined.fault from None
        raise


class _Splitter:
    """Takes the decrypted stream: reads the manifest, passes the dump on, and keeps the code at the end.

    `fault` is the error that writing raised, which the library would replace.
    """

    def __init__(self, sink_for: Callable[[Manifest], Sink], authenticator: Authenticator) -> None:
        self._sink_for = sink_for
        self._authenticator = authenticator
        self._pending = b""
        self._manifest: Manifest | None = None
        self._sink: Sink = NoSink()
        self.fault: BaseException | None = None

    def content(self) -> Content:
        """Return the manifest, and whether the code at the end was made with the settings' key."""
        if self._manifest is None:
            raise BackupError("The file is encrypted, but is not a backup of this service.")
        return Content(self._manifest, self._authenticator.is_line(self._pending))

    def write(self, piece: bytes) -> int:
        try:
            self._write(piece)
        except BaseException as error:
            self.fault = error
            raise
        return len(piece)

    def _write(self, piece: bytes) -> None:
        self._pending += piece
        if self._manifest is None:
            self._read_manifest()
        if self._manifest is not None:
            dump = self._pending[: max(0, len(self._pending) - authentication.BYTES)]
            self._pending = self._pending[len(dump) :]
            self._authenticator.update(dump)
            self._sink.write(dump)

    def _read_manifest(self) -> None:
        line, end, rest = self._pending.partition(b"\n")
        if end or len(self._pending) > MAX_MANIFEST_BYTES:
            self._manifest = Manifest.from_line(line)
            self._sink = self._sink_for(self._manifest)
            self._authenticator.update(line + end)
            self._pending = rest

    def flush(self) -> None:
        """Do nothing: the sink is closed by its owner."""
