"""Encrypts secrets that the service has to read again, so that a copy of the database does not reveal them.

AES-256-GCM with a random nonce. The key is derived from SECRET_KEY for each purpose; the context, such as the
id of the row, is authenticated, so that a value copied to another row cannot be read there.
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.infra.digest_keys import DigestKeys

NONCE_BYTES = 12
_PURPOSE = "encryption"


class Undecryptable(ValueError):  # noqa: N818 -- named after what is wrong with the value
    """The value was changed, belongs to another context, or was encrypted under another SECRET_KEY."""


def encrypt(keys: DigestKeys, purpose: str, context: str, secret: bytes) -> bytes:
    """Return the nonce and the encrypted secret."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + _cipher(keys, purpose).encrypt(nonce, secret, context.encode())


def decrypt(keys: DigestKeys, purpose: str, context: str, encrypted: bytes) -> bytes:
    """Return the secret.

    Raises:
        Undecryptable: it cannot be read with this key, purpose and context.

    """
    try:
        return _cipher(keys, purpose).decrypt(
            encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:], context.encode()
        )
    except (InvalidTag, ValueError):
        raise Undecryptable from None


def _cipher(keys: DigestKeys, purpose: str) -> AESGCM:
    return AESGCM(keys.digest(_PURPOSE, purpose))
