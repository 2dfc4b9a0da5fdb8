"""The spool: a folder for long request bodies, which take no memory while they arrive."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Protocol

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from app.domain.errors import Unavailable
from app.domain.messages import Message
from app.infra import native_threads
from app.server.byte_shares import ByteShares

PIECE_BYTES = 64 * 1024
KEY_BYTES = 32
COUNTER_BYTES = 16
MAX_WRITES = 2
"""Writes of a process at once: a disk may take long, and other work uses these threads, too."""
NOT_STORED = Message(
    "The service cannot store the body at the moment. Nothing was charged; send it again later."
)

_disk_slots = threading.BoundedSemaphore(MAX_WRITES)


class Source(Protocol):
    """What a body is read from."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most this many; none at the end."""


class Spool:
    """Bodies in a folder, at most `max_bytes` of them at a time, which their senders share (`ByteShares`)."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._shares = ByteShares(max_bytes)

    @property
    def free(self) -> int:
        """The bytes that no body takes."""
        return self._shares.free

    @contextmanager
    def receive(self, source: Source, length: int, holder: str) -> Iterator[SpooledBody]:
        """Read a body up to this length or its end; yield it for the block, after which it is deleted."""
        with self._shares.hold(holder, length), self._new_file() as file:
            body = SpooledBody(file)
            while piece := source.read(min(PIECE_BYTES, length - body.length)):
                body.write(piece)
            body.rewind()
            yield body

    def _new_file(self) -> IO[bytes]:
        """Return a file without a name: the system deletes it when the process ends, however it ends."""
        with _storing():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return TemporaryFile(dir=self._folder)


class SpooledBody:
    """A body on disk, first written and then read.

    It is encrypted under a key that only this object has, because the disk keeps the bytes of deleted files.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        key, counter = secrets.token_bytes(KEY_BYTES), secrets.token_bytes(COUNTER_BYTES)
        self._cipher = Cipher(AES256(key), CTR(counter))
        self._context = self._cipher.encryptor()
        self.length = 0

    def write(self, piece: bytes) -> None:
        """Append these bytes."""
        with _storing(), _disk_slots:
            native_threads.call(self._file.write, self._context.update(piece))
        self.length += len(piece)

    def rewind(self) -> None:
        """Begin to read."""
        with _storing():
            self._file.seek(0)
        self._context = self._cipher.decryptor()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, by default all; other requests can run between two calls."""
        time.sleep(0)
        return self._context.update(self._file.read(size))


@contextmanager
def _storing() -> Iterator[None]:
    """Raise Unavailable for a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise Unavailable(NOT_STORED) from error
