"""Heads of the audit log that are kept apart from the database, one line of JSON each.

An attacker who can write to the database could recompute the whole chain.
A head stored elsewhere reveals that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.domain.errors import InvalidValue
from app.engine.audit_log.sealing import Head

_MODE = 0o600


def line(head: Head) -> str:
    """Return the head as a line, without its end."""
    return json.dumps({"position": head.position, "hash": head.hash.hex()})


def append(path: Path, head: Head) -> None:
    """Append the head to the file, in one write, so that lines of two processes do not mix.

    Raises:
        OSError: the file cannot be written.

    """
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _MODE)
    try:
        os.write(descriptor, f"{line(head)}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def parse(lines: Iterable[str]) -> Iterator[Head]:
    """Yield the heads of a file; a last line without its end, which a crash left, is ignored.

    Raises:
        InvalidValue: a line is not a head.

    """
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            fields = json.loads(text)
            yield Head(int(fields["position"]), bytes.fromhex(fields["hash"]))
        except (ValueError, KeyError, TypeError) as error:
            if not text.endswith("\n"):
                return
            message = f"Line {number} is not a head of the audit log."
            raise InvalidValue(message) from error
