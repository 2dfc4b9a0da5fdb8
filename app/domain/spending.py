"""Spending limits: their periods, and how much of one is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

EVER = (datetime.fromtimestamp(0, UTC), datetime(9999, 12, 31, tzinfo=UTC))
"""The bounds of the only period of a spending cap."""
DECEMBER = 12


class Period(StrEnum):
    """The time over which a limit counts: a calendar month (UTC), or all time."""

    MONTH = "month"
    TOTAL = "total"

    def bounds(self, at: datetime) -> tuple[datetime, datetime]:
        """Return the start and the end of the period that contains this time; the end is exclusive."""
        if self is Period.TOTAL:
            return EVER
        start = at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        if start.month == DECEMBER:
            return start, start.replace(year=start.year + 1, month=1)
        return start, start.replace(month=start.month + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUsage:
    """A limit of an account or API key, and the credits that are held and spent in one of its periods."""

    subject: Literal["account", "key"]
    subject_id: str
    period: Period
    credits: int
    held: int
    spent: int
    resets_at: datetime | None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LimitUsage:
        """Return the limit that `as_dict` represented."""
        resets_at = values["resets_at"]
        return cls(
            subject=values["subject"],
            subject_id=values["id"],
            period=Period(values["period"]),
            credits=values["credits"],
            held=values["held"],
            spent=values["spent"],
            resets_at=resets_at and datetime.fromisoformat(resets_at),
        )

    @property
    def used(self) -> int:
        """Return the credits that count against the limit."""
        return self.held + self.spent

    @property
    def left(self) -> int:
        """Return the credits that the limit still allows."""
        return max(0, self.credits - self.used)

    def as_dict(self) -> dict[str, Any]:
        """Return the limit as responses name it."""
        resets_at = self.resets_at and self.resets_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "subject": self.subject,
            "id": self.subject_id,
            "period": self.period.value,
            "credits": self.credits,
            "held": self.held,
            "spent": self.spent,
            "left": self.left,
            "resets_at": resets_at,
        }
