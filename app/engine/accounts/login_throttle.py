"""Backoff after failed sign-ins, per e-mail address and independent of the client's network.

The wait grows with each failure up to a maximum, so that no one can lock an account permanently. Networks
from which the account has signed in before do not wait (the API still limits failures per network).
Failures are counted by a keyed digest of the e-mail, so addresses without an account are treated the same.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from sqlalchemy import case, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment, column
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

FREE_FAILURES = 10
MAX_WAIT = timedelta(minutes=1)
RETENTION = timedelta(minutes=15)


class FailedSignIns(Base):
    """Consecutive failures for the e-mails of one hash bucket; the table has at most 65,536 rows."""

    __tablename__ = "failed_sign_ins"

    bucket: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    failures: Mapped[int]
    last_at: Mapped[datetime]


def retry_after(session: Session, email: str, *, now: Moment) -> int:
    """Return the seconds until the next attempt is allowed; 0 unless there were many recent failures."""
    query = select(FailedSignIns.failures, FailedSignIns.last_at, column(now).label("now"))
    row = session.execute(query.where(FailedSignIns.bucket == _bucket(session, email))).one_or_none()
    if row is None or row.failures < FREE_FAILURES:
        return 0
    delay = min(MAX_WAIT, timedelta(seconds=2 ** min(row.failures - FREE_FAILURES, 6)))
    remaining: timedelta = row.last_at + delay - row.now
    return max(0, math.ceil(remaining.total_seconds()))


def record_failure(session: Session, email: str, *, now: Moment) -> None:
    """Count a failure; start again at one if the last failure is older than RETENTION."""
    statement = insert(session, FailedSignIns).values(bucket=_bucket(session, email), failures=1, last_at=now)
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


def reset(session: Session, email: str) -> None:
    """Reset the failure count of the e-mail."""
    session.execute(delete(FailedSignIns).where(FailedSignIns.bucket == _bucket(session, email)))


def digest(keys: DigestKeys, *parts: str) -> bytes:
    """Return the 32-byte digest under which failures of this network or e-mail address are counted."""
    return keys.digest("sign-in", "\0".join(parts))


def _bucket(session: Session, email: str) -> int:
    # Two bytes, so that attempts with made-up addresses cannot fill the table.
    return int.from_bytes(digest(session.keys, "bucket", email)[:2])
