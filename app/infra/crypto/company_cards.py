"""Company cards that only the output for their website opens.

A card's id is the first 16 bytes of the output of the OPRF (`oprf.py`) for the hash of its website or page.
Its key is derived from the whole output with HKDF-SHA256 (RFC 5869), so that the id does not help to open it.
It is encrypted with AES-256-GCM. `app/domain/data/company_card_vectors.json` has test vectors.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

ID_BYTES = 16
NONCE_BYTES = 12
OVERHEAD_BYTES = NONCE_BYTES + 16
"""How much longer a sealed card is than the card: by its nonce and its tag."""
_KEY_BYTES = 32
_INFO = b"company card"


class CardKey(NamedTuple):
    """The id of a card, 16 bytes, and its key, 32 bytes."""

    id: bytes
    key: bytes


def card_key(output: bytes) -> CardKey:
    """Return the id and the key of the card of an output of 64 bytes."""
    return CardKey(output[:ID_BYTES], HKDF(SHA256(), _KEY_BYTES, None, _INFO).derive(output))


def seal(card_key: CardKey, public_key: bytes, card: bytes, nonce: bytes = b"") -> bytes:
    """Return the nonce, the encrypted card and its tag.

    The public key of the OPRF and the id are authenticated too. The nonce is random, but for test vectors.
    """
    nonce = nonce or secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(card_key.key).encrypt(nonce, card, public_key + card_key.id)
