from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "1899-12-30",  # zero in Excel
        "01/01/0001 00:00:00",  # zero in .NET
        "0001-01-01",
        "1970-01-01",  # zero in Unix
        "1970-01-01T00:00:00Z",
        "1900-01-01",  # zero in SQL Server
        "1405/12/13",  # in the Persian calendar
    ],
)
def test_the_zero_of_a_program_and_another_calendar_date_no_row(text: str) -> None:
    layout = map_columns(["email", "last verified"], Entity.CONTACTS)
    values = RowValues(layout, ["ada@acme.example", text], ImportDefaults("l", NOW, NOW), CellWarnings(), 2)

    found = person_of(values, layout).found

    assert (found.emails[0].verified_at, found.source.at) == (None, NOW)
    assert values.warnings.counts == {WarningKey("email_verified_at", 1, "invalid"): 1}
