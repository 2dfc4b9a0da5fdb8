"""Tokens a caller presents: opaque, 256 random bits, with a checksum against typing errors.

Shape: `ses_` or `key_`, 43 base-62 digits of the secret, 6 base-62 digits of the CRC-32 of all before them.
The prefix lets scanners find leaked tokens and the checksum lets them discard look-alikes (as GitHub's tokens
do); neither is what makes a token hard to guess.
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
    """What a token is for; the value is its prefix."""

    SESSION = "ses"
    API_KEY = "key"


def new_token(kind: TokenKind) -> str:
    """Make a token nobody can guess."""
    checked = f"{kind}_{_base62(secrets.randbits(256), SECRET_DIGITS)}"
    return checked + _checksum(checked)


def kind_of(token: str) -> TokenKind:
    """Tell what the token is for, from its text alone.

    Raises:
        InvalidToken: it has another shape or a wrong checksum, so it was never handed out.

    """
    shape = _SHAPE.fullmatch(token)
    if shape is None or _checksum(token[:-CHECK_DIGITS]) != token[-CHECK_DIGITS:]:
        raise InvalidToken
    return TokenKind(shape[1])


def digest(token: str) -> bytes:
    """Give the 32 bytes under which a token is kept; fast is enough for 256 random bits."""
    return hashlib.sha256(token.encode()).digest()


def shown_prefix(token: str) -> str:
    """Give the beginning that may be shown to tell tokens apart."""
    return token[:SHOWN_CHARACTERS]


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), CHECK_DIGITS)


def _base62(number: int, digits: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text.rjust(digits, _ALPHABET[0])
