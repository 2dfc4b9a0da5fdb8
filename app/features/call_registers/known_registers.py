"""The registers whose names, countries, formats and ages are known; operators may load others.

`max_age_days` is how long a copy may be used for calls. The sources of these facts are in
docs/call-registers.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    """How the files of a register are written.

    `numbers` has a number per line, `area_codes` an area code and a number. `table` is a CSV file with a
    header. `washed` is what a register returns of a list: the numbers that may be called.
    """

    NUMBERS = "numbers"
    AREA_CODES = "area_codes"
    TABLE = "table"
    WASHED = "washed"

    @property
    def is_complete(self) -> bool:
        """Return whether a number that is not in the files is not registered."""
        return self in {Format.NUMBERS, Format.AREA_CODES}


@dataclass(frozen=True, slots=True)
class KnownRegister:
    """A register: its name, the country of its numbers, how its files are written, and its age limit."""

    id: str
    name: str
    country: str
    format: Format
    max_age_days: int


KNOWN = {
    register.id: register
    for register in (
        KnownRegister("uk-tps", "TPS", "GB", Format.NUMBERS, 28),
        KnownRegister("uk-ctps", "CTPS", "GB", Format.NUMBERS, 28),
        KnownRegister("us-dnc", "National Do Not Call Registry", "US", Format.AREA_CODES, 31),
        KnownRegister("ca-dncl", "National DNCL", "CA", Format.AREA_CODES, 31),
        KnownRegister("fr-bloctel", "Bloctel", "FR", Format.WASHED, 30),
        KnownRegister("au-dncr", "Do Not Call Register", "AU", Format.TABLE, 30),
    )
}
