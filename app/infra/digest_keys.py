"""The keys of digests: stored values that identify people or requests are HMACs, so a copy reveals nothing.

The keys belong to a database: a digest in it is found again only with the key that it was made with. So
`Database` is opened with them, and every session carries them.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Self

from sqlalchemy.orm import Session

from app.settings import Settings

INFO = "digest_keys"
"""The key of the digest keys in `Session.info`."""


@dataclass(frozen=True, slots=True)
class DigestKeys:
    """The keys of a database's digests; the suppression list has its own, so SECRET_KEY can be replaced."""

    secret: bytes = field(repr=False)
    suppression: bytes = field(repr=False)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the keys of the settings."""
        return cls(settings.secret_key.encode(), settings.suppression_key.encode())

    def digest(self, purpose: str, message: str) -> bytes:
        """Return a 32-byte digest keyed with SECRET_KEY; equal messages of two purposes differ."""
        return hmac.digest(self.secret, f"{purpose}\0{message}".encode(), hashlib.sha256)

    def suppression_digest(self, kind: str, value: str) -> bytes:
        """Return the 32-byte digest of an identifier, keyed with SUPPRESSION_KEY."""
        return hmac.digest(self.suppression, f"{kind}\0{value}".encode(), hashlib.sha256)


def digest_keys(session: Session) -> DigestKeys:
    """Return the keys of the session's database."""
    keys: DigestKeys = session.info[INFO]
    return keys
