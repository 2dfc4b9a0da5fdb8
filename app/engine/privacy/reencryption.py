"""Encrypts stored values again under the current key.

A table is read in batches in the order of its primary key, each batch in a transaction of its own, which also
stores the position. An interrupted run continues there. After a pass that changed anything, another one looks
for what was locked or written with the earlier key meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Table, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts import totp
from app.engine.privacy import reencrypted_rows
from app.engine.privacy.holdings import EncryptedAgain, all_holdings
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

SECRETS = "secrets"
"""The name of the secrets of accounts and of features, of which there are few."""


class EncryptionProgress(Base):
    """How far a table is encrypted under a key.

    `position` is the primary key of the last row of this pass that was read, `pending` counts the rows of the
    pass that were not yet under the key, `rows` the rows of all passes.
    """

    __tablename__ = "encryption_progress"

    name: Mapped[str] = mapped_column(primary_key=True)
    key_id: Mapped[int]
    position: Mapped[list[Any]]
    pending: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column(BigInteger)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


def names() -> list[str]:
    """Return the names of what is encrypted: the tables, and the secrets of accounts and of features."""
    return [*(table.name for table in reencrypted_rows.tables()), *_large(), SECRETS]


def progress(session: Session) -> list[EncryptionProgress]:
    """Return the progress of the tables whose encryption has begun."""
    return list(session.scalars(select(EncryptionProgress).order_by(EncryptionProgress.name)))


def unfinished(session: Session) -> list[str]:
    """Return the `names` that are not finished under the current key; a read without locks."""
    finished = select(EncryptionProgress.name).where(
        EncryptionProgress.key_id == session.keys.ring.current_id, EncryptionProgress.finished_at.is_not(None)
    )
    done = set(session.scalars(finished))
    return [name for name in names() if name not in done]


def restart(session: Session, *, now: datetime) -> None:
    """Restart everything that was finished, in case a process wrote with an earlier key since."""
    for name in names():
        row = _locked(session, name, now)
        if row.finished_at is not None:
            row.position, row.pending, row.rows = [], 0, 0
            row.started_at, row.finished_at = now, None
    session.flush()


def encrypt_next(session: Session, name: str, *, now: datetime) -> bool:
    """Encrypt the next batch of a table under the current key; return whether the table is finished.

    Raises:
        Undecryptable: a value cannot be read, because its key is not set.

    """
    row = _locked(session, name, now)
    if row.finished_at is None:
        if name == SECRETS:
            of_features = (holdings.encrypt_again(session) for holdings in all_holdings())
            row.rows = totp.encrypt_again(session) + sum(of_features)
            row.finished_at = now
        elif encrypt_one := _large().get(name):
            values, is_finished = encrypt_one(session)
            row.rows += values
            row.finished_at = now if is_finished else None
        else:
            _encrypt_batch(session, Base.metadata.tables[name], row, now)
        session.flush()
    return row.finished_at is not None


def _large() -> dict[str, Callable[[Session], EncryptedAgain]]:
    """Return the functions of features that encrypt the next of their large values, by table."""
    return {name: encrypt for each in all_holdings() for name, encrypt in each.encrypt_next.items()}


def _encrypt_batch(session: Session, table: Table, row: EncryptionProgress, now: datetime) -> None:
    found = reencrypted_rows.read_after(session, table, row.position)
    changed = reencrypted_rows.encrypt(session, table, found)
    row.pending += changed
    row.rows += changed
    if found:
        row.position = list(found[-1][: len(table.primary_key)])
        return
    row.finished_at = None if row.pending else now
    row.position, row.pending = [], 0


def _locked(session: Session, name: str, now: datetime) -> EncryptionProgress:
    """Return the progress of a table under the current key, locked until the transaction ends."""
    start: dict[str, Any] = {"key_id": session.keys.ring.current_id, "position": [], "pending": 0, "rows": 0}
    start["started_at"] = now
    session.execute(insert(session, EncryptionProgress).values(name=name, **start).on_conflict_do_nothing())
    query = select(EncryptionProgress).where(EncryptionProgress.name == name).with_for_update()
    row = session.scalars(query, execution_options={"populate_existing": True}).one()
    if row.key_id != start["key_id"]:
        for column, value in (start | {"finished_at": None}).items():
            setattr(row, column, value)
    return row
