"""psycopg's connection for processes under gevent: waiting for a reply costs one switch to the event loop.

psycopg waits with `poll()`, for which gevent creates a timer and other objects at each call.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from gevent import monkey, select, socket
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait
from sqlalchemy import Dialect, Engine, event

RV = TypeVar("RV")


class GeventConnection(psycopg.Connection[Any]):
    """A connection whose greenlet waits on the event loop."""

    def wait(self, gen: PQGen[RV], interval: float = 0.0, timeout: float | None = None) -> RV:  # noqa: ARG002 -- psycopg's signature
        """Run the generator of an operation, and return its result; only one without a `timeout` waits here.

        A connection that a deadline shuts down becomes readable, so `interval` is not needed.
        """
        if timeout is not None:
            return super().wait(gen, timeout=timeout)
        try:
            wanted = next(gen)
            while True:
                wanted = gen.send(_wait(self.pgconn.socket, wanted))
        except StopIteration as stop:
            result: RV = stop.value
            return result


def use(engine: Engine) -> None:
    """Make the engine open such connections, if gevent has patched this process."""
    if monkey.is_module_patched("select"):
        event.listen(engine, "do_connect", _connect)


def _connect(_dialect: Dialect, _record: object, arguments: Any, options: Any) -> GeventConnection:  # noqa: ANN401 -- SQLAlchemy's
    return GeventConnection.connect(*arguments, **options)


def _wait(descriptor: int, wanted: Wait) -> Ready:
    """Wait until the socket can be read or written, as the generator wants, and return which."""
    if wanted == Wait.R:
        socket.wait_read(descriptor)
        return Ready.R
    if wanted == Wait.W:
        socket.wait_write(descriptor)
        return Ready.W
    readable, writable, _failed = select.select([descriptor], [descriptor], [])
    return Ready((Ready.R if readable else 0) | (Ready.W if writable else 0))
