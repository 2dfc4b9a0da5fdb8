"""The Ed25519 key that signs company filters: of the settings, or else derived from SECRET_KEY."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.infra.crypto import signing_seeds
from app.settings import Settings

_PURPOSE = "company filter signature"


def company_filter_key(settings: Settings) -> Ed25519PrivateKey:
    """Return the private key; every process of the deployment has the same."""
    return signing_seeds.private_key(_seed(settings))


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key as clients pin it."""
    return signing_seeds.public_text(key.private_bytes_raw())


def company_filter_public_text(settings: Settings) -> str:
    """Return the public half of `company_filter_key` as text."""
    return signing_seeds.public_text(_seed(settings))


def _seed(settings: Settings) -> bytes:
    return settings.company_filter_key or signing_seeds.derived(settings, _PURPOSE)
