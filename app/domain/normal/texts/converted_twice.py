"""Texts that were converted to UTF-8 twice: a program read `Jürgen` as Windows-1252, and wrote `JÃ¼rgen`."""

from __future__ import annotations

_MOST = 2
"""How often a text is mended: two programs may have done so one after the other."""
_UNUSED = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""The bytes that Windows-1252 does not use; programs read them as Latin-1."""
_BYTES = {ord(bytes([byte]).decode("cp1252")): chr(byte) for byte in range(0x80, 0xA0) if byte not in _UNUSED}


def converted_once(text: str) -> str | None:
    """Return the text that was meant; None if the text was not converted twice.

    Texts of other origin hardly ever are UTF-8 when they are written in these encodings.
    """
    meant = None
    for _ in range(_MOST):
        again = _before(meant or text)
        if again is None:
            break
        meant = again
    return meant


def _before(text: str) -> str | None:
    """Return the text before its last conversion; two signs alone may be meant as they are."""
    if text.isascii():
        return None
    try:
        meant = text.translate(_BYTES).encode("latin-1").decode("utf-8")
    except UnicodeError:
        return None
    return meant if len(meant) > 1 else None
