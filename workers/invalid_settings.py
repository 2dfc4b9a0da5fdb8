"""Ends a process with invalid settings with a sentence for each; Celery would print a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from app.settings import SettingsError


@contextmanager
def reported() -> Iterator[None]:
    """Print the faults of the settings that the block raises, and exit with 1."""
    try:
        yield
    except SettingsError as fault:
        sys.stderr.write(f"Error: {fault}\nTo list everything that is missing or invalid: flask doctor\n")
        raise SystemExit(1) from None
