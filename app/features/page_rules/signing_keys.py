"""The Ed25519 key that signs the page rules, derived from SECRET_KEY."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.infra.crypto.digest_keys import DigestKeys
from app.settings import Settings

_PURPOSE = "page rules signature"


def seed(settings: Settings) -> bytes:
    """Return the 32 bytes that the private key is made from; every process of the deployment has the same."""
    return DigestKeys.from_settings(settings).digest(_PURPOSE, "")


def sign(seed: bytes, text: str) -> str:
    """Return the signature of the text in UTF-8, in base64."""
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(text.encode())
    return base64.b64encode(signature).decode()


def public_text(settings: Settings) -> str:
    """Return the public key as 44 characters of base64, which clients pin."""
    return _public_text(seed(settings))


@lru_cache(maxsize=4)  # every session contains it
def _public_text(seed: bytes) -> str:
    key = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    return base64.b64encode(key.public_bytes_raw()).decode()
