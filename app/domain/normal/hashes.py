"""Hashes of websites and profiles: SHA-256 of the normal form in UTF-8 (docs/api/normal-forms.md)."""

from __future__ import annotations

import re
from hashlib import sha256

from app.domain.errors import BadHash
from app.domain.messages import Message

HASH_DIGITS = 64

_HEX = re.compile(r"[0-9a-f]*")


def website_hash(domain: str) -> bytes:
    """Return the 32-byte hash of a website in normal form."""
    return sha256(domain.encode("utf-8", "surrogatepass")).digest()


def profile_hash(url: str) -> bytes:
    """Return the 32-byte hash of a profile or company URL in normal form."""
    return website_hash(url)


def hex_hash(digest: bytes) -> str:
    """Return a hash in lower-case hexadecimal."""
    return digest.hex()


def parse_hash(text: str) -> bytes:
    """Parse 64 lower-case hexadecimal digits.

    Raises:
        BadHash: the text has another format.

    """
    return bytes.fromhex(parse_prefix(text, HASH_DIGITS))


def parse_prefix(text: str, length: int) -> str:
    """Return the text if it is exactly `length` lower-case hexadecimal digits.

    Raises:
        BadHash: the text has another format.

    """
    if len(text) != length or not _HEX.fullmatch(text):
        raise BadHash(Message("Send exactly {length} lower-case hexadecimal digits.", length=length))
    return text


def prefix_bounds(prefix: str) -> tuple[bytes, bytes]:
    """Return the lowest and the highest 32-byte hash with this prefix, both inclusive, for `BETWEEN`."""
    if len(prefix) > HASH_DIGITS:
        raise BadHash
    parse_prefix(prefix, len(prefix))
    return bytes.fromhex(prefix.ljust(HASH_DIGITS, "0")), bytes.fromhex(prefix.ljust(HASH_DIGITS, "f"))
