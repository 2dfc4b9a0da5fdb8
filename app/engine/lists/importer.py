"""Imports a list: reads it row by row, writes it in short transactions, and counts."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import IO, Any, TypeVar

from app.domain.errors import InvalidValue, Unavailable
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.cells.dates import DateOrder, DateOrders, list_dates
from app.domain.lists.cells.list_countries import SAMPLE, UNKNOWN, ListCountries, list_countries
from app.domain.lists.files.csv_files import ListFormat
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import DETECTED, Table, TableOptions, read_table
from app.domain.lists.headers.column_mapping import (
    ColumnMapping,
    Entity,
    check_mapping,
    explain_unknown,
    map_columns,
)
from app.domain.lists.headers.column_values import FittedColumns, fit_columns
from app.domain.lists.row_values import ImportDefaults
from app.domain.messages import Message
from app.engine.lists import import_runs, imported_rows, ingest
from app.engine.lists.ingest import IngestResult
from app.engine.lists.row_parser import DigestedRow, RejectRow, RowParser, digester_of
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

Result = TypeVar("Result")

BATCH = 2_000
RETRY_DELAYS = (1, 2, 4, 8)  # seconds

MAX_CONFLICT_LINES = 100
COUNTS = ("new", "updated", "unchanged", "rejected", "suppressed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How to import a list: `mapped` maps headers to fields, `at` dates the rows without a date.

    `table` says how the file is read, `dates` whether the day or the month is first, as far as the list does
    not show it.
    """

    entity: Entity
    source: str
    at: datetime | None = None
    region: str | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    table: TableOptions = DETECTED
    dates: DateOrder | None = None
    dry_run: bool = False


def options_of(entity: Entity, options: Mapping[str, Any]) -> ImportOptions:
    """Return the options of a command or a queued import, which hold the options of the table, too."""
    names = {option.name for option in fields(TableOptions)}
    table = TableOptions(**{name: options[name] for name in names if name in options})
    others = {name: option for name, option in options.items() if name not in names}
    dates = options.get("dates")
    return ImportOptions(
        entity=entity, table=table, **others | {"dates": DateOrder(dates) if dates else None}
    )


@dataclass(slots=True)
class ImportSummary:
    """The result of an import; `warnings` counts the cells that were left out, changed or guessed.

    `countries` are those that the list suggests for its phone numbers, `dates` the orders of day and month
    that it shows. `conflicts` counts the rows that share an identifier with another person, and
    `conflict_lines` are the lines of the first of them.
    """

    layout: ColumnMapping
    format: ListFormat
    delimiter: str
    has_header: bool
    countries: ListCountries = UNKNOWN
    dates: DateOrders = field(default_factory=DateOrders)
    counts: Counter[str] = field(default_factory=Counter)
    warnings: CellWarnings = field(default_factory=CellWarnings)
    conflicts: int = 0
    conflict_lines: list[int] = field(default_factory=list)
    seconds: float = 0.0
    run_id: int | None = None

    @property
    def read(self) -> int:
        """Count the rows that were read."""
        return sum(self.counts[name] for name in COUNTS)

    def add(self, result: IngestResult) -> None:
        """Add the result of a batch."""
        self.counts += result.counts
        self.warnings.extend(result.warnings)
        self.conflicts += len(result.conflict_lines)
        free = MAX_CONFLICT_LINES - len(self.conflict_lines)
        self.conflict_lines += result.conflict_lines[:free]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where an import continues that was interrupted: after so many rows, with what was counted before.

    `save` stores the rows that are done, the counts and the warnings, in the transaction that writes a batch.
    """

    rows: int
    counts: Counter[str]
    warnings: CellWarnings
    save: Callable[[Session, int, Counter[str], CellWarnings], None]


class _DryRun(Exception):  # noqa: N818 -- not an error
    """Raised to roll back a dry run."""


def run(
    database: Database,
    options: ImportOptions,
    file: IO[bytes],
    *,
    rejects: Callable[[Sequence[str]], AbstractContextManager[RejectRow]],
    advance: Callable[[], None],
    checkpoint: Checkpoint | None = None,
) -> ImportSummary:
    """Import a list and return what was counted.

    `rejects(header)` opens the sink of refused rows; `advance()` is called after each batch. Batches commit
    on their own: after an error the same import can be run again, or continued with a checkpoint.

    Raises:
        InvalidValue: the file cannot be read as a list; the message says why and what to do.

    """
    check_mapping(options.mapped)
    with _rare_collection():
        table = read_table(
            file,
            lambda cells: map_columns(cells, options.entity, options.mapped).known_count,
            options.table,
        )
        try:
            return _import_rows(database, options, table, rejects, advance, checkpoint)
        finally:
            table.close()  # the caller closes its file


def _import_rows(  # noqa: PLR0917 -- the arguments of `run` and the table
    database: Database,
    options: ImportOptions,
    table: Table,
    rejects: Callable[[Sequence[str]], AbstractContextManager[RejectRow]],
    advance: Callable[[], None],
    checkpoint: Checkpoint | None,
) -> ImportSummary:
    sample = list(islice(table.rows, SAMPLE))
    readable = [row.cells for row in sample if row.fault is None]
    columns = _columns(table, options, readable)
    layout = columns.layout
    done = 0 if checkpoint is None else checkpoint.rows
    rows = islice(chain(sample, table.rows), done, None)
    summary = ImportSummary(layout, table.format, table.delimiter, table.has_header)
    summary.countries = list_countries(layout, readable)
    summary.dates = list_dates(layout, readable, now=clock.now(), given=options.dates)
    if checkpoint is not None:
        summary.counts += checkpoint.counts
        summary.warnings = checkpoint.warnings
    if not done:
        columns.warn(summary.warnings, sample)
    parser = _parser(database, options, summary)
    with rejects(layout.header) as reject:
        started = time.perf_counter()
        while batch := list(islice(rows, BATCH)):
            changed = _retried(partial(_without_unchanged, database, parser, batch))
            summary.counts["unchanged"] += len(batch) - len(changed)
            read = parser.parse_all(changed, reject)
            summary.counts["rejected"] += len(changed) - len(read)
            done += len(batch)
            save = None if checkpoint is None else partial(_save, checkpoint, summary, done)
            summary.add(_retried(partial(_write, database, options, summary, read, save)))
            advance()
        summary.seconds = time.perf_counter() - started
    return summary


def _parser(database: Database, options: ImportOptions, summary: ImportSummary) -> RowParser:
    now = clock.now()
    defaults = ImportDefaults(
        options.source, options.at or now, now, options.region, summary.countries, summary.dates
    )
    with database.reading() as session:
        keys = session.keys
    digester = digester_of(keys, summary.layout, defaults, options.at)
    return RowParser(summary.layout, defaults, summary.warnings, digester)


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Run the cyclic garbage collector rarely: a batch allocates much and makes no cycles (saves a fifth)."""
    thresholds = gc.get_threshold()
    gc.set_threshold(500_000, 10, 10)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _without_unchanged(database: Database, parser: RowParser, batch: Sequence[Row]) -> list[DigestedRow]:
    """Return the rows, with their digests, that have to be imported, or imported again."""
    rows = [(row, parser.digest(row)) for row in batch]
    digests = {digest for _, digest in rows if digest is not None}
    if not digests:
        return rows
    with database.reading() as session:
        unchanged = imported_rows.unchanged(session, digests)
    return [(row, digest) for row, digest in rows if digest not in unchanged]


