"""Company cards that only the output for their website opens.

A card's id is the first 16 bytes of the output of the OPRF (`oprf.py`) for the hash of its website or page.
Its key is derived from the whole output with HKDF-SHA256 (RFC 5869), so that the id does not help to open it.
"""

from __future__ import annotations

from typing import NamedTuple

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

ID_BYTES = 16
_KEY_BYTES = 32
_INFO = b"company card"


class CardKey(NamedTuple):
    """The id of a card, 16 bytes, and its key, 32 bytes."""

    id: bytes
    key: bytes


def card_key(output: bytes) -> CardKey:
    """Return the id and the key of the card of an output of 64 bytes."""
    return CardKey(output[:ID_BYTES], HKDF(SHA256(), _KEY_BYTES, None, _INFO).derive(output))
