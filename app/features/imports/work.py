"""Runs queued imports: finds lists in the import folder, and imports one after the other in turns.

A turn ends after two minutes or when the worker shuts down, so that other maintenance is not kept waiting.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from functools import partial

from app.domain.errors import InvalidValue
from app.domain.lists.files.csv_files import is_archive
from app.domain.lists.headers.column_mapping import Entity
from app.engine.lists import importer
from app.engine.lists.importer import ImportOptions
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.imports import import_folder, queued_imports
from app.features.imports.import_folder import DONE, FileUnusableError, FoundFile, ImportFolder
from app.features.imports.queued_imports import IMPORTING
from app.features.imports.tables import QueuedImport
from app.features.imports.turn import ImportPausedError, ImportTurn
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution import shutdown_flag, work
from workers.execution.feature import Purge, WorkPart
from workers.execution.worker_services import WorkerServices

TURN_SECONDS = 120.0


def has_folder(services: WorkerServices) -> bool:
    """Return whether this host has the import folder; the workers of the others leave the work to it."""
    return bool(services.settings.import_folder)


def run_turn(turn: Turn, services: WorkerServices) -> None:
    """Import rows of a list for some time, or end the import if its attempts are used up."""
    with import_folder.opened(services.settings.import_folder) as folder:
        with services.database.transaction() as session:
            queued = queued_imports.start(session, turn, now=database_clock.now())
        if queued is not None:
            _run(services, folder, turn, queued, time.monotonic() + TURN_SECONDS)


run_import = work.task(IMPORTING, is_able=has_folder, on_exhausted=run_turn)(run_turn)


def discover(services: WorkerServices) -> None:
    """Look for new lists in the folder."""
    path = services.settings.import_folder
    if not path:
        return
    try:
        with import_folder.opened(path) as folder:
            files = folder.files()
    except OSError as error:
        log.error("import folder cannot be used", folder=path, reason=error.strerror)
        return
    with services.database.reading() as session:
        is_new = queued_imports.needs_discovery(session, files)
    if is_new:
        with services.database.transaction() as session:
            queued_imports.discover(session, files, now=database_clock.now())


def _run(
    services: WorkerServices, folder: ImportFolder, turn: Turn, queued: QueuedImport, until: float
) -> None:
    importing = ImportTurn(services.database, folder, turn, queued, lambda: _is_over(until))
    place = folder.place_of(importing.processed_name)
    if place is not None:  # a worker was killed after it had moved the file
        importing.complete(place, None if place == DONE else "The report beside the file says why.")
        return
    if turn.is_exhausted:
        importing.abandon(_failure(queued))
        return
    detail = None
    try:
        _import(importing, folder, queued)
    except ImportPausedError:
        _pause(services, turn, queued)
        return
    except (InvalidValue, FileUnusableError) as error:
        detail = str(error)
    importing.finish(detail or importing.fault())


def _import(turn: ImportTurn, folder: ImportFolder, queued: QueuedImport) -> None:
    """Import the rest of the file."""
    expected = FoundFile(queued.file, queued.size, queued.modified)
    with folder.open(expected) as file:
        if is_archive(file):
            raise InvalidValue("Workbooks are not imported from the folder. Save the list as CSV.")
        turn.run(_options(queued), file)
        if not import_folder.is_unchanged(file, expected):
            raise FileUnusableError("The file was changed while it was imported. Put it there again.")


def _failure(queued: QueuedImport) -> str:
    attempts, done = IMPORTING.max_attempts, queued.rows_done
    return (
        f"The import failed {attempts} times after row {done:,} and was ended. The rows up to it are "
        f"imported. The cause is in one of the next {importer.BATCH:,} rows, or in the log of the worker."
    )


def _pause(services: WorkerServices, turn: Turn, queued: QueuedImport) -> None:
    """End the turn; the import keeps its place before those that were added later."""
    with services.database.transaction() as session:
        turns.retry(session, turn, due_at=queued.created_at)
    log.info("import paused until its next turn", queued_import=queued.id)


def _options(queued: QueuedImport) -> ImportOptions:
    given = dict(queued.options)
    at = given.pop("at", None)
    dated = {"at": None if at is None else datetime.fromisoformat(at)}
    return importer.options_of(Entity(queued.entity), given | dated)


def _is_over(until: float) -> bool:
    return shutdown_flag.has_begun() or time.monotonic() >= until


def _purges(settings: Settings, now: Moment) -> tuple[Purge, ...]:
    before = now - timedelta(days=settings.job_retention_days)
    return (partial(queued_imports.purge_expired, before=before),)


WORK = WorkPart(sweeps=(discover,), purges=_purges)
