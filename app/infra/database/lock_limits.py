"""A limit on how long the statements of a transaction wait for locks; SQLite waits before the transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import bindparam, func, select, true
from sqlalchemy.exc import OperationalError

from app.infra.database.session import Session
from app.infra.database.statements import Statement

_LOCK_NOT_AVAILABLE, _DEADLOCK = "55P03", "40P01"
_LIMIT = Statement(
    tuple, lambda _dialect: select(func.set_config("lock_timeout", bindparam("limit"), true()))
)


class Locked(Exception):  # noqa: N818 -- it names a state
    """Another transaction holds a row for too long, or each waits for a row of the other."""


@contextmanager
def limited_locks(session: Session, seconds: float) -> Iterator[None]:
    """Limit how long each statement waits for a lock, until the transaction ends.

    Raises:
        Locked: a statement of the block waited for longer, or in a deadlock. The transaction must not be
            committed.

    """
    if session.get_bind().dialect.name == "postgresql":
        _LIMIT.all(session, {"limit": f"{round(seconds * 1000)}ms"})
    try:
        yield
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) in {_LOCK_NOT_AVAILABLE, _DEADLOCK}:
            raise Locked from error
        raise