def _retried(attempt: Callable[[], Result]) -> Result:
    """Return the result; try again while the database is unavailable."""
    for seconds in RETRY_DELAYS:
        try:
            return attempt()
        except Unavailable:
            time.sleep(seconds)
    return attempt()


def _save(
    checkpoint: Checkpoint, summary: ImportSummary, rows: int, session: Session, result: IngestResult
) -> None:
    checkpoint.save(session, rows, summary.counts + result.counts, summary.warnings.joined(result.warnings))


def _write(
    database: Database,
    options: ImportOptions,
    summary: ImportSummary,
    read: Sequence[Any],
    save: Callable[[Session, IngestResult], None] | None,
) -> IngestResult:
    """Write a batch in one transaction, with the checkpoint if there is one; return what was counted."""
    admit: Callable[..., IngestResult] = (
        ingest.ingest_contacts if options.entity is Entity.CONTACTS else ingest.ingest_companies
    )
    result = IngestResult()
    run_id = summary.run_id
    if not read and save is None:
        return result
    try:
        with database.transaction() as session:
            now = database_clock.value(session)
            result = admit(session, read, now=now) if read else result
            if options.dry_run:
                raise _DryRun  # noqa: TRY301 -- out of the transaction, not further
            if written := result.counts["new"] + result.counts["updated"]:
                run_id = run_id or import_runs.start(session, entity=options.entity.value, now=now).id
                import_runs.touch(session, run_id, rows=written, now=now)
            if save is not None:
                save(session, result)
    except _DryRun:
        return result
    summary.run_id = run_id
    return result


def _columns(table: Table, options: ImportOptions, rows: Sequence[Sequence[str]]) -> FittedColumns:
    columns = fit_columns(table.header, options.entity, rows, options.mapped, has_header=table.has_header)
    missing = [name for name in options.mapped if not columns.layout.has(name)]
    if missing:
        found = ", ".join(repr(name) for name in table.header)
        raise InvalidValue(
            Message(
                "The list has no column {name}. Columns found: {found}.", name=repr(missing[0]), found=found
            )
        )
    if not columns.layout.names_rows:
        raise InvalidValue(explain_unknown(table.header, options.entity))
    return columns
