"""What calls to vendors and to webhook receivers share: TLS, a total time limit, and `Retry-After`."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TypeVar

import httpcore2

from app.infra import clock

T = TypeVar("T")


@cache
def ssl_context() -> ssl.SSLContext:
    """Return a shared TLS context; loading the trusted certificates is slow."""
    return httpcore2.default_ssl_context()


def run_with_timeout(seconds: float, do: Callable[[], T]) -> T:
    """Call `do` in its own thread and return its result; the thread is abandoned on timeout.

    For calls without a total timeout.

    Raises:
        TimeoutError: the call took longer.

    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(do())
        except Exception as error:  # noqa: BLE001 -- raised again in the calling thread
            result.set_exception(error)

    threading.Thread(target=run, name="outside", daemon=True).start()
    return result.result(seconds)


def retry_after(header: str) -> float | None:
    """Parse a `Retry-After` header (RFC 9110, section 10.2.3: seconds or a date) into seconds from now."""
    header = header.strip()
    if header.isdecimal():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((date - clock.now()).total_seconds(), 0.0)
