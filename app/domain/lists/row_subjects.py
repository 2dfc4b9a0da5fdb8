"""The cells of an uploaded row that identify its subject; the others may mention other people."""

from __future__ import annotations

from collections.abc import Sequence

_IDENTIFYING = frozenset(
    {"linkedin_url", "email", "work_email", "personal_email", "mobile_phone", "direct_phone"}
)


def subject_positions(cells: Sequence[str], columns: Sequence[str | None]) -> list[int]:
    """Return the positions of the cells that identify the subject; `columns` are the fields of the columns.

    A phone number of unknown use counts only if no other cell identifies the subject: it may be shared.
    """
    filled = [
        (position, field)
        for position, (cell, field) in enumerate(zip(cells, columns, strict=False))
        if cell.strip()
    ]
    exact = [position for position, field in filled if field in _IDENTIFYING]
    return exact or [position for position, field in filled if field == "phone"]
