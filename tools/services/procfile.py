"""Read the Procfile, the one place that says which processes there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LINE = re.compile(r"^([A-Za-z0-9_-]+):\s*(\S.*)$")
RELEASE = "release"


def read(path: Path) -> dict[str, str]:
    """Return the shell command of each process, in the order of the file (honcho's rules)."""
    found: dict[str, str] = {}
    for line in path.read_text().splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        if match[1] in found:
            raise ValueError(f"{path.name} names {match[1]} twice")
        found[match[1]] = match[2].strip()
    return found
