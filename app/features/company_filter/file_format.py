"""The file in which clients get a company filter: a header, the fingerprints, and a signature.

Its numbers are little-endian; docs/website-privacy.md has a table of its fields. The key of a website or of a
company page is the first eight bytes of its SHA-256, as a big-endian number. In a file with the public key of
an OPRF, it is the first eight bytes of the output for its SHA-256.
"""

from __future__ import annotations

import struct

from app.features.company_filter.fuse_filter import FuseFilter

MAGIC = b"CLF1"
OPRF_MAGIC = b"CLF2"
"""The magic number of a keyed file, whose keys are outputs of an OPRF; older clients refuse it."""
KEY_BYTES = 8
_HEADER = struct.Struct("<4sB3xQIQII")


def key_of(digest: bytes) -> int:
    """Return the key of a 32-byte hash, of an output, or of the first bytes of one."""
    return int.from_bytes(digest[:KEY_BYTES], "big")


def encode(built: FuseFilter, version: int, oprf_key: bytes = b"") -> bytes:
    """Return the file without its signature; `version` rises with every file, and is below 2^64.

    `oprf_key` is the public key of 32 bytes, if the filter has outputs.
    """
    magic = OPRF_MAGIC if oprf_key else MAGIC
    header = _HEADER.pack(
        magic, built.bits, version, built.entries, built.seed, built.segment_length, built.segment_count
    )
    return header + oprf_key + built.fingerprints
