"""What people see while they wait: one line per step on stderr, with its seconds (standard library only)."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRESS_AFTER = 1.0  # seconds that a step may take before it shows that it is alive


def echo(text: str) -> None:
    """Print one line for the person at the terminal; stdout stays free for answers."""
    _write(text + "\n")


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show a step while it runs: a spinner on a terminal, a line and dots elsewhere, then its seconds."""
    started, over = time.monotonic(), threading.Event()
    ticker = threading.Thread(target=_show_progress, args=(title, started, over), daemon=True)
    ticker.start()
    verdict = "failed"
    try:
        yield
        verdict = "done"
    finally:
        over.set()
        ticker.join()
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        echo(f"{clear}  {title} … {verdict} in {time.monotonic() - started:.1f} s")


def _show_progress(title: str, started: float, over: threading.Event) -> None:
    if sys.stderr.isatty():
        frames = itertools.cycle("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
        _write(f"  {title} …")
        if over.wait(PROGRESS_AFTER):
            return
        while not over.wait(0.1):
            seconds = time.monotonic() - started
            _write(f"\r\033[K{next(frames)} {title} … {seconds:.0f} s")
        return
    wait = PROGRESS_AFTER
    while not over.wait(wait):
        echo(f"  {title} … {time.monotonic() - started:.0f} s")
        wait = min(wait * 2, 30.0)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
