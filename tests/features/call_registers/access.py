"""Who may use the endpoints and the page of do-not-call registers."""

from __future__ import annotations

from typing import Any

from access_support import ADMIN, Maker, requires
from sqlalchemy import select
from users_support import SignedInUser

from app.domain.call_registers import Effect
from app.domain.callers import Scope
from app.domain.ids import new_id
from app.engine.call_registers.registers import CallRegister
from app.infra import clock

ACCESS_RULES = {
    "GET /api/call-registers": requires(Scope.LOOKUP, 200),
    "PUT /api/call-registers/<register_id>": requires("admin", 200, body={"effect": "hide"}),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /admin/call-registers": ADMIN,
    "POST /admin/call-registers": ADMIN,
}
RECORDED: tuple[Any, ...] = ()


def a_register(owner: SignedInUser, _contact_id: str) -> str:
    """Return the id of a register, which every workspace reads."""
    with owner.database.transaction() as session:
        if session.scalar(select(CallRegister.id)) is None:
            session.add(
                CallRegister(
                    id="uk-tps",
                    name="TPS",
                    country="GB",
                    edition=new_id("cre"),
                    prefixes=["+44"],
                    is_complete=True,
                    date=clock.now(),
                    loaded_at=clock.now(),
                    changed_at=clock.now(),
                    numbers=0,
                    max_age_days=28,
                    effect=Effect.FLAG.value,
                )
            )
    return "uk-tps"


MAKERS: dict[str, Maker] = {"register_id": a_register}
