"""Encryption of stored values, and the keyed digests by which they are found."""

from __future__ import annotations

import hmac
import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12


class Cipher:
    """AES-256-GCM and HMAC-SHA-256, with two keys that are derived from one.

    `row` names the column and the row of a value, without which it cannot be decrypted.
    """

    def __init__(self, key: bytes) -> None:
        self._aead = AESGCM(hmac.digest(key, b"values", "sha256"))
        self._digest_key = hmac.digest(key, b"digests", "sha256")

    def seal(self, value: str, row: str) -> bytes:
        """Encrypt a value."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, value.encode(), row.encode())

    def unseal(self, sealed: bytes, row: str) -> str:
        """Decrypt a value; raise InvalidTag if it was changed or moved."""
        return self._aead.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], row.encode()).decode()

    def digest(self, identifier: str) -> bytes:
        """Return the blind index of an address or a profile."""
        return hmac.digest(self._digest_key, identifier.encode(), "sha256")
