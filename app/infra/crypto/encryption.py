"""Encrypts what is stored, so that a copy of the database does not reveal it.

AES-256-GCM with a random nonce. An encrypted value is the id of its key in one byte, the nonce, and the
encrypted text with its tag. The context, such as the table, the column and the id of the row, is
authenticated, so that a value copied to another place cannot be read there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from cryptography.exceptions import InvalidTag

from app.infra.crypto.digest_keys import DigestKeys
from app.infra.crypto.key_ring import KeyRing

NONCE_BYTES = 12


class Undecryptable(ValueError):  # noqa: N818 -- named after what is wrong with the value
    """The value was changed, belongs to another context, or was encrypted under a key that is not set."""

    def __init__(self, what: str = "A stored value") -> None:
        """Name what cannot be decrypted, such as the column."""
        super().__init__(
            f"{what} cannot be decrypted: its key is not in ENCRYPTION_KEYS, SECRET_KEY was replaced, or the"
            " row was changed. See docs/encryption.md."
        )


def seal(ring: KeyRing, context: str, plain: bytes) -> bytes:
    """Return the value encrypted under the first key of the ring."""
    return seal_all(ring, [(context, plain)])[0]


def seal_all(ring: KeyRing, values: Iterable[tuple[str, bytes]]) -> list[bytes]:
    """Return the values, each after its context, encrypted as by `seal`.

    All nonces are read from the operating system at once, which takes a fraction of the time of reading each.
    """
    values = list(values)
    random = secrets.token_bytes(NONCE_BYTES * len(values))
    nonces = (random[start : start + NONCE_BYTES] for start in range(0, len(random), NONCE_BYTES))
    key_id, encrypt_value = bytes((ring.current_id,)), ring.current_cipher.encrypt
    return [
        key_id + nonce + encrypt_value(nonce, plain, context.encode())
        for nonce, (context, plain) in zip(nonces, values, strict=True)
    ]


def open_sealed(ring: KeyRing, context: str, sealed: bytes) -> bytes:
    """Return the value that `seal` encrypted.

    Raises:
        Undecryptable: it cannot be read with these keys and this context.

    """
    cipher = ring.cipher(sealed[0]) if sealed else None
    if cipher is None:
        raise Undecryptable
    try:
        return cipher.decrypt(sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :], context.encode())
    except (InvalidTag, ValueError):
        raise Undecryptable from None


def encrypt(keys: DigestKeys, purpose: str, context: str, secret: bytes) -> bytes:
    """Return the encrypted secret of a purpose."""
    return seal(keys.ring, f"{purpose}|{context}", secret)


def decrypt(keys: DigestKeys, purpose: str, context: str, encrypted: bytes) -> bytes:
    """Return the secret.

    Raises:
        Undecryptable: it cannot be read with these keys, purpose and context.

    """
    return open_sealed(keys.ring, f"{purpose}|{context}", encrypted)
