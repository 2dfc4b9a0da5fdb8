"""Ed25519 keys that sign what extensions download: made from a seed, of the settings or of SECRET_KEY."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.infra.crypto.digest_keys import DigestKeys
from app.settings import Settings


def derived(settings: Settings, purpose: str) -> bytes:
    """Return the 32 bytes of a key for this purpose only; every process of the deployment has the same."""
    return DigestKeys.from_settings(settings).digest(purpose, "")


def private_key(seed: bytes) -> Ed25519PrivateKey:
    """Return the key that signs."""
    return Ed25519PrivateKey.from_private_bytes(seed)


@lru_cache(maxsize=8)  # every session contains the keys
def public_text(seed: bytes) -> str:
    """Return the public key as 44 characters of base64, which clients pin."""
    return base64.b64encode(private_key(seed).public_key().public_bytes_raw()).decode()
