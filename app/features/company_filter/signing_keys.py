"""The Ed25519 key that signs company filters: of the settings, or else derived from SECRET_KEY."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.infra.crypto.digest_keys import DigestKeys
from app.settings import Settings

_PURPOSE = "company filter signature"


def company_filter_key(settings: Settings) -> Ed25519PrivateKey:
    """Return the private key; every process of the deployment has the same."""
    return Ed25519PrivateKey.from_private_bytes(_seed(settings))


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key as 44 characters of base64, which clients pin."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def company_filter_public_text(settings: Settings) -> str:
    """Return the public half of `company_filter_key` as text; computed once, because sessions contain it."""
    return _public_text(_seed(settings))


def _seed(settings: Settings) -> bytes:
    return settings.company_filter_key or DigestKeys.from_settings(settings).digest(_PURPOSE, "")


@lru_cache(maxsize=4)
def _public_text(seed: bytes) -> str:
    return public_text(Ed25519PrivateKey.from_private_bytes(seed))
