"""Bearer tokens: opaque, 256 random bits, with a checksum against typing errors.

Format: `ses_` or `key_`, 43 base-62 digits of the secret, 6 of the CRC-32 of the text before them.
The prefix lets scanners find leaked tokens and the checksum lets them discard look-alikes (as in GitHub's
tokens). Neither adds to the entropy of the token.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib
from enum import StrEnum

from app.domain.errors import InvalidToken

SECRET_DIGITS = 43
CHECK_DIGITS = 6
SHOWN_CHARACTERS = 12
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHAPE = re.compile(rf"(ses|key)_[0-9A-Za-z]{{{SECRET_DIGITS + CHECK_DIGITS}}}", re.ASCII)


class TokenKind(StrEnum):
    """The kind of a token; the value is its prefix."""

    SESSION = "ses"
    API_KEY = "key"


def new_token(kind: TokenKind) -> str:
    """Return a new token with 256 random bits."""
    checked = f"{kind}_{_base62(secrets.randbits(256), SECRET_DIGITS)}"
    return checked + _checksum(checked)


def kind_of(token: str) -> TokenKind:
    """Return the kind of a token from its text alone."""
    shape = _SHAPE.fullmatch(token)
    if shape is None or _checksum(token[:-CHECK_DIGITS]) != token[-CHECK_DIGITS:]:
        raise InvalidToken
    return TokenKind(shape[1])


def digest(token: str) -> bytes:
    """Return the 32-byte hash under which a token is stored; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).digest()


def shown_prefix(token: str) -> str:
    """Return the beginning of a token, which may be shown to distinguish tokens."""
    return token[:SHOWN_CHARACTERS]


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), CHECK_DIGITS)


def _base62(number: int, digits: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text.rjust(digits, _ALPHABET[0])
