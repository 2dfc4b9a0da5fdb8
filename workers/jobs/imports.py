"""Runs queued imports: finds lists in the import folder, and imports one after the other in turns.

A turn ends after two minutes or when the worker shuts down, so that other maintenance is not kept waiting.
"""

from __future__ import annotations

import time
from datetime import datetime

from app.domain.errors import InvalidValue
from app.domain.kinds import RUN_IMPORT, Queue
from app.domain.lists.files.csv_files import is_archive
from app.domain.lists.headers.column_mapping import Entity
from app.engine.lists import importer, queued_imports
from app.engine.lists.importer import ImportOptions
from app.engine.lists.queued_imports import ImportLeaseLostError, QueuedImport
from app.infra import import_folder
from app.infra.database import database_clock
from app.infra.import_folder import DONE, FileUnusableError, FoundFile, ImportFolder
from app.infra.telemetry.log import log
from workers.execution import due_messages, maintenance, shutdown_flag
from workers.execution.worker_services import WorkerServices
from workers.jobs.import_turn import ImportPausedError, ImportTurn

TURN_SECONDS = 120.0


@maintenance.task(RUN_IMPORT)
def run_import(import_id: str, services: WorkerServices) -> None:
    """Continue one import; another worker does after the lease if it fails."""
    run_turn(import_id, services)


def run_turn(import_id: str, services: WorkerServices, *, seconds: float = TURN_SECONDS) -> None:
    """Import rows of a list for some time; does nothing if it is not due or this host lacks the folder.

    Raises:
        OSError: the folder cannot be used.

    """
    if not services.settings.import_folder:
        return
    with import_folder.opened(services.settings.import_folder) as folder:
        with services.database.transaction() as session:
            queued = queued_imports.begin(session, import_id, now=database_clock.now())
        if queued is not None:
            _run(services, folder, queued, time.monotonic() + seconds)


def send_due(services: WorkerServices) -> None:
    """Look for new lists in the folder, and publish the import whose turn it is."""
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
    if due_messages.is_full(services):
        return
    with services.database.transaction() as session:
        import_id = queued_imports.claim_due(session, now=database_clock.now())
    if import_id is not None:
        services.publisher.push(RUN_IMPORT, Queue.UPKEEP, [import_id])


def _run(services: WorkerServices, folder: ImportFolder, queued: QueuedImport, until: float) -> None:
    turn = ImportTurn(services.database, folder, queued, lambda: _is_over(until))
    place = folder.place_of(turn.processed_name)
    if place is not None:  # a worker was killed after it had moved the file
        turn.complete(place, None if place == DONE else "The report beside the file says why.")
        return
    if queued.is_exhausted:
        turn.abandon(_failure(queued))
        return
    detail = None
    try:
        _import(turn, folder, queued)
    except ImportPausedError:
        _pause(services, queued)
        return
    except ImportLeaseLostError:
        log.warning("import continued by another worker", queued_import=queued.id)
        return
    except (InvalidValue, FileUnusableError) as error:
        detail = str(error)
    turn.finish(detail or turn.fault())


def _import(turn: ImportTurn, folder: ImportFolder, queued: QueuedImport) -> None:
    """Import the rest of the file.

    Raises:
        InvalidValue: it is not a list.
        FileUnusableError: it is missing, or was changed.
        ImportPausedError, ImportLeaseLostError: as in `ImportTurn.run`.

    """
    expected = FoundFile(queued.file, queued.size, queued.modified)
    with folder.open(expected) as file:
        if is_archive(file):
            raise InvalidValue("Workbooks are not imported from the folder. Save the list as CSV.")
        turn.run(_options(queued), file)
        if not import_folder.is_unchanged(file, expected):
            raise FileUnusableError("The file was changed while it was imported. Put it there again.")


def _failure(queued: QueuedImport) -> str:
    attempts, done = queued_imports.MAX_ATTEMPTS, queued.rows_done
    return (
        f"The import failed {attempts} times after row {done:,} and was ended. The rows up to it are "
        f"imported. The cause is in one of the next {importer.BATCH:,} rows, or in the log of the worker."
    )


def _pause(services: WorkerServices, queued: QueuedImport) -> None:
    with services.database.transaction() as session:
        queued_imports.pause(session, queued, now=database_clock.now())
    log.info("import paused until its next turn", queued_import=queued.id)


def _options(queued: QueuedImport) -> ImportOptions:
    given = dict(queued.options)
    at = given.pop("at", None)
    dated = {"at": None if at is None else datetime.fromisoformat(at)}
    return importer.options_of(Entity(queued.entity), given | dated)


def _is_over(until: float) -> bool:
    return shutdown_flag.has_begun() or time.monotonic() >= until
