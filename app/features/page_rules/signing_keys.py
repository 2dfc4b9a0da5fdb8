"""The Ed25519 key that signs the page rules, derived from SECRET_KEY."""

from __future__ import annotations

import base64

from app.infra.crypto import signing_seeds
from app.settings import Settings

_PURPOSE = "page rules signature"


def seed(settings: Settings) -> bytes:
    """Return the 32 bytes that the private key is made from."""
    return signing_seeds.derived(settings, _PURPOSE)


def sign(seed: bytes, text: str) -> str:
    """Return the signature of the text in UTF-8, in base64."""
    return base64.b64encode(signing_seeds.private_key(seed).sign(text.encode())).decode()


def public_text(settings: Settings) -> str:
    """Return the public key as clients pin it."""
    return signing_seeds.public_text(seed(settings))
