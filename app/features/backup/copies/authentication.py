"""The code by which a backup is known to be one of this service: HMAC-SHA-256 over all of its plain text.

Anyone who knows the public key can encrypt a file, so encryption does not tell who wrote it. The key of the
code is derived from SUPPRESSION_KEY, which never changes and is not in a backup. The code is the last line of
the encrypted stream, so neither writing nor reading has to hold the stream.
"""

from __future__ import annotations

import hashlib
import hmac

_PURPOSE = b"contact-lookup backup"
BYTES = len(b"\n") + 2 * hashlib.sha256().digest_size + len(b"\n")
"""The size of the last line, with the line feeds before and after it."""


class Authenticator:
    """Computes the code of a stream of bytes."""

    def __init__(self, secret: str) -> None:
        """Derive the key from the secret."""
        key = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
        self._mac = hmac.new(key, digestmod=hashlib.sha256)

    def update(self, piece: bytes) -> None:
        """Add the next bytes."""
        self._mac.update(piece)

    def line(self) -> bytes:
        """Return the last line of a backup with these bytes."""
        return b"\n" + self._mac.hexdigest().encode() + b"\n"

    def is_line(self, line: bytes) -> bool:
        """Return whether this is the last line of these bytes."""
        return hmac.compare_digest(line, self.line())
