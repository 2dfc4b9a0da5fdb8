"""A client of one mail server, on one clock from the connection to the goodbye."""

from __future__ import annotations

import io
import smtplib
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from workers.mail.settings import MailSettings

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

MAX_REPLY_BYTES = 64 * 1024
CONNECT_SECONDS = 3.0
QUIT_SECONDS = 1.0
FAILURES = (smtplib.SMTPException, OSError, UnicodeError)
"""What smtplib raises over a broken, slow or foreign server."""


class SmtpClient(smtplib.SMTP):
    """smtplib, with one clock over the whole conversation, to an address that is known and allowed."""

    def __init__(self, host: str, address: str, settings: MailSettings, until: float) -> None:
        self.bytes_left = MAX_REPLY_BYTES
        self._until = until
        self._address = address
        source = (settings.source, 0) if settings.source else None
        super().__init__(
            host, settings.port, settings.helo, timeout=self.seconds_left(), source_address=source
        )

    def seconds_left(self) -> float:
        """Give what is left of the time.

        Raises:
            TimeoutError: nothing is.

        """
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def leave(self) -> None:
        """Take back what was begun and say goodbye, if the server lets us; then hang up."""
        self._until = min(self._until, time.monotonic() + QUIT_SECONDS)
        with suppress(*FAILURES):
            self.rset()
            self.quit()
        self.close()

    def _get_socket(self, _host: str, port: int, timeout: float) -> socket.socket:
        """Connect to the address instead of resolving the name once more."""
        return socket.create_connection(
            (self._address, port), min(timeout, CONNECT_SECONDS), self.source_address
        )

    def getreply(self) -> tuple[int, bytes]:
        """Read a reply, however slowly it drips, within the time left."""
        if self.file is None and self.sock is not None:
            self.file = io.BufferedReader(_DeadlineReader(self, self.sock))
        return super().getreply()

    def send(self, s: ReadableBuffer | str) -> None:
        """Send within the time left."""
        if self.sock is not None:
            self.sock.settimeout(self.seconds_left())
        super().send(s)


class _DeadlineReader(io.RawIOBase):
    """What a server says, read on the client's clock and up to a limit."""

    def __init__(self, client: SmtpClient, sock: socket.socket) -> None:
        self._client = client
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if self._client.bytes_left <= 0:
            raise OSError
        self._sock.settimeout(self._client.seconds_left())
        count = self._sock.recv_into(buffer)
        self._client.bytes_left -= count
        return count
