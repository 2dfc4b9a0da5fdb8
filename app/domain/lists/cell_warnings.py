"""What was not understood in the cells of a list: counts by column and code, and the first lines of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self

MAX_LINES = 3
"""The lines that are kept as examples of each warning."""
INVALID = "invalid"
NO_COUNTRY = "no_country"
NOT_A_PROFILE = "not_a_profile"
PROFILE_URL = "profile_url"
WEAK_PROFILE = "weak_profile"
SHARED_PROFILE = "shared_profile"
SHARED_ADDRESS = "shared_address"
SHARED_NUMBER = "shared_number"
SHARED_IN_LIST = "shared_in_list"
NAMESAKE = "namesake"
TAKEN_DOMAIN = "taken_domain"
CONFLICT_FIELDS = {
    SHARED_PROFILE: "linkedin_url",
    WEAK_PROFILE: "linkedin_url",
    SHARED_ADDRESS: "email",
    SHARED_NUMBER: "phone",
    NAMESAKE: "full_name",
    TAKEN_DOMAIN: "company_domain",
}
"""The codes of rows that share an identifier with another person or company, and the field of it."""
AMBIGUOUS_PLACE = "ambiguous_place"
NO_EMPLOYER = "no_employer"
SEVERAL_DOMAINS = "several_domains"
SHARED_HOST = "shared_host"
CUT_NUMBER = "cut_number"
NOT_ASSIGNED = "not_assigned"
READ_AS_FOREIGN = "read_as_foreign"
MAYBE_FOREIGN = "maybe_foreign"
UNREAD_FLAG = "unread_flag"
OPTED_OUT = "opted_out"


class Effect(StrEnum):
    """What happened to a cell that was not read as it is written."""

    LEFT_OUT = "left_out"
    CHANGED = "changed"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class WarningKind:
    """What a code says of the cells, and what decides otherwise; no text contains a value."""

    effect: Effect
    text: str
    option: str = ""


KINDS: Mapping[str, WarningKind] = {
    INVALID: WarningKind(Effect.LEFT_OUT, "These values could not be read."),
    NOT_A_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These are words or handles, not profiles, and are not written from the name in their row.",
        "Write the URL of each profile.",
    ),
    PROFILE_URL: WarningKind(
        Effect.LEFT_OUT,
        "These URLs do not show whose profile they are.",
        "Open each one and write the URL that the browser then shows.",
    ),
    WEAK_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These handles may be the profiles of other people, so they were left out.",
        "Write the URL of each profile.",
    ),
    NO_COUNTRY: WarningKind(
        Effect.LEFT_OUT,
        "Neither the row nor the list shows the country of these numbers.",
        "Name the country of numbers without a country code.",
    ),
    SHARED_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These rows have the profile of a person with another name. It identifies neither.",
    ),
    SHARED_IN_LIST: WarningKind(
        Effect.LEFT_OUT,
        "These rows share a profile, an address or a number with people of other names in the list, so it "
        "identifies none of them.",
    ),
    SHARED_ADDRESS: WarningKind(
        Effect.GUESSED,
        "These rows have the e-mail address of a person with another name. Both people are stored with it.",
    ),
    SHARED_NUMBER: WarningKind(
        Effect.GUESSED,
        "These rows have only a phone number, and several people have it. They are stored as further people.",
    ),
    NAMESAKE: WarningKind(
        Effect.GUESSED,
        "These rows have the name and the company of a person with another address or number. They are "
        "stored as people of their own.",
        "If they are one person, add the LinkedIn profile or the known address to the row.",
    ),
    AMBIGUOUS_PLACE: WarningKind(
        Effect.LEFT_OUT,
        "These places may be in several countries, such as Canada and California, so none was stored.",
        "Add a column with the country.",
    ),
    NO_EMPLOYER: WarningKind(
        Effect.LEFT_OUT, "These words, such as Freelance or Confidential, name no employer."
    ),
    SEVERAL_DOMAINS: WarningKind(Effect.CHANGED, "Of several domains the first is used."),
    SHARED_HOST: WarningKind(
        Effect.LEFT_OUT,
        "Many companies have pages or addresses at these hosts, so the companies are known by name only.",
        "Give a domain of the company's own.",
    ),
    TAKEN_DOMAIN: WarningKind(
        Effect.LEFT_OUT, "A company with another name has these domains, so they are not stored again."
    ),
    CUT_NUMBER: WarningKind(
        Effect.LEFT_OUT,
        "A spreadsheet rounded these numbers (as in 1.65E+10), so that their last digits are lost.",
        "Format the column as text in the list that still has all digits, and save it again.",
    ),
    NOT_ASSIGNED: WarningKind(
        Effect.CHANGED,
        "No numbering plan has assigned these numbers, so they have the status unknown.",
        "A column with the status of the numbers decides otherwise.",
    ),
    READ_AS_FOREIGN: WarningKind(
        Effect.GUESSED,
        "These numbers have no plus, and were read with the code of another country than the row's.",
        "Write a plus before the country code.",
    ),
    MAYBE_FOREIGN: WarningKind(
        Effect.GUESSED,
        "These numbers have neither a zero nor a plus before them. They were read as numbers of the row's "
        "country, but may be foreign ones, so they have the status unknown.",
        "Write a plus before the country code, or the zero before the area code.",
    ),
    UNREAD_FLAG: WarningKind(
        Effect.GUESSED,
        "These words say neither yes nor no, so that the person counts as one who does not want to be "
        "contacted.",
        "Write yes or no in the column.",
    ),
    OPTED_OUT: WarningKind(
        Effect.LEFT_OUT,
        "These people do not want to be contacted, so their rows were rejected.",
        "Values that are stored from elsewhere stay: hide the people with 'flask suppressions import'.",
    ),
}


class WarningKey(NamedTuple):
    """The field, the position of its column (None if several columns share the field), and the code."""

    field: str
    column: int | None
    code: str


class CellWarnings:
    """Counts the cells of one list that were left out, changed or guessed."""

    __slots__ = ("counts", "lines")

    def __init__(self) -> None:
        self.counts: Counter[WarningKey] = Counter()
        self.lines: dict[WarningKey, list[int]] = {}

    def add(self, field: str, code: str = INVALID, *, column: int | None = None, line: int = 0) -> None:
        """Count a cell; `code` is one of `KINDS`, `line` its line in the file, 0 if unknown."""
        key = WarningKey(field, column, code)
        self.counts[key] += 1
        lines = self.lines.setdefault(key, [])
        if line and len(lines) < MAX_LINES and line not in lines:
            lines.append(line)

    def count(self, code: str) -> int:
        """Return how many cells have this code."""
        return sum(count for key, count in self.counts.items() if key.code == code)

    def extend(self, others: CellWarnings) -> None:
        """Add the warnings of a further part of the list."""
        for key, count in others.counts.items():
            self.counts[key] += count
            self.lines[key] = list(dict.fromkeys([*self.lines.get(key, []), *others.lines[key]]))[:MAX_LINES]

    def joined(self, others: CellWarnings) -> CellWarnings:
        """Return these warnings with others."""
        both = CellWarnings()
        both.extend(self)
        both.extend(others)
        return both

    @property
    def total(self) -> int:
        """Return the number of warnings."""
        return self.counts.total()

    def to_json(self) -> list[dict[str, Any]]:
        """Return the warnings for a JSON column; `from_json` restores them."""
        return [
            {**key._asdict(), "count": count, "lines": self.lines[key]}
            for key, count in sorted(self.counts.items(), key=_place)
        ]

    @classmethod
    def from_json(cls, stored: Iterable[Mapping[str, Any]]) -> Self:
        """Restore the warnings of `to_json`."""
        warnings = cls()
        for entry in stored:
            key = WarningKey(entry["field"], entry["column"], entry["code"])
            warnings.counts[key] = entry["count"]
            warnings.lines[key] = list(entry["lines"])
        return warnings


def described(
    warnings: CellWarnings, header: Sequence[str], fields: Sequence[str | None]
) -> list[dict[str, Any]]:
    """Return the warnings with the name of their column, their effect, and what to do, for people.

    `fields` are the fields of the columns of the header.
    """
    columns = {field: name for field, name in zip(reversed(fields), reversed(header), strict=True) if field}
    return [
        {
            "column": header[column] if column is not None else columns.get(field, field),
            "field": field,
            "code": code,
            "effect": KINDS[code].effect.value,
            "count": count,
            "lines": warnings.lines[WarningKey(field, column, code)],
            "detail": " ".join(filter(None, (KINDS[code].text, KINDS[code].option))),
        }
        for (field, column, code), count in sorted(warnings.counts.items(), key=_place)
    ]


def _place(item: tuple[WarningKey, int]) -> tuple[int, str, str]:
    field, column, code = item[0]
    return (-1 if column is None else column, field, code)
