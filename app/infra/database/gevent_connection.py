"""psycopg's connection for processes under gevent: waiting for a reply costs one switch to the event loop.

psycopg waits with `poll()`, for which gevent creates a timer and other objects at each call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from gevent import get_hub, monkey, socket
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait
from sqlalchemy import Dialect, Engine, event

RV = TypeVar("RV")
READ, WRITE = 1, 2
"""The events of gevent's watchers."""


class GeventConnection(psycopg.Connection[Any]):
    """A connection whose greenlet waits on the event loop."""

    def wait(self, gen: PQGen[RV], interval: float = 0.0, timeout: float | None = None) -> RV:  # noqa: ARG002 -- psycopg's signature
        """Run the generator of an operation, and return its result; only one without a `timeout` waits here.

        A connection that a deadline shuts down becomes readable, so `interval` is not needed. One whose wait
        is interrupted, as by a timeout of gevent, is closed: the reply that is still to come must not be read
        as the reply to the next statement.
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
        except BaseException:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()
            raise


def use(engine: Engine) -> None:
    """Make the engine open such connections, if gevent has patched this process."""
    if monkey.is_module_patched("select"):
        event.listen(engine, "do_connect", _connect)


def _connect(
    _dialect: Dialect, _record: object, arguments: Sequence[Any], options: Mapping[str, Any]
) -> GeventConnection:
    return GeventConnection.connect(*arguments, **options)


def _wait(descriptor: int, wanted: Wait) -> Ready:
    """Wait until the socket can be read or written, as the generator wants, and return which."""
    if wanted == Wait.R:
        socket.wait_read(descriptor)
        return Ready.R
    if wanted == Wait.W:
        socket.wait_write(descriptor)
        return Ready.W
    hub = get_hub()
    hub.wait(hub.loop.io(descriptor, READ | WRITE))  # select() refuses descriptors from 1,024 on
    return Ready.RW
