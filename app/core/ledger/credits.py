"""Credits: an append-only ledger; every balance is the sum of its rows."""

from __future__ import annotations

from datetime import datetime

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
    """One movement of credits, never changed: what it adds to each of the workspace's three figures.

    A job has at most one hold and at most one close (settle or release): the indexes say so. A refund comes
    after, at most one for each reveal that the job made: the reveal's own row says so.
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
    """Give the workspace credits; the amount is positive."""
    _move(session, workspace_id, "grant", available=amount, reason=reason, now=now)
    return balance(session, workspace_id)


def hold(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> None:
    """Set credits aside for a job; a hold of nothing leaves no trace.

    Raises:
        InsufficientCredits: the workspace has fewer.

    """
    if amount and not _move(
        session, workspace_id, "hold", available=-amount, held=amount, job_id=job_id, now=now
    ):
        raise InsufficientCredits(required=amount, balance=balance(session, workspace_id).available)


def hold_up_to(session: Session, workspace_id: str, job_id: str, amount: int, *, now: Moment) -> int:
    """Set aside as much of the amount as the workspace has; give how much that is.

    Whoever adds a row that names the workspace shares its key, as does who added the job of this hold: the
    lock lets them, or two who come at once would wait for each other.
    """
    available = session.scalar(
        select(Workspace.available).where(Workspace.id == workspace_id).with_for_update(key_share=True)
    )
    affordable = min(amount, available or 0)
    hold(session, workspace_id, job_id, affordable, now=now)
    return affordable


def close(session: Session, workspace_id: str, job_id: str, *, held: int, charged: int, now: Moment) -> None:
    """Spend what the job is charged of what it held, and give the rest back: once, when the job ends."""
    if held:
        _move(
            session,
            workspace_id,
            "settle" if charged else "release",
            available=held - charged,
            held=-held,
            spent=charged,
            job_id=job_id,
            now=now,
        )


def refund(
    session: Session, workspace_id: str, job_id: str, amount: int, *, reason: str, now: Moment
) -> None:
    """Give back what a job's reveal cost; the caller sees to it that this happens once."""
    _move(
        session,
        workspace_id,
        "refund",
        available=amount,
        spent=-amount,
        job_id=job_id,
        reason=reason,
        now=now,
    )


def _move(  # noqa: PLR0913 -- the columns of a row
    session: Session,
    workspace_id: str,
    kind: str,
    *,
    available: int = 0,
    held: int = 0,
    spent: int = 0,
    job_id: str | None = None,
    reason: str | None = None,
    now: Moment,
) -> bool:
    """Change the figures and write the row that explains it, or neither; False if too little is available."""
    changed = session.execute(
        update(Workspace)
        .where(Workspace.id == workspace_id, Workspace.available + available >= 0)
        .values(
            available=Workspace.available + available,
            held=Workspace.held + held,
            spent=Workspace.spent + spent,
        )
        .returning(Workspace.id)
        .execution_options(synchronize_session=False)
    ).first()
    if changed is None:
        return False
    session.add(
        LedgerEntry(
            id=new_id("led"),
            workspace_id=workspace_id,
            job_id=job_id,
            kind=kind,
            available=available,
            held=held,
            spent=spent,
            reason=reason,
            created_at=now,
        )
    )
    session.flush()
    return True
