"""The environment of the programs that the service starts: none of its settings, and so no secret."""

from __future__ import annotations

import os

_NAMES = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV"})
_PREFIXES = ("LC_", "LD_", "PYTHON")


def minimal(*prefixes: str, **more: str) -> dict[str, str]:
    """Return what every program needs, the variables with these prefixes, and `more`."""
    wanted = (*_PREFIXES, *prefixes)
    kept = {name: value for name, value in os.environ.items() if name in _NAMES or name.startswith(wanted)}
    return kept | more
