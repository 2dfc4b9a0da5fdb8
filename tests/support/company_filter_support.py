"""Reads company filters in tests, as a client does."""

from __future__ import annotations

import base64
import struct
from datetime import timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from app.core.lookups import company_filters
from app.domain.fuse_filter import FuseFilter
from app.infra import clock
from app.infra.db import Database

SIGNATURE_BYTES = 64
SIGNING_SEED = base64.b64encode(bytes(range(32))).decode()
"""The setting COMPANY_FILTER_KEY of the services that browsers use."""
SIGNING_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def build_filter(database: Database, key: Ed25519PrivateKey) -> bool:
    """Build the stored filters; return whether they are new."""
    with database.transaction() as session:
        company_filters.claim(session, every=timedelta(0), now=clock.now())
    return company_filters.build(database, key)


def read_filter(file: bytes, public_key: str) -> FuseFilter:
    """Return the filter of a file; another signature raises InvalidSignature."""
    unsigned, signature = file[:-SIGNATURE_BYTES], file[-SIGNATURE_BYTES:]
    Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key)).verify(signature, unsigned)
    header = struct.Struct("<4sB3xQIQII")
    _magic, bits, _version, entries, seed, length, count = header.unpack_from(unsigned)
    return FuseFilter(bits, entries, seed, length, count, unsigned[header.size :])
