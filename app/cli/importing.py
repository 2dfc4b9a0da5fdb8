"""Importing a list: read it row by row, write it in short transactions, count, and keep what was refused."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from app.cli.import_files import opened, progress, rejects
from app.core import admission, imports
from app.domain.company_rows import company_of
from app.domain.csv_tables import Row, read_table
from app.domain.errors import InvalidValue, Unavailable
from app.domain.layouts import Entity, Layout, check_mapping, explain_unknown, layout_of
from app.domain.people_rows import person_of
from app.domain.row_values import RowValues, Terms
from app.infra import clock, database_clock
from app.infra.db import Database

BATCH = 1_000
WAITS = (1, 2, 4, 8)  # seconds

COUNTS = ("new", "updated", "unchanged", "rejected", "suppressed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to import and how; `mapped` gives fields for headers, `at` the date of rows without one."""

    entity: Entity
    path: str
    source: str | None = None
    at: datetime | None = None
    region: str | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    delimiter: str | None = None
    rejects: str | None = None
    dry_run: bool = False


@dataclass(slots=True)
class Tally:
    """What came of an import; `warnings` counts by field the values left out of rows that were kept."""

    layout: Layout
    encoding: str
    delimiter: str
    counts: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    run_id: int | None = None

    @property
    def read(self) -> int:
        """Count the rows that were read."""
        return sum(self.counts[name] for name in COUNTS)


class _DryRun(Exception):  # noqa: N818 -- no error: it rolls a transaction back
    """Everything went well and nothing is to stay."""


def run(database: Database, order: Order) -> Tally:
    """Import a list.

    Raises:
        InvalidValue: the file cannot be read as a list; the sentence says why and what to do.
        Unavailable: the database stayed away; what was written stays, and the same import can be run again.

    """
    check_mapping(order.mapped)
    with ExitStack() as stack:
        stack.enter_context(_rare_collection())
        file = stack.enter_context(opened(order.path))
        table = read_table(
            file,
            lambda cells: layout_of(cells, order.entity, order.mapped).known,
            encoding=order.encoding,
            delimiter=order.delimiter,
        )
        layout = _layout(table.header, order)
        tally = Tally(layout, table.encoding, table.delimiter)
        refuse = stack.enter_context(rejects(order.rejects, layout.header))
        advance = stack.enter_context(progress(file, order.path))
        started = time.perf_counter()
        for read in _batches(order, tally, table.rows, refuse):
            tally.counts += _write(database, order, tally, read)
            advance()
        tally.seconds = time.perf_counter() - started
    return tally


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Look for reference cycles seldom: batches make many objects and none; it cost a fifth of the time."""
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, 10, 10)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _batches(
    order: Order, tally: Tally, rows: Iterator[Row], refuse: Callable[[Row, str], None]
) -> Iterator[list[Any]]:
    """Read batch after batch; rows that name nobody are refused."""
    now = clock.now()
    source = order.source or ("standard input" if order.path == "-" else Path(order.path).name)
    terms = Terms(source=source, at=order.at or now, now=now, region=order.region)
    while batch := list(islice(rows, BATCH)):
        read = []
        for row in batch:
            try:
                read.append(_read(row, terms, tally))
            except InvalidValue as error:
                tally.counts["rejected"] += 1
                refuse(row, str(error))
        yield read


def _read(row: Row, terms: Terms, tally: Tally) -> Any:  # noqa: ANN401 -- what the entity's admission takes
    if row.fault is not None:
        raise InvalidValue(row.fault)
    values = RowValues(tally.layout, row.cells, terms, tally.warnings)
    if tally.layout.entity is Entity.COMPANIES:
        return company_of(values)
    return person_of(values, tally.layout)


def _write(database: Database, order: Order, tally: Tally, read: Sequence[Any]) -> Counter[str]:
    """Write a batch; a database that is busy for a moment is asked again."""
    for seconds in WAITS:
        try:
            return _write_once(database, order, tally, read)
        except Unavailable:
            time.sleep(seconds)
    return _write_once(database, order, tally, read)


def _write_once(database: Database, order: Order, tally: Tally, read: Sequence[Any]) -> Counter[str]:
    admit: Any = admission.admit_people if order.entity is Entity.CONTACTS else admission.admit_companies
    counts: Counter[str] = Counter()
    run_id = tally.run_id
    try:
        with database.transaction() as session:
            now = database_clock.value(session)
            counts = admit(session, read, now=now)
            if order.dry_run:
                raise _DryRun  # noqa: TRY301 -- out of the transaction, not further
            if written := counts["new"] + counts["updated"]:
                run_id = run_id or imports.start(session, entity=order.entity.value, now=now).id
                imports.touch(session, run_id, rows=written, now=now)
    except _DryRun:
        return counts
    tally.run_id = run_id
    return counts


def _layout(header: Sequence[str], order: Order) -> Layout:
    layout = layout_of(header, order.entity, order.mapped)
    missing = [name for name in order.mapped if not layout.has(name)]
    if missing:
        seen = ", ".join(repr(name) for name in header)
        raise InvalidValue(f"There is no column {missing[0]!r} to map. Columns seen: {seen}.")
    if not layout.names_rows:
        raise InvalidValue(explain_unknown(header, order.entity))
    return layout
