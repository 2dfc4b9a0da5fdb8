"""Reads company filters and company cards in tests, as a client does."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.domain.fuse_filter import FuseFilter
from app.engine.lookups import company_filters
from app.infra import clock
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database

SIGNATURE_BYTES = 64
OPRF_KEY_BYTES = 32
SIGNING_SEED = base64.b64encode(bytes(range(32))).decode()
"""The setting COMPANY_FILTER_KEY of the services that browsers use."""
SIGNING_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def build_filter(database: Database, key: Ed25519PrivateKey, oprf_key: OprfKey | None = None) -> bool:
    """Build the stored filters; return whether they are new."""
    with database.transaction() as session:
        company_filters.claim(session, every=timedelta(0), now=clock.now())
    return company_filters.build(database, key, oprf_key)


def read_filter(file: bytes, public_key: str, *, keyed: bool = False) -> FuseFilter:
    """Return the filter of a file; another signature raises InvalidSignature."""
    unsigned, signature = file[:-SIGNATURE_BYTES], file[-SIGNATURE_BYTES:]
    Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key)).verify(signature, unsigned)
    header = struct.Struct("<4sB3xQIQII")
    magic, bits, _version, entries, seed, length, count = header.unpack_from(unsigned)
    assert magic == (b"CLF2" if keyed else b"CLF1")
    start = header.size + (OPRF_KEY_BYTES if keyed else 0)
    return FuseFilter(bits, entries, seed, length, count, unsigned[start:])


def open_card(response: Mapping[str, Any], output: bytes) -> Any:
    """Return the company that an output opens in the response to its prefix; None if it has no card there.

    A card of another output raises InvalidTag.
    """
    card_id = output[:16]
    ids = [bytes.fromhex(response["prefix"] + match["suffix"]) for match in response["matches"]]
    if card_id not in ids:
        return None
    sealed = base64.b64decode(response["matches"][ids.index(card_id)]["sealed"])
    key = HKDF(SHA256(), 32, None, b"company card").derive(output)
    context = bytes.fromhex(response["key"]) + card_id
    return json.loads(AESGCM(key).decrypt(sealed[:12], sealed[12:], context))
