"""Reads the exclusions in a CSV file, whose columns and encoding are found as in imports of contacts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, NamedTuple

from app.domain import exclusions, single_lines
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.exclusions import MAX_NOTE, Kind, Reason
from app.domain.lists.cells.cells import emails_in, value
from app.domain.lists.files.csv_files import is_archive
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import read_table
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.messages import Figure, Message
from app.domain.normal.texts.text_folding import fold
from app.engine.exclusions.exclusions import Entry

MAX_ROWS = 10_000
TOO_LONG = Message("The list has more than {max} rows. Split it into several.", max=Figure(MAX_ROWS))
NOT_CSV = Message("This is a workbook. Save the sheet as CSV (UTF-8), and import that.")
NO_COLUMN = Message(
    "No column with a domain, an e-mail or a LinkedIn profile was recognised. Name the columns domain, email "
    "or linkedin_url in the first row."
)
UNKNOWN_REASON = Message("The reason is none of {names}.", names=", ".join(Reason))
_REASON, _NOTE = "reason", "note"
_KINDS = {
    "company_domain": Kind.DOMAIN,
    "linkedin_url": Kind.LINKEDIN_URL,
    "company_linkedin_url": Kind.LINKEDIN_URL,
}
_EXCLUDED = re.compile(
    r"^\s*(?:bl(?:ack|ock)(?:ed|list(?:ed)?)|exclu(?:ded?|sion)|suppress(?:ed|ion)|unsubscribed?"
    r"|opt(?:ed)?[ _-]?out|dnc|do[ _]not[ _](?:contact|e?mail)|competitors?|customers?|clients?|partners?)"
    r"['\s_-]+(?!of\b|from\b)",
    re.IGNORECASE,
)
"""Words of lists of exclusions before the name of a column: `Blocked domains`, `customer_email`."""
_PAGE = re.compile(r"linkedin\.com/(?:.*/)?(?:in|pub|company|school|showcase|sales)/", re.IGNORECASE)
_BETWEEN = re.compile(r"[;|\s]+|,\s*")


class Rejected(NamedTuple):
    """What was left out: its line in the file, from 1, the column of a cell, and why."""

    line: int
    column: str | None
    detail: str


@dataclass(frozen=True, slots=True)
class ReadList:
    """The entries of a list, and what was left out."""

    entries: list[Entry] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


class _Columns(NamedTuple):
    """The kinds of the columns by index, None for any links, and the columns of the reason and the note."""

    header: Sequence[str]
    kinds: dict[int, Kind | None]
    reason: int | None
    note: int | None


def read(file: IO[bytes], default: Reason) -> ReadList:
    """Return the entries of a CSV file, one for each cell that names somebody, with the reason of its row.

    Raises:
        InvalidValue: the file cannot be read as a list, it has too many rows, or no column is known.

    """
    if is_archive(file):
        raise InvalidValue(NOT_CSV)
    table = read_table(file, _count_known)
    try:
        columns = _columns(table.header)
        if not table.has_header or not columns.kinds:
            raise InvalidValue(NO_COLUMN)
        rows = list(islice(table.rows, MAX_ROWS + 1))
    finally:
        table.close()
    if len(rows) > MAX_ROWS:
        raise InvalidValue(TOO_LONG)
    found = ReadList()
    for row in rows:
        _read_row(row, columns, default, found)
    return found


def _count_known(cells: Sequence[str]) -> int:
    own = sum(cell.strip().casefold() in {_REASON, _NOTE} for cell in cells)
    return own + map_columns(_plain(cells), Entity.CONTACTS).known_count


def _plain(header: Sequence[str]) -> list[str]:
    """Return the names of columns without the words that say that the list is one of exclusions."""
    return [_EXCLUDED.sub("", name) for name in header]


def _columns(header: Sequence[str]) -> _Columns:
    layout = map_columns(_plain(header), Entity.CONTACTS)
    kinds: dict[int, Kind | None] = {slot.index: Kind.EMAIL for slot in layout.emails}
    kinds |= {index: kind for name, kind in _KINDS.items() for index in layout.single.get(name, ())}
    kinds |= dict.fromkeys(layout.single.get("url", ()), None if kinds else Kind.DOMAIN)
    names = [name.strip().casefold() for name in header]
    return _Columns(
        header, kinds, *(names.index(name) if name in names else None for name in (_REASON, _NOTE))
    )


def _read_row(row: Row, columns: _Columns, default: Reason, found: ReadList) -> None:
    """Add the entries of a row, or why they are left out."""
    if row.fault is not None:
        found.rejected.append(Rejected(row.line, None, row.fault))
        return
    try:
        reason, note = _reason(row, columns, default), _note(row, columns)
    except InvalidValue as error:
        found.rejected.append(Rejected(row.line, None, str(error)))
        return
    for index, kind in sorted(columns.kinds.items()):
        for named, text in _values(row.cells[index], kind):
            try:
                found.entries.append(Entry(named, exclusions.normal(named, text), reason, note))
            except (InvalidValue, NotAProfileUrl) as error:
                detail = error.detail if isinstance(error, NotAProfileUrl) else str(error)
                found.rejected.append(Rejected(row.line, columns.header[index], detail))


def _values(cell: str, kind: Kind | None) -> Iterator[tuple[Kind, str]]:
    """Yield what a cell names, each with its kind.

    A column of domains may have addresses and pages on LinkedIn too, and one of addresses `@acme.com`. Of any
    links, only pages on LinkedIn count.
    """
    if kind is Kind.EMAIL:
        yield from ((Kind.DOMAIN if _is_wildcard(text) else kind, text) for text in emails_in(cell))
    elif (text := value(cell)) is not None:
        parts = list(filter(None, map(value, _BETWEEN.split(cell)))) if kind is Kind.DOMAIN else [text]
        for part in parts if all("." in part for part in parts) else [text]:
            if found := _kind(part, kind):
                yield found, part


def _kind(text: str, kind: Kind | None) -> Kind | None:
    if _PAGE.search(text):
        return Kind.LINKEDIN_URL
    is_address = "@" in text and "/" not in text and not _is_wildcard(text)
    return Kind.EMAIL if kind is Kind.DOMAIN and is_address else kind


def _is_wildcard(text: str) -> bool:
    """Return whether a text is a domain, as lists of addresses name all of its addresses: @acme.com."""
    return text.lstrip("*").startswith("@")


def _reason(row: Row, columns: _Columns, default: Reason) -> Reason:
    text = None if columns.reason is None else value(row.cells[columns.reason])
    if text is None:
        return default
    name = fold(text).replace(" ", "_")
    found = next((reason for reason in Reason if name in {reason, f"{reason}s"}), None)
    if found is None:
        raise InvalidValue(UNKNOWN_REASON)
    return found


def _note(row: Row, columns: _Columns) -> str | None:
    text = None if columns.note is None else value(row.cells[columns.note])
    if text is None:
        return None
    if len(text) > MAX_NOTE:
        raise InvalidValue(Message("The note has more than {max} characters.", max=MAX_NOTE))
    return single_lines.single_line(text)
