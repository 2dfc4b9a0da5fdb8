"""Warns the callers of operations that the service announces to remove."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn_deprecated(message: str) -> None:
    """Issue a DeprecationWarning that points to the call outside of this package."""
    level, frame = 1, sys._getframe()  # noqa: SLF001 -- as in the standard library's `warnings`
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DeprecationWarning, stacklevel=level)
