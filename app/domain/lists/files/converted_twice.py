"""Texts that were converted to UTF-8 twice: a program read `Jürgen` as Windows-1252, and wrote `JÃ¼rgen`."""

from __future__ import annotations

_READ_AS = ("cp1252", "latin-1")


def converted_once(text: str) -> str | None:
    """Return the text that was meant; None if the text was not converted twice.

    Texts of other origin hardly ever are UTF-8 when they are written in these encodings.
    """
    for encoding in _READ_AS:
        try:
            meant = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return meant if len(meant) > 1 else None  # two signs alone may be meant as they are
    return None
