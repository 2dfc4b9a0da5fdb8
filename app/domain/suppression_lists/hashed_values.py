"""SHA-256 hashes as lists contain them: hexadecimal or Base64."""

from __future__ import annotations

import re
from base64 import b64decode
from hashlib import sha256

from app.domain.errors import InvalidValue

_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{43}=?")
_FROM_URL_ALPHABET = str.maketrans("-_", "+/")


def hash_of(text: str) -> bytes:
    """Return the 32-byte SHA-256 of the text in UTF-8."""
    return sha256(text.encode()).digest()


def parse_hash(text: str) -> bytes:
    """Return the 32 bytes of a SHA-256 in hexadecimal or Base64, also in its alphabet for URLs.

    Raises:
        InvalidValue: the text is neither.

    """
    text = text.strip()
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    if _BASE64.fullmatch(text):
        return b64decode(text.rstrip("=").translate(_FROM_URL_ALPHABET) + "=")
    raise InvalidValue("This is not a SHA-256: 64 hexadecimal digits, or 44 characters of Base64.")
