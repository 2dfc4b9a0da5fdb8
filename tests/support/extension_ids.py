"""The ids that Chrome gives to extensions."""

from __future__ import annotations

import hashlib
from pathlib import Path

_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def unpacked_id(folder: Path) -> str:
    """Return the id that Chrome derives from the path of an unpacked extension."""
    return hashlib.sha256(str(folder).encode()).hexdigest()[:32].translate(_LETTERS)
