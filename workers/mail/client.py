"""An SMTP client with one deadline for the whole session."""

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
"""Exceptions that smtplib raises for a broken, slow or non-SMTP server."""


class SmtpClient(smtplib.SMTP):
    """smtplib's client with a session deadline, connecting to an address resolved and checked before."""

    def __init__(self, host: str, address: str, settings: MailSettings, deadline: float) -> None:
        self.bytes_remaining = MAX_REPLY_BYTES
        self._deadline = deadline
        self._address = address
        source = (settings.source, 0) if settings.source else None
        super().__init__(
            host, settings.port, settings.helo, timeout=self.seconds_remaining(), source_address=source
        )

    def seconds_remaining(self) -> float:
        """Return the seconds until the deadline; raise TimeoutError if it has passed."""
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        return remaining

    def quit_and_close(self) -> None:
        """Send RSET and QUIT within `QUIT_SECONDS`, then close the connection."""
        self._deadline = min(self._deadline, time.monotonic() + QUIT_SECONDS)
        with suppress(*FAILURES):
            self.rset()
            self.quit()
        self.close()

    def _get_socket(self, _host: str, port: int, timeout: float) -> socket.socket:
        """Connect to the checked address instead of resolving the name again."""
        return socket.create_connection(
            (self._address, port), min(timeout, CONNECT_SECONDS), self.source_address
        )

    def getreply(self) -> tuple[int, bytes]:
        """Read a reply before the deadline, even if it arrives byte by byte."""
        if self.file is None and self.sock is not None:
            self.file = io.BufferedReader(_DeadlineReader(self, self.sock))
        return super().getreply()

    def send(self, s: ReadableBuffer | str) -> None:
        """Send before the deadline."""
        if self.sock is not None:
            self.sock.settimeout(self.seconds_remaining())
        super().send(s)


class _DeadlineReader(io.RawIOBase):
    """A reader limited by the client's deadline and a number of bytes."""

    def __init__(self, client: SmtpClient, sock: socket.socket) -> None:
        self._client = client
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if self._client.bytes_remaining <= 0:
            raise OSError
        self._sock.settimeout(self._client.seconds_remaining())
        count = self._sock.recv_into(buffer)
        self._client.bytes_remaining -= count
        return count
