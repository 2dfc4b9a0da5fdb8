"""Ends a command on SIGTERM as on Ctrl-C: what it was writing is deleted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Raise SystemExit in the block on SIGTERM, which would end the process without any clean-up."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
