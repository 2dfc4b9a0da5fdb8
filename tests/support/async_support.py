"""Runs asynchronous functions in tests: Playwright keeps a loop in the thread of the tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


def run(function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run the function in a loop of its own, in another thread; return what it returns."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, function, *arguments).result()
