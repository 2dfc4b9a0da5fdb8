"""A do-not-call register that has some numbers, for tests of what is shown of them."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete

from app.domain.call_registers import Effect
from app.domain.ids import new_id
from app.engine.call_registers import blocks
from app.engine.call_registers.registers import CallRegister, CallRegisterBlock
from app.infra.database.session import Session

REGISTER = "uk-tps"
DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)


def a_register(session: Session, *numbers: str, effect: Effect = Effect.FLAG) -> None:
    """Insert the register TPS of yesterday, with these numbers in E.164 and no others."""
    edition, digest = new_id("cre"), blocks.digester(session.keys)
    rests: defaultdict[int, list[bytes]] = defaultdict(list)
    for number in numbers:
        block, rest = blocks.place(digest(number.encode()))
        rests[block].append(rest)
    session.execute(delete(CallRegister).where(CallRegister.id == REGISTER))
    session.add_all(
        CallRegisterBlock(edition=edition, block=block, digests=b"".join(sorted(members)))
        for block, members in rests.items()
    )
    session.add(
        CallRegister(
            id=REGISTER,
            name="TPS",
            country="GB",
            edition=edition,
            prefixes=["+44"],
            is_complete=True,
            date=DAY,
            loaded_at=DAY,
            changed_at=DAY,
            numbers=len(numbers),
            max_age_days=28,
            effect=effect.value,
        )
    )
    session.flush()
