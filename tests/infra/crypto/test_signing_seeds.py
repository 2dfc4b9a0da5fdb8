from __future__ import annotations

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.infra.crypto import signing_seeds
from app.settings import Settings


def test_each_purpose_has_a_key_of_its_own_that_stays_the_same(settings: Settings) -> None:
    first, again, other = (signing_seeds.derived(settings, purpose) for purpose in ("a", "a", "b"))

    assert first == again
    assert first != other
    signature = signing_seeds.private_key(first).sign(b"text")
    Ed25519PublicKey.from_public_bytes(base64.b64decode(signing_seeds.public_text(first))).verify(
        signature, b"text"
    )
