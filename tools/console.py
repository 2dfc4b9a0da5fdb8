"""Progress output on stderr: one line per step, with its duration (standard library only)."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRESS_AFTER = 1.0  # seconds until a running step shows its progress


def echo(text: str) -> None:
    """Print a line to stderr; stdout is reserved for results."""
    _write(text + "\n")


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show a step while it runs (a spinner on a terminal, lines elsewhere), then how long it took."""
    started, done = time.monotonic(), threading.Event()
    progress = threading.Thread(target=_show_progress, args=(title, started, done), daemon=True)
    progress.start()
    result = "failed"
    try:
        yield
        result = "done"
    finally:
        done.set()
        progress.join()
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        echo(f"{clear}  {title} … {result} in {time.monotonic() - started:.1f} s")


def _show_progress(title: str, started: float, done: threading.Event) -> None:
    if sys.stderr.isatty():
        frames = itertools.cycle("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
        _write(f"  {title} …")
        if done.wait(PROGRESS_AFTER):
            return
        while not done.wait(0.1):
            seconds = time.monotonic() - started
            _write(f"\r\033[K{next(frames)} {title} … {seconds:.0f} s")
        return
    interval = PROGRESS_AFTER
    while not done.wait(interval):
        echo(f"  {title} … {time.monotonic() - started:.0f} s")
        interval = min(interval * 2, 30.0)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
