"""Credits: an append-only ledger. A workspace's balance is the sum of its entries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts.workspaces import Balance, Workspace, balance, foreign_key
from app.domain.errors import InsufficientCredits
from app.domain.ids import new_id
from app.infra.database_clock import Moment
from app.infra.db import Base

_HOLD = text("kind = 'hold'")
_CLOSE = text("kind IN ('settle', 'release')")


class LedgerEntry(Base):
    """An immutable movement of credits: the amounts added to a workspace's available, held and spent credits.

    A job has at most one hold and at most one close (settle or release), enforced by unique indexes. Each
    reveal of the job can be refunded once, enforced by the row of the reveal.
    """

    __tablename__ = "ledger"
    __table_args__ = (
        Index("uq_ledger_hold", "job_id", unique=True, sqlite_where=_HOLD, postgresql_where=_HOLD),
        Index("uq_ledger_close", "job_id", unique=True, sqlite_where=_CLOSE, postgresql_where=_CLOSE),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    job_id: Mapped[str | None]
    kind: Mapped[str]
    available: Mapped[int] = mapped_column(BigInteger)
    held: Mapped[int] = mapped_column(BigInteger)
    spent: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str | None]
    created_at: Mapped[datetime]


def grant(session: Session, workspace_id: str, amount: int, *, reason: str, now: Moment) -> Balance:
    """Add a positive amount of credits to the workspace and return its balance."""
    _post(session, _entry(workspace_id, "grant", available=amount, reason=reason, created_at=now))
    return balance(session, workspace_id)


def hold(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> None:
    """Reserve credits for a job. An amount of 0 writes no entry.

    Raises:
        InsufficientCredits: the workspace has fewer available.

    """
    if not amount:
        return
    entry = _entry(workspace_id, "hold", job_id=job_id, available=-amount, held=amount, created_at=now)
    if not _post(session, entry):
        raise InsufficientCredits(required=amount, balance=balance(session, workspace_id).available)


def hold_up_to(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> int:
    """Reserve as much of the amount as the workspace has available; return the amount reserved.

    FOR NO KEY UPDATE: inserts with a foreign key to the workspace take a key-share lock, so FOR UPDATE would
    deadlock two concurrent requests.
    """
    available = session.scalar(
        select(Workspace.available).where(Workspace.id == workspace_id).with_for_update(key_share=True)
    )
    affordable = min(amount, available or 0)
    hold(session, workspace_id, job_id, affordable, now=now)
    return affordable


def close(session: Session, workspace_id: str, job_id: str, *, held: int, charged: int, now: Moment) -> None:
    """Close the hold of a finished job: spend `charged` credits of it and release the rest."""
    if not held:
        return
    kind = "settle" if charged else "release"
    amounts = {"available": held - charged, "held": -held, "spent": charged}
    _post(session, _entry(workspace_id, kind, job_id=job_id, **amounts, created_at=now))


def refund(
    session: Session, workspace_id: str, job_id: str, amount: int, *, reason: str, now: Moment
) -> None:
    """Return the cost of a job's reveal to the workspace. The caller ensures that this happens once."""
    entry = _entry(
        workspace_id, "refund", job_id=job_id, available=amount, spent=-amount, reason=reason, created_at=now
    )
    _post(session, entry)


def _entry(workspace_id: str, kind: str, **values: Any) -> LedgerEntry:
    """Return a new ledger entry; amounts that are not given are 0."""
    amounts = {"available": 0, "held": 0, "spent": 0}
    return LedgerEntry(id=new_id("led"), workspace_id=workspace_id, kind=kind, **amounts | values)


def _post(session: Session, entry: LedgerEntry) -> bool:
    """Insert the entry and update the balance; return False, with no change, if too little is available."""
    changed = session.execute(
        update(Workspace)
        .where(Workspace.id == entry.workspace_id, Workspace.available + entry.available >= 0)
        .values(
            available=Workspace.available + entry.available,
            held=Workspace.held + entry.held,
            spent=Workspace.spent + entry.spent,
        )
        .returning(Workspace.id)
        .execution_options(synchronize_session=False)
    ).first()
    if changed is None:
        return False
    session.add(entry)
    session.flush()
    return True
