"""The keys that encrypt stored values, each with an id from 0 to 255, and the blind indexes of values.

Every encrypted value begins with the id of its key, so values under several keys can be read while they are
encrypted again under the newest one. A blind index is a keyed digest, by which equal values are found.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

DERIVED_ID = 0
"""The id of the key derived from SECRET_KEY."""
_INDEX_BYTES = 16
INDEX_LENGTH = 22
"""The characters of a blind index."""


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Keys by id; the first one encrypts, all of them decrypt."""

    keys: tuple[tuple[int, bytes], ...] = field(repr=False)

    @classmethod
    def of(cls, secret: bytes, keys: Iterable[tuple[int, bytes]] = ()) -> Self:
        """Return a ring of these keys and, last, the key derived from SECRET_KEY."""
        derived = hmac.digest(secret, b"encryption key", hashlib.sha256)
        return cls((*keys, (DERIVED_ID, derived)))

    @property
    def current_id(self) -> int:
        """Return the id of the key that encrypts."""
        return self.keys[0][0]

    @property
    def current_cipher(self) -> AESGCM:
        """Return the cipher of the key that encrypts."""
        return _cipher(self.keys[0][1])

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of all keys, the one that encrypts first."""
        return tuple(key_id for key_id, _ in self.keys)

    def cipher(self, key_id: int) -> AESGCM | None:
        """Return the cipher of a key, or None if the ring does not have it."""
        return next((_cipher(key) for known, key in self.keys if known == key_id), None)

    def index(self, field: str, value: str) -> str:
        """Return the blind index of a field's value, 22 characters of base64url."""
        return _index(self.keys[0][1], field, value)

    def indexes(self, field: str, value: str) -> tuple[str, ...]:
        """Return every index under which a value may be stored: one for each key."""
        return tuple(_index(key, field, value) for _, key in self.keys)


@lru_cache(maxsize=64)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(hmac.digest(key, b"encrypt", hashlib.sha256))


@lru_cache(maxsize=64)
def _index_key(key: bytes, field: str) -> bytes:
    return hmac.digest(key, f"index\0{field}".encode(), hashlib.sha256)


@lru_cache(maxsize=4096)  # an import looks a value up and stores it
def _index(key: bytes, field: str, value: str) -> str:
    digest = hmac.digest(_index_key(key, field), value.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest[:_INDEX_BYTES]).decode()[:INDEX_LENGTH]
