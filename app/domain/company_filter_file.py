"""The file in which clients get a company filter: a header, the fingerprints, and a signature.

Its numbers are little-endian; docs/website-privacy.md has a table of its fields. The key of a website or of a
company page is the first eight bytes of its SHA-256, as a big-endian number.
"""

from __future__ import annotations

import struct

from app.domain.fuse_filter import FuseFilter

MAGIC = b"CLF1"
KEY_BYTES = 8
_HEADER = struct.Struct("<4sB3xQIQII")


def key_of(digest: bytes) -> int:
    """Return the key of a 32-byte hash."""
    return int.from_bytes(digest[:KEY_BYTES], "big")


def encode(built: FuseFilter, version: int) -> bytes:
    """Return the file without its signature; `version` rises with every file, and is below 2^64."""
    header = _HEADER.pack(
        MAGIC, built.bits, version, built.entries, built.seed, built.segment_length, built.segment_count
    )
    return header + built.fingerprints
