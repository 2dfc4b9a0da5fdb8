"""Reads the file of an upload, and stores its rows in batches."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import select

from app.domain.errors import InvalidValue
from app.domain.lists import verified_rows
from app.domain.lists.files.csv_files import is_archive
from app.domain.lists.files.csv_records import MAX_ROW_LENGTH, Row
from app.domain.lists.files.tables import Table, TableOptions, read_table
from app.domain.lists.headers import upload_columns
from app.domain.messages import Figure, Message
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.uploads import erasure, result_files, row_store, uploads
from app.features.uploads.result_files import XLSX
from app.features.uploads.row_store import ReadTable
from app.features.uploads.tables import Operation, Upload
from app.features.uploads.turn import workbook_reader
from app.features.uploads.turn.workbook_reader import ReadingStopped
from app.infra.database import database_clock
from workers.execution import shutdown_flag
from workers.execution.worker_services import WorkerServices

BATCH = 500
MAX_COLUMNS = 300
MAX_UNPACKED = 10
"""How many times as large as the largest file a workbook may be when unpacked."""
MAX_TEXT = 3
"""How many times as large the text of its rows may be: many cells can share one text."""


def read(turn: Turn, services: WorkerServices) -> None:
    """Store the rows of the file and the proposed mapping, or why the file cannot be read."""
    with services.database.reading() as session:
        content = row_store.content(session, turn.id)
    if content is None:
        return
    try:
        _require_room(turn, services)
        _store(turn, services, content)
    except ReadingStopped:
        _hand_over(turn, services)
    except InvalidValue as error:
        with services.database.transaction() as session:
            row_store.fail_reading(session, turn, str(error))
            turns.end(session, turn)


def _require_room(turn: Turn, services: WorkerServices) -> None:
    """Raise InvalidValue if there is no room; the rows of earlier files may take more than the files did."""
    with services.database.reading() as session:
        workspace_id = session.scalars(select(Upload.workspace_id).where(Upload.id == turn.id)).one()
        if uploads.is_full(session, workspace_id):
            raise InvalidValue(uploads.NO_ROOM)


def _store(turn: Turn, services: WorkerServices, content: bytes) -> None:
    with services.database.reading() as session:
        operation = row_store.operation(session, turn.id)
    table = _table(turn, services, content)
    try:
        _check_header(table.header)
        batches = _batches(table.rows)
        first = next(batches)
        read = _read_table(table, first, operation)
        count = 0
        for rows in chain([first], batches):
            if count + len(rows) > services.settings.upload_max_rows:
                limit = services.settings.upload_max_rows
                raise InvalidValue(
                    Message(
                        "The list has more than {max} rows. Split it into several files.", max=Figure(limit)
                    )
                )
            _add(turn, services, read, count, rows)
            count += len(rows)
            if shutdown_flag.has_begun():
                _hand_over(turn, services)
                return
        read.format.update(_written(table))
        with services.database.transaction() as session:
            row_store.finish_reading(session, turn, read, count, now=database_clock.now())
    finally:
        table.close()


def _add(turn: Turn, services: WorkerServices, read: ReadTable, first: int, rows: Sequence[Row]) -> None:
    """Store rows; what they mention is searched before the transaction that stores them."""
    with services.database.reading() as session:
        is_searched = erasure.is_needed(session)
    mentions = erasure.mentioned_in(row.cells for row in rows) if is_searched else None
    with services.database.transaction() as session:
        now = database_clock.now()
        row_store.add(session, turn, read, first, rows, mentions=mentions, now=now)


def _read_table(table: Table, first: Sequence[Row], operation: Operation) -> ReadTable:
    cells = [row.cells for row in first if row.fault is None]
    columns = upload_columns.propose(table.header, cells, has_header=table.has_header)
    if operation is Operation.VERIFY:
        columns = verified_rows.proposed(columns)
    found = {
        "encoding": table.format.encoding,
        "is_guessed": table.format.is_guessed,
        "other_encoding": table.format.other_encoding,
        "delimiter": table.delimiter or None,
        "has_header": table.has_header,
        "sheet": table.format.sheet,
        "unread_sheets": list(table.format.unread_sheets),
        "unsolved_formulas": table.format.unsolved_formulas,
    }
    return ReadTable(table.header, columns, table.delimiter or ",", found, operation)


def _written(table: Table) -> dict[str, Any]:
    """Return how the file was written, as far as its result is written likewise (see `result_files`)."""
    if table.format.encoding != XLSX:
        return {result_files.SEPARATOR_LINE: table.names_delimiter}
    of_one = {index: next(iter(kinds)) for index, kinds in table.cell_kinds.items() if len(kinds) == 1}
    return {result_files.CELL_KINDS: [of_one.get(index, "text") for index in range(len(table.header))]}


def _table(turn: Turn, services: WorkerServices, content: bytes) -> Table:
    """Return the table of the file; the lease is renewed while a workbook is unpacked."""
    file = io.BytesIO(content)
    with services.database.reading() as session:
        options = TableOptions(**row_store.content_options(session, turn.id))
    if not is_archive(file):
        return read_table(file, upload_columns.count_known, options)

    def renew() -> bool:
        with services.database.transaction() as session:
            turns.renew(session, turn, now=database_clock.now())
        return not shutdown_flag.has_begun()

    settings = services.settings
    return workbook_reader.read_workbook(
        content,
        max_unpacked=MAX_UNPACKED * settings.upload_max_mb << 20,
        max_text=MAX_TEXT * settings.upload_max_mb << 20,
        max_rows=settings.upload_max_rows,
        has_header=options.has_header,
        is_wanted=renew,
    )


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield rows in batches that are stored well within the lease, however long their cells are."""
    batch: list[Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += sum(map(len, row.cells))
        if len(batch) >= BATCH or characters > row_store.MAX_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _hand_over(turn: Turn, services: WorkerServices) -> None:
    """Release the upload for another worker at once, because this process is shutting down."""
    with services.database.transaction() as session:
        turns.end(session, turn, due_at=database_clock.now())


def _check_header(header: Sequence[str]) -> None:
    if len(header) > MAX_COLUMNS:
        raise InvalidValue(
            Message(
                "The list has more than {max} columns. Delete those that are not needed.", max=MAX_COLUMNS
            )
        )
    if sum(map(len, header)) > MAX_ROW_LENGTH:  # one merged cell above the header names many columns
        raise InvalidValue(
            Message(
                "The header has more than {max} characters. Shorten its names.", max=Figure(MAX_ROW_LENGTH)
            )
        )
