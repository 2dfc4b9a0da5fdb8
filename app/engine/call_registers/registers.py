"""The tables of do-not-call registers: their names, their numbers as keyed digests, and their effects.

A register is operator data that every workspace reads. Its numbers are in an edition: blocks of sorted
digests, which are written before the register points to them. So readers see the whole old edition or the
whole new one, and an interrupted load leaves blocks that nothing reads.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, ForeignKey, String, delete, func, or_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.call_registers import Effect
from app.domain.ids import first_id
from app.engine.accounts.workspaces import foreign_key
from app.infra.database.db import Base
from app.infra.database.session import Session

PURGE_BLOCKS = 20_000
"""The most blocks that one transaction deletes, about 25 MB of a register of 50 million numbers."""


class CallRegister(Base):
    """A register. `date` is the date of its files, and `edition` has its numbers, which are of its `country`.

    `changed_at` is when it was loaded or its effect was changed. It says something about numbers that begin
    with one of its `prefixes`. If it is `is_complete`, a number that is not in it is not registered; the
    result of washing a list says that of no number. `max_age_days` is how long it may be used for calls,
    `effect` the least that is done with a number in it.
    """

    __tablename__ = "call_registers"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    name: Mapped[str]
    country: Mapped[str] = mapped_column(String(2))
    edition: Mapped[str] = mapped_column(String(28))
    prefixes: Mapped[list[Any]]
    is_complete: Mapped[bool]
    date: Mapped[datetime]
    loaded_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    numbers: Mapped[int] = mapped_column(BigInteger)
    max_age_days: Mapped[int]
    effect: Mapped[str]


class CallRegisterBlock(Base):
    """The sorted digests of an edition's numbers whose first bits are the number of the block."""

    __tablename__ = "call_register_blocks"

    edition: Mapped[str] = mapped_column(String(28), primary_key=True)
    block: Mapped[int] = mapped_column(primary_key=True)
    digests: Mapped[bytes]


class CallRegisterEffect(Base):
    """What a workspace does with the numbers in a register; it counts if it is stricter than the register's.

    `changed_by` is the account that chose it, None for the operator.
    """

    __tablename__ = "call_register_effects"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    register_id: Mapped[str] = mapped_column(
        String(40), ForeignKey("call_registers.id", ondelete="CASCADE"), primary_key=True
    )
    effect: Mapped[str]
    changed_by: Mapped[str | None]
    changed_at: Mapped[datetime]


ANY = select(CallRegister.id).where(CallRegister.id > "").exists()  # looked up in the index
"""Whether there are registers, as a column of statements that read numbers anyway."""
LAST_CHANGE = select(func.max(CallRegister.changed_at)).scalar_subquery()
"""When a register was last loaded, or its effect changed."""


def hides_by_role(workspace_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a register hides numbers from the members of a workspace, not from admins."""
    hides = Effect.HIDE_FOR_MEMBERS.value
    of_workspace = (CallRegisterEffect.workspace_id == workspace_id, CallRegisterEffect.effect == hides)
    by_operator = select(CallRegister.id).where(CallRegister.effect == hides).exists()
    return or_(by_operator, select(CallRegisterEffect.register_id).where(*of_workspace).exists())


def purge_editions(session: Session, *, before: datetime | None = None) -> int:
    """Delete blocks of editions that no register has; return how many, `PURGE_BLOCKS` at most.

    `before` spares the editions that were begun later: they may be loading.
    """
    unused: ColumnElement[bool] = CallRegisterBlock.edition.not_in(select(CallRegister.edition))
    if before is not None:
        unused &= CallRegisterBlock.edition < first_id("cre", before)
    edition = session.scalar(select(CallRegisterBlock.edition).where(unused).limit(1))
    if edition is None:
        return 0
    part = (
        select(CallRegisterBlock.block)
        .where(CallRegisterBlock.edition == edition)
        .order_by(CallRegisterBlock.block)
        .limit(PURGE_BLOCKS)
    )
    is_part = (CallRegisterBlock.edition == edition, CallRegisterBlock.block.in_(part))
    options = {"preserve_rowcount": True}
    result: Any = session.connection().execute(
        delete(CallRegisterBlock).where(*is_part), execution_options=options
    )
    return int(result.rowcount)
