"""Whom a row of an uploaded list names, by the mapping of the list and by what its other rows have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.cells.list_countries import list_countries
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.messages import Message
from app.domain.records.subjects import Subject
from app.features.uploads import uploads
from app.features.uploads.tables import Upload, UploadRow
from app.infra.telemetry.log import log

SOURCE = "upload"
NOT_READ = Message("The service failed to read this row. Ask your operator to find the cause in the log.")


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads whom a row names, by the mapping of its upload.

    `shared` are the identifiers that several people of the list have; `warnings` says what was
    not understood.
    """

    workspace_id: str
    fields: tuple[str, ...]
    layout: ColumnMapping
    defaults: ImportDefaults
    shared: frozenset[str]
    warnings: CellWarnings

    @classmethod
    def of(cls, upload: Upload, sample: Sequence[Sequence[str]], *, now: datetime) -> RowReader:
        """Return the reader of an upload; `sample` are rows that show what the rows of the list share.

        A row that cannot be read, because of an error of this program, must not cost the others.
        """
        try:
            return cls._of(upload, sample, now)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is in one of the rows
            log.error("sample of an upload not read", upload=upload.id, exc_info=error)
            return cls._of(upload, [cells for cells in sample if cls._can_read(upload, cells, now)], now)

    @classmethod
    def _can_read(cls, upload: Upload, cells: Sequence[str], now: datetime) -> bool:
        try:
            cls._of(upload, [cells], now)
        except Exception:  # noqa: BLE001 -- as in `of`, which logs it
            return False
        return True

    @classmethod
    def _of(cls, upload: Upload, sample: Sequence[Sequence[str]], now: datetime) -> RowReader:
        layout = upload_columns.layout_of(upload.columns, upload.header)
        countries = list_countries(layout, sample)
        defaults = ImportDefaults(SOURCE, now, now, uploads.country_of(upload), countries)
        shared = upload_columns.shared_in(sample, layout, defaults)
        warnings = CellWarnings.from_json(upload.warnings)
        return cls(upload.workspace_id, tuple(upload.fields), layout, defaults, shared, warnings)

    @property
    def phones_read_as(self) -> str | None:
        """Return the country of national numbers that the list shows, unless the member named one."""
        return None if self.defaults.region else self.defaults.countries.majority

    def subject(self, row: UploadRow) -> Subject | str | None:
        """Return the person of the row, why it identifies none, or None if it has a fault or is erased."""
        if not row.is_readable or is_erased(row):
            return None
        try:
            values = RowValues(self.layout, row.cells, self.defaults, self.warnings, row.line)
            return upload_columns.subject_of(values, self.layout, self.shared)
        except InvalidValue as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 -- the others are read
            log.error("row of an upload not read", upload=row.upload_id, row=row.number + 1, exc_info=error)
            return NOT_READ


def is_erased(row: UploadRow) -> bool:
    """Return whether the person of the row was erased: a row of the file has cells."""
    return row.is_readable and not row.cells
