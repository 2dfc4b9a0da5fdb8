"""Reads the files of address books: their people are stored in batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from app.domain.errors import InvalidValue
from app.domain.lists.files.csv_records import Row
from app.domain.messages import Figure, Message
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.address_books import books, contact_files, readings
from app.features.address_books.readings import Unread
from app.infra import clock
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import shutdown_flag, work
from workers.execution.feature import WorkPart
from workers.execution.worker_services import WorkerServices

BATCH = 500
MAX_CHARACTERS = 1 << 20
"""The length of the cells that are read at once, so that it takes a part of the lease."""


def give_up(turn: Turn, services: WorkerServices) -> None:
    """End the reading of a file at which every worker fails."""
    with services.database.transaction() as session:
        readings.fail(session, turn, readings.GIVEN_UP, now=database_clock.now())
        turns.fail(session, turn, readings.PROCESSING_FAILED, now=database_clock.now())


@work.task(books.READING, on_exhausted=give_up)
def read_address_book(turn: Turn, services: WorkerServices) -> None:
    """Store the people of the file, or why it cannot be read."""
    with services.database.reading() as session:
        file = readings.unread(session, turn.id)
    if file is None:
        return
    try:
        is_over = _store(turn, services, file)
    except InvalidValue as error:
        with services.database.transaction() as session:
            readings.fail(session, turn, str(error), now=database_clock.now())
            turns.end(session, turn)
        return
    with services.database.transaction() as session:
        if is_over:
            readings.finish(session, turn, now=database_clock.now())
        else:  # this process is shutting down; another one goes on at once
            turns.end(session, turn, due_at=database_clock.now())
    log.info("address book read", book=turn.id, finished=is_over)


def _store(turn: Turn, services: WorkerServices, file: Unread) -> bool:
    """Store the people of the rows that are not done; return whether all are."""
    max_rows, done = services.settings.upload_max_rows, file.rows_read
    contacts = contact_files.read(file.content, country=file.country, now=clock.now())
    for rows in _batches(islice(contacts.rows, done, None)):
        if done + len(rows) > max_rows:
            raise InvalidValue(
                Message(
                    "The file has more than {max} contacts. Split it into several books.",
                    max=Figure(max_rows),
                )
            )
        found = [person for row in rows if (person := contacts.person(row))]
        with services.database.transaction() as session:
            readings.store(session, turn, found, len(rows), now=database_clock.now())
        done += len(rows)
        if shutdown_flag.has_begun():
            return False
    return True


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield rows in batches that are stored well within the lease, however long their cells are."""
    batch: list[Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += sum(map(len, row.cells))
        if len(batch) >= BATCH or characters > MAX_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


WORK = WorkPart()
