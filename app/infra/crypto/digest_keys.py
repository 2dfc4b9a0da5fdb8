"""The keys of digests: stored values that identify people or requests are HMACs, so a copy reveals nothing.

The keys belong to a database: a digest in it is found again only with the key that it was made with. So
`Database` is opened with them, and every session of it has them.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from app.infra.crypto.key_ring import KeyRing
from app.settings import Settings

INSTALLATION_HEADER = "Installation"
"""The response header of /healthz by which `flask doctor` tells this installation from another one."""


@dataclass(frozen=True, slots=True)
class DigestKeys:
    """The keys of a database's digests, and those that encrypt its values.

    The suppression list has its own, so SECRET_KEY can be replaced. `encryption` is ENCRYPTION_KEYS.
    """

    secret: bytes = field(repr=False)
    suppression: bytes = field(repr=False)
    encryption: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the keys of the settings."""
        secret, suppression = settings.secret_key.encode(), settings.suppression_key.encode()
        return cls(secret, suppression, settings.encryption_keys)

    @property
    def ring(self) -> KeyRing:
        """Return the keys that encrypt and decrypt; without ENCRYPTION_KEYS it is derived from SECRET_KEY."""
        return _ring(self.secret, self.encryption)

    def digest(self, purpose: str, message: str) -> bytes:
        """Return a 32-byte digest keyed with SECRET_KEY; equal messages of two purposes differ."""
        return hmac.digest(self.secret, f"{purpose}\0{message}".encode(), hashlib.sha256)

    def suppression_digest(self, kind: str, value: str) -> bytes:
        """Return the 32-byte digest of an identifier, keyed with SUPPRESSION_KEY."""
        return hmac.digest(self.suppression, f"{kind}\0{value}".encode(), hashlib.sha256)

    def mention_digest(self, token: str) -> bytes:
        """Return the 8-byte digest of an identifier in the index of mentions, keyed with SUPPRESSION_KEY."""
        return hmac.digest(self.suppression, f"mention\0{token}".encode(), hashlib.sha256)[:8]

    def published_digest(self, kind: str, sha256: bytes) -> bytes:
        """Return the 32-byte digest of an identifier of which only the published SHA-256 is known."""
        return hmac.digest(self.suppression, kind.encode() + b"\0" + b64encode(sha256), hashlib.sha256)

    @property
    def installation(self) -> str:
        """Return sixteen hexadecimal digits that tell one SECRET_KEY from another, and nothing more."""
        return self.digest("installation", "")[:8].hex()

    @property
    def suppression_fingerprint(self) -> str:
        """Return eight hexadecimal digits that tell one SUPPRESSION_KEY from another, and nothing more."""
        return hmac.digest(self.suppression, b"fingerprint", hashlib.sha256)[:4].hex()


@lru_cache(maxsize=16)
def _ring(secret: bytes, keys: tuple[tuple[int, bytes], ...]) -> KeyRing:
    return KeyRing.of(secret, keys)
