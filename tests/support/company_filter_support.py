"""Builds company filters in tests, and reads them as a client does."""

from __future__ import annotations

import base64
import struct
from datetime import timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from app.features.company_filter import filters as company_filters
from app.features.company_filter.fuse_filter import FuseFilter
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
