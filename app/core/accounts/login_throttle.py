"""Failed sign-ins: how long the next attempt on an e-mail has to wait, wherever it comes from.

The wait grows with each failure and has an end, so that nobody can lock an account for ever; networks from
which the account has signed in before do not wait at all (the edge still limits each network by itself).
Counting goes by a keyed digest of the e-mail, so that addresses without an account are treated the same.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from datetime import datetime, timedelta

from sqlalchemy import case, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.infra.database_clock import Moment, column
from app.infra.db import Base, insert
from app.settings import load

FREE_FAILURES = 10
MAX_WAIT = timedelta(minutes=1)
RETENTION = timedelta(minutes=15)


class FailedSignIns(Base):
    """Failures in a row for the e-mails of one bucket: 65,536 rows at most, whoever tries what."""

    __tablename__ = "failed_sign_ins"

    bucket: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    failures: Mapped[int]
    last_at: Mapped[datetime]


def wait(session: Session, email: str, *, now: Moment) -> int:
    """Give the seconds until the next attempt is due; 0 unless the last failures were many and recent."""
    query = select(FailedSignIns.failures, FailedSignIns.last_at, column(now).label("now"))
    row = session.execute(query.where(FailedSignIns.bucket == _bucket(email))).one_or_none()
    if row is None or row.failures < FREE_FAILURES:
        return 0
    longest = min(MAX_WAIT, timedelta(seconds=2 ** min(row.failures - FREE_FAILURES, 6)))
    left: timedelta = row.last_at + longest - row.now
    return max(0, math.ceil(left.total_seconds()))


def failed(session: Session, email: str, *, now: Moment) -> None:
    """Count a failure; after a quiet while counting begins again."""
    statement = insert(session, FailedSignIns).values(bucket=_bucket(email), failures=1, last_at=now)
    session.execute(
        statement.on_conflict_do_update(
            index_elements=[FailedSignIns.bucket],
            set_={
                "failures": case(
                    (FailedSignIns.last_at < now - RETENTION, 1), else_=FailedSignIns.failures + 1
                ),
                "last_at": now,
            },
        )
    )


def succeeded(session: Session, email: str) -> None:
    """Begin counting again."""
    session.execute(delete(FailedSignIns).where(FailedSignIns.bucket == _bucket(email)))


def keyed(*words: str) -> bytes:
    """Give a digest that says nothing to those without the server's key: 32 bytes."""
    return hmac.digest(load().secret_key.encode(), "\0".join(("sign-in", *words)).encode(), hashlib.sha256)


def _bucket(email: str) -> int:
    return int.from_bytes(keyed("bucket", email)[:2])
