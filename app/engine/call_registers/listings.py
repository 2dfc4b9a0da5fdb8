"""What the loaded registers say about numbers, for the workspaces that read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, String, bindparam, column, select, table

from app.domain.call_registers import Effect, Listing, is_hidden, strictest
from app.engine.accounts.accounts import Account, Role
from app.engine.call_registers import blocks
from app.engine.call_registers.registers import CallRegister, CallRegisterBlock, CallRegisterEffect
from app.engine.contacts.bulk import batched
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.database.session import Session

Listings: TypeAlias = Mapping[str, tuple[Listing, ...]]
"""What the registers say about numbers in E.164; a number that no register is about is missing."""
NOTHING: Listings = {}


class Numbers(NamedTuple):
    """The numbers that a workspace reads."""

    workspace_id: str
    numbers: Collection[str]


class _Register(NamedTuple):
    """A register, with the effect that a workspace chose."""

    id: str
    name: str
    prefixes: list[str]
    is_complete: bool
    date: datetime
    max_age_days: int
    effect: str
    workspace_id: str | None
    chosen: str | None
    now: datetime

    def is_about(self, number: str) -> bool:
        """Return whether the register says something about the number."""
        return number.startswith(tuple(self.prefixes))

    @property
    def is_outdated(self) -> bool:
        """Return whether the register is older than it may be used."""
        return self.date + timedelta(days=self.max_age_days) <= self.now


# A partial table definition: the module of jobs imports this package, not the other way round.
_JOBS = table("jobs", column("id", String), column("account_id", String))
_COLUMNS = [getattr(CallRegister, name) for name in _Register._fields[:7]]
_OF_READER: ColumnElement[bool] = CallRegisterEffect.workspace_id.in_(bindparam("readers", expanding=True))
_REGISTERS = (
    select(
        *_COLUMNS,
        CallRegisterEffect.workspace_id,
        CallRegisterEffect.effect.label("chosen"),
        database_clock.column(database_clock.now()).label("now"),
    )
    .outerjoin(CallRegisterEffect, (CallRegisterEffect.register_id == CallRegister.id) & _OF_READER)
    .order_by(CallRegister.id)
)


def find_all(session: Session, wanted: Sequence[Numbers]) -> list[Listings]:
    """Return, for each workspace, what the registers say about the numbers that it reads.

    Without numbers it is no statement, without registers one, and otherwise one more for each 500 numbers.
    """
    if not any(one.numbers for one in wanted):
        return [NOTHING for _one in wanted]
    rows = [
        _Register._make(row)
        for row in session.execute(_REGISTERS, {"readers": sorted({one.workspace_id for one in wanted})})
    ]
    if not rows:
        return [NOTHING for _one in wanted]
    registers = list({row.id: row for row in rows}.values())
    chosen = {(row.workspace_id, row.id): Effect(row.chosen) for row in rows if row.chosen is not None}
    listed = _listed(session, registers, {number for one in wanted for number in one.numbers})
    return [
        {
            number: found
            for number in one.numbers
            if (found := tuple(_listings(one.workspace_id, number, registers, chosen, listed)))
        }
        for one in wanted
    ]


def find(session: Session, workspace_id: str, numbers: Collection[str]) -> Listings:
    """Return what the registers say about the numbers that a workspace reads."""
    return find_all(session, [Numbers(workspace_id, numbers)])[0]


def to_public(listing: Listing) -> dict[str, Any]:
    """Return the representation of the API."""
    return {
        "id": listing.register_id,
        "name": listing.name,
        "date": rfc3339(listing.date),
        "listed": listing.is_listed,
        "outdated": listing.is_outdated,
    }


def _listings(
    workspace_id: str,
    number: str,
    registers: Iterable[_Register],
    chosen: Mapping[tuple[str | None, str], Effect],
    listed: Collection[tuple[str, str]],
) -> Iterable[Listing]:
    for row in registers:
        is_listed = (row.id, number) in listed
        if row.is_about(number) and (is_listed or row.is_complete):
            effect = strictest([Effect(row.effect), chosen.get((workspace_id, row.id), Effect.FLAG)])
            yield Listing(row.id, row.name, row.date, is_listed, row.is_outdated, effect)


def _listed(
    session: Session, registers: Sequence[_Register], numbers: Collection[str]
) -> set[tuple[str, str]]:
    """Return the ids of the registers that have numbers, with the numbers.

    The statement reads the editions that the registers have then: another one may have been replaced.
    """
    digest = blocks.digester(session.keys)
    places: defaultdict[int, dict[bytes, str]] = defaultdict(dict)
    for number in numbers:
        if any(row.is_about(number) for row in registers):
            block, rest = blocks.place(digest(number.encode()))
            places[block][rest] = number
    query: Any = select(CallRegister.id, CallRegisterBlock.block, CallRegisterBlock.digests).join(
        CallRegisterBlock, CallRegisterBlock.edition == CallRegister.edition
    )
    found = set()
    for part in batched(sorted(places)):
        for register_id, block, digests in session.execute(query.where(CallRegisterBlock.block.in_(part))):
            members = places[block].items()
            found |= {(register_id, number) for rest, number in members if blocks.contains(digests, rest)}
    return found


def is_hidden_from_job(session: Session, job_id: str, found: Collection[Listing]) -> bool:
    """Return whether a number with these listings is hidden from the account of a job.

    The role of the account is read only if it matters.
    """
    if not is_hidden(found, as_admin=False) or is_hidden(found, as_admin=True):
        return is_hidden(found, as_admin=True)
    account_id = select(_JOBS.c.account_id).where(_JOBS.c.id == job_id).scalar_subquery()
    role = session.scalar(select(Account.role).where(Account.id == account_id))
    return role != Role.ADMIN  # without an account, a job is a member's
