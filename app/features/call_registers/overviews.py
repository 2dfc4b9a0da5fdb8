"""The registers as admins and operators see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from app.domain.call_registers import Effect, strictest
from app.engine.call_registers.registers import CallRegister, CallRegisterEffect
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A register: `operator_effect` is the least that is done, `effect` what is done in the workspace."""

    id: str
    name: str
    country: str
    numbers: int
    date: datetime
    loaded_at: datetime
    max_age_days: int
    now: datetime
    operator_effect: Effect
    effect: Effect
    area_codes: int

    @property
    def usable_until(self) -> datetime:
        """Return when the register becomes too old."""
        return self.date + timedelta(days=self.max_age_days)

    @property
    def is_outdated(self) -> bool:
        """Return whether the register is too old."""
        return self.usable_until <= self.now

    @property
    def age_days(self) -> int:
        """Return the age in whole days."""
        return (self.now - self.date).days

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return what a workspace may choose, with labels: the operator's effect, or a stricter one."""
        allowed = (effect for effect in Effect if strictest([effect, self.operator_effect]) is effect)
        return [(effect.value, effect.label) for effect in allowed]


def of_workspace(session: Session, workspace_id: str) -> list[Overview]:
    """Return all registers, with what the workspace does with their numbers."""
    chosen = (CallRegisterEffect.register_id == CallRegister.id) & (
        CallRegisterEffect.workspace_id == workspace_id
    )
    now = database_clock.column(database_clock.now()).label("now")
    query = select(CallRegister, CallRegisterEffect.effect, now).outerjoin(CallRegisterEffect, chosen)
    return [
        Overview(
            id=row.id,
            name=row.name,
            country=row.country,
            numbers=row.numbers,
            date=row.date,
            loaded_at=row.loaded_at,
            max_age_days=row.max_age_days,
            now=at,
            operator_effect=Effect(row.effect),
            effect=strictest([Effect(row.effect), Effect(effect or Effect.FLAG)]),
            area_codes=len(row.prefixes) if len(row.prefixes) > 1 else 0,
        )
        for row, effect, at in session.execute(query.order_by(CallRegister.name, CallRegister.id))
    ]


def to_public(row: Overview) -> dict[str, Any]:
    """Return the representation of the API."""
    return {
        "id": row.id,
        "name": row.name,
        "country": row.country,
        "numbers": row.numbers,
        "date": rfc3339(row.date),
        "loaded_at": rfc3339(row.loaded_at),
        "usable_until": rfc3339(row.usable_until),
        "outdated": row.is_outdated,
        "effect": row.effect.value,
        "operator_effect": row.operator_effect.value,
    }
