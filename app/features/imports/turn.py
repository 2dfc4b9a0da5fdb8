"""One turn of a worker at a queued import: rows, rejected rows, progress, and what is left in the folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.files.csv_lines import csv_line
from app.domain.lists.files.csv_records import Row
from app.engine.lists import importer
from app.engine.lists.importer import Checkpoint, ImportOptions
from app.engine.work.turns import Turn
from app.features.imports import import_folder, queued_imports
from app.features.imports.import_folder import DONE, REJECTED, ImportFolder, Place
from app.features.imports.queued_imports import Progress
from app.features.imports.tables import QueuedImport
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.telemetry.log import log


class ImportPausedError(Exception):
    """The turn is over; the rows after the last batch wait for the next one."""


class ImportTurn:
    """Continues an import after the rows that are done; `is_over` is asked after each batch."""

    def __init__(
        self,
        database: Database,
        folder: ImportFolder,
        turn: Turn,
        queued: QueuedImport,
        is_over: Callable[[], bool],
    ) -> None:
        self._database, self._folder, self._is_over = database, folder, is_over
        self._turn, self._queued = turn, queued
        self._rejects_name = f"{queued.id}.csv"
        self._rejects: IO[bytes] | None = None
        self._file: IO[bytes] | None = None
        self._counts: Counter[str] = Counter(queued.result.get("counts", {}))
        self._warnings = CellWarnings.from_json(queued.result.get("warnings", []))

    def run(self, options: ImportOptions, file: IO[bytes]) -> None:
        """Import the rest of the file.

        Raises:
            ImportPausedError: the turn is over, and rows are left.
            LeaseLost: another worker has the turn.
            InvalidValue: the file is not a list.

        """
        self._file = file
        importer.run(
            self._database,
            options,
            file,
            rejects=self._open_rejects,
            advance=self._advance,
            checkpoint=Checkpoint(self._queued.rows_done, self._counts, self._warnings, self._save),
        )

    def fault(self) -> str | None:
        """Return why the whole list counts as rejected: no row of it could be read."""
        counts = self._counts
        is_unreadable = counts["rejected"] == counts.total() > 0
        return "No row could be read. The file of rejected rows says why." if is_unreadable else None

    def finish(self, detail: str | None) -> None:
        """End the import, and move its file with a report to `done` or `rejected`."""
        name = self.processed_name
        place = DONE if detail is None else REJECTED
        report = {"file": self._queued.file, "detail": detail, **self._result()}
        self._folder.write(place, f"{name}.report.json", f"{json.dumps(report, indent=1)}\n".encode())
        self._folder.move(self._queued.file, place, name)
        self.complete(place, detail)
        counts = {f"rows_{count}": number for count, number in self._counts.items()}
        log.info("import ended", queued_import=self._queued.id, place=place, **counts)

    def abandon(self, detail: str) -> None:
        """End the import as rejected; the rejected rows of the batch that was not stored are removed."""
        self._folder.cut(self._rejects_name, self._queued.rejects_bytes)
        self.finish(detail)

    def complete(self, place: Place, detail: str | None) -> None:
        """End the import, whose file was moved to `place`; nothing opens the rejected rows again."""
        self._folder.publish(self._rejects_name, place, f"{self.processed_name}.rejected.csv")
        with self._database.transaction() as session:
            queued_imports.finish(session, self._turn, detail, now=database_clock.now())

    @property
    def processed_name(self) -> str:
        """Return the name of the file once it is processed, which no other import has."""
        return f"{self._queued.id}-{import_folder.shortened(self._queued.file)}"

    @contextmanager
    def _open_rejects(self, header: Sequence[str]) -> Iterator[Callable[[Row, str], None]]:
        length = self._queued.rejects_bytes
        with self._folder.continued(self._rejects_name, length) as file:
            self._rejects = file
            if not length:
                _write(file, ["line", "reason", *header])
            yield lambda row, reason: _write(file, [row.line, reason, *row.cells])

    def _advance(self) -> None:
        if self._is_over():
            raise ImportPausedError

    def _save(self, session: Session, rows: int, counts: Counter[str], warnings: CellWarnings) -> None:
        """Store the state after a batch in the transaction that writes it."""
        if self._rejects is None or self._file is None:  # the importer has opened both
            raise RuntimeError("The import has not begun.")
        self._counts, self._warnings = counts, warnings
        self._rejects.flush()
        progress = Progress(
            rows_done=rows,
            bytes_done=self._file.tell(),
            rejects_bytes=self._rejects.tell(),
            result=self._result(),
        )
        queued_imports.store_progress(session, self._turn, progress, now=database_clock.now())

    def _result(self) -> dict[str, Any]:
        return {"counts": dict(self._counts), "warnings": self._warnings.to_json()}


def _write(file: IO[bytes], cells: Sequence[object]) -> None:
    file.write(csv_line(cells).encode())
