"""Loads registers and their changes, and changes what is done with the numbers in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import delete, update

from app.domain.call_registers import Effect
from app.domain.errors import InvalidValue, NotFound
from app.engine.call_registers import blocks
from app.engine.call_registers.registers import CallRegister, CallRegisterEffect, purge_editions
from app.features.call_registers import editions, register_files
from app.features.call_registers.editions import Spill, Written
from app.features.call_registers.known_registers import Format
from app.features.call_registers.number_forms import calling_code, normalizer
from app.features.call_registers.register_files import Report
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.db import Database, insert
from app.infra.database.session import Session

AREA_DIGITS = len("+1212")
"""The part of a North American number that is its area code, with the calling code."""
MIN_SHARE = 0.5
"""The share of the stored numbers below which new files are taken for incomplete."""
MAX_REJECTED_SHARE = 0.01
UNKNOWN = "There is no such register. List them: flask call-registers list"
LOADING = timedelta(hours=12)
"""How long loading may take: then, the blocks of an interrupted load are deleted."""
TICK_BYTES = 65_536 * 12
"""About the bytes of as many lines as are read between two steps of a progress bar."""
Tick = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The files of a register, and how they are read.

    `sent` is the list that was sent to be washed. `column` and `listed_column` are those of a table.
    """

    id: str
    name: str
    country: str
    format: Format
    max_age_days: int
    date: datetime
    files: tuple[Path, ...]
    sent: Path | None = None
    column: str = "number"
    listed_column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What the operator accepts: files with lines that cannot be read, and files with far fewer numbers."""

    rejected: bool = False
    fewer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A loaded register, the number of its numbers before, and what was read."""

    register_id: str
    name: str
    date: datetime
    numbers: int
    before: int
    prefixes: tuple[str, ...]
    report: Report


def load(
    database: Database, source: Source, accepted: Accepted, *, effect: Effect | None, tick: Tick, now: Moment
) -> Loaded:
    """Replace a register by files, or add it; readers see the old numbers until all new ones are written.

    Raises:
        InvalidValue: a file cannot be read, or the files look incomplete; nothing is changed.

    """
    report = Report()
    has_areas = source.format is Format.AREA_CODES
    before = _numbers_of(database, source.id)
    with Spill(_keys(database), area_digits=AREA_DIGITS if has_areas else 0) as spill:
        spill.add(_numbers(source, report), tick)
        _check(report, spill.count, accepted)
        written = editions.write(database, spill, tick)
    if written.numbers < before * MIN_SHARE and not accepted.fewer:
        raise InvalidValue(
            f"The files have {written.numbers:,} numbers, and the register has {before:,} now. If they are "
            "complete, repeat the command with --accept-fewer. Nothing was changed."
        )
    prefixes = sorted(area.decode() for area in written.areas) or [calling_code(source.country)]
    values: dict[str, Any] = {
        "name": source.name,
        "country": source.country,
        "prefixes": prefixes,
        "is_complete": source.format.is_complete,
        "max_age_days": source.max_age_days,
    }
    if effect is not None:
        values["effect"] = effect.value
    with database.transaction() as session:
        _store(session, source.id, written, source.date, values, now=now)
    _purge(database)
    return Loaded(
        register_id=source.id,
        name=source.name,
        date=source.date,
        numbers=written.numbers,
        before=before,
        prefixes=tuple(prefixes),
        report=report,
    )


def change(
    database: Database,
    register_id: str,
    files: Iterable[Path],
    accepted: Accepted,
    *,
    date: datetime,
    tick: Tick,
    now: Moment,
) -> Loaded:
    """Apply change lists, in their order, to a register.

    Raises:
        NotFound: there is no such register.
        InvalidValue: a file cannot be read, or is older than the register; nothing is changed.

    """
    with database.reading() as session:
        row = _get(session, register_id)
    if date < row.date:
        raise InvalidValue(f"The register is of {row.date:%Y-%m-%d} already. Apply later changes only.")
    report, digest, normalize = Report(), blocks.digester(_keys(database)), normalizer(row.country)
    found = {
        digest(number): is_added
        for file in files
        for number, is_added in register_files.changes(file, normalize, report)
    }
    _check(report, len(found), accepted)
    written = editions.write_changed(database, row.edition, found, tick)
    with database.transaction() as session:
        values = {"edition": written.edition, "numbers": written.numbers, "date": date}
        values |= {"loaded_at": now, "changed_at": now}
        is_same = (CallRegister.id == register_id, CallRegister.edition == row.edition)
        changed = session.scalar(
            update(CallRegister).where(*is_same).values(values).returning(CallRegister.id)
        )
    if changed is None:
        raise InvalidValue("The register was loaded by another process meanwhile. Repeat the command.")
    _purge(database)
    return Loaded(
        register_id=register_id,
        name=row.name,
        date=date,
        numbers=written.numbers,
        before=row.numbers,
        prefixes=tuple(row.prefixes),
        report=report,
    )


