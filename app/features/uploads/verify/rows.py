"""Reads what the rows of an upload have to verify, with the country of its national numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.cells.list_countries import list_countries
from app.domain.lists.headers import upload_columns
from app.domain.lists.verified_rows import VerifiedRow, read_row
from app.features.uploads import uploads
from app.features.uploads.row_reader import is_erased
from app.features.uploads.tables import Upload, UploadRow


@dataclass(frozen=True, slots=True)
class VerifiedRowReader:
    """Reads the rows of an upload; `majority` is the country that the list shows for national numbers."""

    upload_id: str
    workspace_id: str
    is_fresh: bool
    columns: tuple[str | None, ...]
    country: str | None
    majority: str | None
    warnings: CellWarnings

    @classmethod
    def of(cls, upload: Upload, sample: Sequence[Sequence[str]]) -> VerifiedRowReader:
        """Return the reader of an upload; `sample` are rows that show the country of its numbers."""
        layout = upload_columns.layout_of(upload.columns, upload.header)
        return cls(
            upload.id,
            upload.workspace_id,
            upload.is_fresh,
            tuple(upload.columns),
            uploads.country_of(upload),
            list_countries(layout, sample).majority,
            CellWarnings(),
        )

    @property
    def phones_read_as(self) -> str | None:
        """Return the country of national numbers that the list shows, unless the member named one."""
        return None if self.country else self.majority

    def read(self, row: UploadRow) -> VerifiedRow | None:
        """Return what the row has to verify, or None if it has a fault or is erased."""
        if not row.is_readable or is_erased(row):
            return None
        return read_row(row.cells, self.columns, self.country or self.majority)
