"""The records of a CSV text, each with its fault: unclosed quotes, too many characters, a cut end."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple

from app.domain.messages import Figure, Message

MAX_ROW_LENGTH = 1 << 17  # characters; four times what Excel allows in a cell
MAX_RECORD_LENGTH = 1 << 21  # characters; an unclosed quote would include the rest of the file
_MAX_ESCAPED_LENGTH = 1 << 16  # characters that a record may be longer with escaped quotes
_SHOWN_LENGTH = 300  # characters of a cell in a row that is too long
_SHOWN_CELLS = 300  # of such a row
_REREAD = 8  # characters that may be read again for each that is done with
_SHARE = 4  # a record that does not end may use up one part in so many of them

_ESCAPED_QUOTE = '\\"'
_OPEN_AT_END = "unexpected end"  # of csv's error
_LINE_BREAKS = ("\n", "\r")

TRUNCATED_ROW = Message("The file ends inside this row. It may be incomplete; export it again.")
UNCLOSED_QUOTE = Message(
    "This row has a quote that is not closed, or quotes inside a cell that are not doubled."
)
LONG_ROW = Message("This row has more than {max} characters.", max=Figure(MAX_ROW_LENGTH))


class Row(NamedTuple):  # faster to make than a dataclass
    """One row: its first line, its cells (as many as the header has), and why it cannot be read, if so.

    `ended` is false for the last row of a file that does not end with a line break.
    """

    line: int
    cells: list[str]
    fault: str | None = None
    ended: bool = True


def limited(row: Row) -> Row:
    """Return the row; if it has too many characters, with the beginnings of its cells and the fault."""
    if sum(map(len, row.cells)) <= MAX_ROW_LENGTH:
        return row
    shown = [cell[:_SHOWN_LENGTH] for cell in row.cells[:_SHOWN_CELLS]]
    return row._replace(cells=shown, fault=LONG_ROW)


class Records:
    r"""The records of a CSV text. If a record cannot be read, its first line becomes one faulty row.

    Quotes in a quoted cell are doubled (RFC 4180); in a record that is not valid so, they may also be escaped
    as `\"`.

    The lines after a faulty row are read again. Where every line begins a record that does not end, that
    would take the square of their number, so what is read again is limited: the more records do not end, the
    fewer characters the next one may have.
    """

    def __init__(self, text: IO[str], delimiter: str, quote: str = '"', *, spaced: bool = False) -> None:
        """Read a text; `spaced` means that quotes may stand after a space behind the delimiter."""
        self._text = text
        self._delimiter = delimiter
        self._quote = quote
        self._spaced = spaced
        self._pushed_back: deque[str] = deque()
        self._consumed: list[str] = []
        self._line = 0
        self._rereadable = _SHARE * MAX_RECORD_LENGTH
        self._max_length = MAX_RECORD_LENGTH
        self._reader = self._parsed(self._lines())

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        self._consumed.clear()
        try:
            cells = next(self._reader)
        except csv.Error:
            return self._escaped_row() or self._faulty_row()
        is_suspect = len(self._consumed) > 1 or _ESCAPED_QUOTE in self._consumed[0] or self._at_end()
        if is_suspect and (error := self._error()):
            if row := self._escaped_row():
                return row
            if len(self._consumed) > 1 or _OPEN_AT_END in error:
                return self._faulty_row()
        return self._row(cells)

    def _parsed(
        self, lines: Iterable[str], *, escape: str | None = None, strict: bool = False
    ) -> Iterator[list[str]]:
        return csv.reader(
            lines,
            delimiter=self._delimiter,
            quotechar=self._quote,
            skipinitialspace=self._spaced,
            escapechar=escape,
            strict=strict,
        )

    def _row(self, cells: list[str]) -> Row:
        line = self._line + 1
        self._line += len(self._consumed)
        self._rereadable += _REREAD * sum(map(len, self._consumed))
        row = Row(line, cells, ended=self._consumed[-1].endswith(_LINE_BREAKS))
        is_short = len(self._consumed) == 1 and len(self._consumed[0]) <= MAX_ROW_LENGTH
        return row if is_short else limited(row)

    def _faulty_row(self) -> Row:
        """Return the record's first line as a faulty row and resume reading after it."""
        first, *rest = self._consumed
        self._rereadable += _REREAD * len(first) - sum(map(len, rest))
        self._resume(rest)
        self._line += 1
        fault = UNCLOSED_QUOTE if rest else TRUNCATED_ROW
        return Row(
            self._line,
            [first.rstrip("\r\n")[:_SHOWN_LENGTH]],
            LONG_ROW if len(first) > MAX_ROW_LENGTH else fault,
        )

    def _escaped_row(self) -> Row | None:
        r"""Read the record again with quotes escaped as `\"`; None if it is not valid so either."""
        lines = self._consumed
        if not any(_ESCAPED_QUOTE in line for line in lines):
            return None
        self._consumed = []
        self._resume(lines)
        length = sum(map(len, lines))
        self._max_length = length + min(_MAX_ESCAPED_LENGTH, self._rereadable // _SHARE)
        reader = self._parsed(self._lines(), escape="\\", strict=True)
        try:
            cells = next(reader)
        except csv.Error:
            self._rereadable -= sum(map(len, self._consumed))
            self._resume(self._consumed)
            self._consumed = [self._pushed_back.popleft() for _ in lines]
            return None
        self._rereadable -= length
        self._resume(())
        return self._row(cells)

    def _error(self) -> str | None:
        """Return why the lines of the last record are not valid CSV; None if they are."""
        try:
            list(self._parsed(self._consumed, strict=True))
        except csv.Error as error:
            return str(error)
        return None

    def _resume(self, lines: Sequence[str]) -> None:
        """Resume reading with these lines and those that follow."""
        self._pushed_back.extendleft(reversed(lines))
        self._max_length = min(MAX_RECORD_LENGTH, self._rereadable // _SHARE)
        self._reader = self._parsed(self._lines())

    def _lines(self) -> Iterator[str]:
        length = 0
        while line := self._pushed_back.popleft() if self._pushed_back else self._next_line():
            length = length + len(line) if self._consumed else len(line)
            self._consumed.append(line)
            if length > self._max_length and len(self._consumed) > 1:
                raise csv.Error("the row does not end")
            yield line

    def _next_line(self) -> str:
        """Return the next line; what a line has beyond the length of a row is skipped."""
        line = rest = self._text.readline(MAX_RECORD_LENGTH)
        while len(rest) == MAX_RECORD_LENGTH and not rest.endswith(_LINE_BREAKS):
            rest = self._text.readline(MAX_RECORD_LENGTH)
        whole = line if rest is line else f"{line}\n"
        return whole.replace("\0", "")  # PostgreSQL cannot store it

    def _at_end(self) -> bool:
        if self._pushed_back:
            return False
        line = self._next_line()
        if line:
            self._pushed_back.append(line)
        return not line