def set_effect(
    session: Session,
    register_id: str,
    effect: Effect,
    *,
    workspace_id: str | None,
    changed_by: str | None,
    now: Moment,
) -> None:
    """Set what is done with the numbers in a register, for everybody or for a workspace."""
    row = _get(session, register_id)
    session.execute(update(CallRegister).where(CallRegister.id == row.id).values(changed_at=now))
    if workspace_id is None:
        session.execute(update(CallRegister).where(CallRegister.id == row.id).values(effect=effect.value))
        return
    values = {"effect": effect.value, "changed_by": changed_by, "changed_at": now}
    statement = insert(session, CallRegisterEffect).values(
        workspace_id=workspace_id, register_id=register_id, **values
    )
    session.execute(
        statement.on_conflict_do_update(index_elements=["workspace_id", "register_id"], set_=values)
    )


def remove(database: Database, register_id: str) -> None:
    """Delete a register with its numbers.

    Raises:
        NotFound: there is no such register.

    """
    with database.transaction() as session:
        _get(session, register_id)
        session.execute(delete(CallRegister).where(CallRegister.id == register_id))
    _purge(database)


def _get(session: Session, register_id: str) -> CallRegister:
    row = session.get(CallRegister, register_id)
    if row is None:
        raise NotFound(UNKNOWN)
    return row


def _keys(database: Database) -> DigestKeys:
    if database.keys is None:
        raise RuntimeError("Open the Database with keys to load a register.")
    return database.keys


def _numbers_of(database: Database, register_id: str) -> int:
    with database.reading() as session:
        row = session.get(CallRegister, register_id)
        return 0 if row is None else row.numbers


def _numbers(source: Source, report: Report) -> Iterator[bytes]:
    normalize = normalizer(source.country)
    match source.format:
        case Format.TABLE:
            for file in source.files:
                yield from register_files.listed_in_table(
                    file, normalize, report, column=source.column, listed_column=source.listed_column
                )
        case Format.WASHED:
            if source.sent is None:
                raise InvalidValue("Name the list that was sent to the register with --sent.")
            may_be_called = {
                number for file in source.files for number in register_files.numbers(file, normalize, report)
            }
            sent = register_files.numbers(source.sent, normalize, report)
            yield from (number for number in sent if number not in may_be_called)
        case _:
            for file in source.files:
                yield from register_files.numbers(file, normalize, report)


def _check(report: Report, numbers: int, accepted: Accepted) -> None:
    """Refuse files without numbers, or of which many lines have none."""
    if not numbers and not report.lines:
        raise InvalidValue("The files have no numbers. Nothing was changed.")
    if report.rejected > report.lines * MAX_REJECTED_SHARE and not accepted.rejected:
        named = ", ".join(report.rejected_lines)
        raise InvalidValue(
            f"{report.rejected:,} of {report.lines:,} lines have no number, such as {named}. Is it the right "
            "country and format? To leave them out, repeat the command with --accept-rejected. Nothing was "
            "changed."
        )


def _store(
    session: Session,
    register_id: str,
    written: Written,
    date: datetime,
    values: dict[str, Any],
    *,
    now: Moment,
) -> None:
    """Insert the register or make it point to the new edition; what it has of the operator's effect stays."""
    stored = {"edition": written.edition, "numbers": written.numbers, "date": date, **values}
    stored |= {"loaded_at": now, "changed_at": now}
    new = {"effect": Effect.FLAG.value, **stored}
    statement = insert(session, CallRegister).values(id=register_id, **new)
    session.execute(statement.on_conflict_do_update(index_elements=["id"], set_=stored))


def _purge(database: Database) -> None:
    """Delete the numbers that no register has any more, but not those that another process may be loading."""
    with database.reading() as session:
        before = database_clock.value(session) - LOADING
    while True:
        with database.transaction(no_deadline=True) as session:
            if not purge_editions(session, before=before):
                return
