"""Runs what would block gevent's event loop, and with it all requests of a process, in a native thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from gevent import get_hub, monkey

P = ParamSpec("P")
R = TypeVar("R")


def call(work: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """Return the result of the work. The pool has ten threads, so limit how many calls run at once."""
    if monkey.is_module_patched("threading"):
        return get_hub().threadpool.apply(work, arguments, options)
    return work(*arguments, **options)
