"""The rows of a result: as they are stored, and as they are given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from app.domain.messages import Message
from app.features.uploads.tables import UploadStatus

COLUMNS = (
    "Found email",
    "Found email status",
    "Found phone",
    "Result",
    "Result credits",
    "Result sources",
    "Result receipt",
    "Found phone do not call",
    "Found email reported",
    "Found phone reported",
    "Result note",
)
"""The columns that a result adds to the columns of the file."""
STATUS_NOTES = {
    UploadStatus.CANCELED.value: Message("The upload was canceled before this row was finished."),
    UploadStatus.PAUSED.value: Message("The upload is paused before this row is finished."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A row with its result. `outcome` is the outcome for the person, or invalid, failed or pending.

    `receipt` is the id of the job that resolved it; its trace lists the provider calls. In a list to verify
    the outcome is the verdict, or unreadable; only its rows have the fields after `note`.
    """

    number: int
    line: int
    cells: tuple[str, ...]
    outcome: str
    email: str | None = None
    email_status: str | None = None
    phone: str | None = None
    phone_do_not_call: str | None = None
    email_reported: str | None = None
    phone_reported: str | None = None
    credits: int | None = 0
    sources: tuple[str, ...] = ()
    receipt: str | None = None
    note: str | None = None
    email_reasons: tuple[str, ...] = ()
    phone_status: str | None = None
    phone_country: str | None = None
    phone_line_type: str | None = None
    checked_on: str | None = None

    def own(self, width: int) -> list[str]:
        """Return the cells of the file, as many as the header has."""
        return [*self.cells[:width], *[""] * (width - len(self.cells))]

    @property
    def added(self) -> list[str | int]:
        """Return the cells of `COLUMNS`; what it cost is empty if the reader may not see it."""
        found = (self.email or "", self.email_status or "", self.phone or "", self.outcome)
        return [
            *found,
            "" if self.credits is None else self.credits,
            ", ".join(self.sources),
            self.receipt or "",
            self.phone_do_not_call or "",
            self.email_reported or "",
            self.phone_reported or "",
            self.note or "",
        ]


class StoredRow(NamedTuple):
    """A row with the job and the item of its person, null without one."""

    number: int
    line: int
    cells: list[str]
    fault: str | None
    duplicate_of: int | None
    subject: dict[str, Any] | None
    charged_before: int
    is_pending: bool
    job_id: str | None
    finished_at: datetime | None
    outcome: str | None
    result: dict[str, Any] | None
    request: dict[str, Any] | None
    error: dict[str, Any] | None
    charged: int | None


def do_not_call(phone: Mapping[str, Any]) -> str | None:
    """Return the registers that have the number, with their dates; `yes` if only its source says so."""
    if not phone.get("do_not_call"):
        return None
    listed = [one for one in phone.get("call_registers", ()) if one["listed"]]
    return ", ".join(f"{one['name']} of {one['date'][:10]}" for one in listed) or "yes"
