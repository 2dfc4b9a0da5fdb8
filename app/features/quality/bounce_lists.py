"""Reads a list of bounces as mail programs write it: addresses or numbers, and what happened to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from typing import IO, Literal, NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import emails_in, phones_in
from app.domain.lists.cells.email_cells import read_email
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import read_table
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.normal.phones.phones import normal_phone
from app.domain.normal.texts.text_folding import fold
from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_events, bounce_words
from app.features.quality.bounce_events import Event
from app.features.quality.no_bounces import NoBounce

MAX_ROWS = 10_000
TOO_LONG = f"The list has more than {MAX_ROWS:,} rows. Split it into several."
NO_COLUMN = (
    "No column with e-mail addresses or phone numbers was recognised. Name the columns email or phone in the "
    "first row, or send one address a line."
)
NOT_OWNED = "Your workspace has not revealed it."
_ADDRESSES = frozenset({"recipient", "address", "to", "email address", "emailaddress", "rcpt", "rcpt to"})
"""Headers of addresses in bounce lists that other lists use for something else."""
_WHAT = (
    (
        "kind",
        "report",
        "type",
        "bounce type",
        "bouncetype",
        "bounce category",
        "category",
        "suppression reason",
        "suppressionreason",
    ),
    (
        "event",
        "ishardbounce",
        "mailerror",
        "result",
        "status",
        "status code",
        "code",
        "error code",
        "bounce code",
    ),
    (
        "reason",
        "bounce reason",
        "hard bounce reason",
        "error",
        "details",
        "description",
        "message",
        "diagnostic",
    ),
)
"""Headers of what happened, the surest first."""
_SAMPLE = 20


class Line(NamedTuple):
    """A value of a list, in its normal form, and what is reported of it."""

    line: int
    field: Literal["email", "phone"]
    value: str
    kind: FeedbackKind


class LeftOut(NamedTuple):
    """What is not reported: its line in the file, and why."""

    line: int
    detail: str


@dataclass(frozen=True, slots=True)
class BounceList:
    """The reports of a list, each once, and what was left out."""

    lines: dict[tuple[str, str, FeedbackKind], Line] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)


class _Columns(NamedTuple):
    emails: tuple[int, ...]
    phones: tuple[int, ...]
    what: tuple[int, ...]


def read(file: IO[bytes]) -> BounceList:
    """Return the reports in a CSV file, a workbook or JSON.

    Raises:
        InvalidValue: the file cannot be read as a list, it has too many rows, or no column is known.

    """
    content = file.read()
    return _of_events(content) if bounce_events.is_json(content) else _of_table(BytesIO(content))


def _of_events(content: bytes) -> BounceList:
    events = list(islice(bounce_events.read(content), MAX_ROWS + 1))
    if len(events) > MAX_ROWS:
        raise InvalidValue(TOO_LONG)
    found = BounceList()
    for event in events:
        _read_event(event, found)
    return found


def _read_event(event: Event, found: BounceList) -> None:
    said = bounce_words.meaning(event.said)
    if event.said and said is None:
        said = NoBounce.UNCLEAR
    addresses = emails_in(event.address or "")
    if event.fault is not None or isinstance(said, NoBounce) or not addresses:
        why = said.value if isinstance(said, NoBounce) else bounce_events.UNKNOWN
        found.left_out.append(LeftOut(event.line, event.fault or why))
        return
    for line in _addresses(event.line, addresses, said, found.left_out):
        found.lines.setdefault((line.field, line.value, line.kind), line)


def _of_table(file: IO[bytes]) -> BounceList:
    table = read_table(file, _count_known)
    try:
        rows = list(islice(table.rows, MAX_ROWS + 1))
    finally:
        table.close()
    if len(rows) > MAX_ROWS:
        raise InvalidValue(TOO_LONG)
    columns = _columns(table.header, rows)
    if not columns.emails and not columns.phones:
        raise InvalidValue(NO_COLUMN)
    found = BounceList()
    for row in rows:
        _read_row(row, columns, found)
    return found


def _count_known(cells: Sequence[str]) -> int:
    own = sum(_name(cell) in _ADDRESSES or _rank(cell) is not None for cell in cells)
    return own + map_columns(list(cells), Entity.CONTACTS).known_count


def _columns(header: Sequence[str], rows: Sequence[Row]) -> _Columns:
    layout = map_columns(list(header), Entity.CONTACTS)
    emails = tuple(slot.index for slot in layout.emails)
    named = tuple(index for index, name in enumerate(header) if _name(name) in _ADDRESSES)
    phones = tuple(slot.index for slot in layout.phones)
    if not emails and not phones:
        emails = named or _with_addresses(header, rows)
    ranked = sorted((rank, index) for index, name in enumerate(header) if (rank := _rank(name)) is not None)
    taken = {*emails, *phones}
    return _Columns(emails, phones, tuple(index for _rank_of, index in ranked if index not in taken))


def _with_addresses(header: Sequence[str], rows: Sequence[Row]) -> tuple[int, ...]:
    """Return the column with most addresses in the first rows, of a list without known headers."""
    counts = [
        sum("@" in row.cells[index] for row in rows[:_SAMPLE] if row.fault is None)
        for index in range(len(header))
    ]
    most = max(counts, default=0)
    return (counts.index(most),) if most else ()


def _name(header: str) -> str:
    return fold(header)


def _rank(header: str) -> int | None:
    """Return how early a column of what happened is asked, None for another column."""
    name = _name(header)
    names = [each for group in _WHAT for each in group]
    return names.index(name) if name in names else None


def _read_row(row: Row, columns: _Columns, found: BounceList) -> None:
    if row.fault is not None:
        found.left_out.append(LeftOut(row.line, row.fault))
        return
    said = bounce_words.meaning(row.cells[index] for index in columns.what)
    for line in _lines(row, columns, said, found.left_out):
        if isinstance(said, NoBounce):
            found.left_out.append(LeftOut(row.line, said.value))
        else:
            found.lines.setdefault((line.field, line.value, line.kind), line)


def _lines(
    row: Row, columns: _Columns, said: FeedbackKind | NoBounce | None, left_out: list[LeftOut]
) -> Iterator[Line]:
    """Yield the values of a row; what is not readable is left out."""
    for index in columns.emails:
        yield from _addresses(row.line, emails_in(row.cells[index]), said, left_out)
    for index in columns.phones:
        for text in phones_in(row.cells[index]):
            try:
                yield Line(row.line, "phone", normal_phone(text), _kind(said, "phone"))
            except InvalidValue as error:
                left_out.append(LeftOut(row.line, str(error)))


def _addresses(
    line: int, texts: Iterable[str], said: FeedbackKind | NoBounce | None, left_out: list[LeftOut]
) -> Iterator[Line]:
    for text in texts:
        try:
            yield Line(line, "email", read_email(text), _kind(said, "email"))
        except InvalidValue as error:
            left_out.append(LeftOut(line, str(error)))


def _kind(said: FeedbackKind | NoBounce | None, field: Literal["email", "phone"]) -> FeedbackKind:
    """Return what is reported: without a word, that an address bounced or that a number is wrong."""
    failure = FeedbackKind.BOUNCE if field == "email" else FeedbackKind.WRONG_NUMBER
    if said in {FeedbackKind.BOUNCE, FeedbackKind.WRONG_NUMBER} or not isinstance(said, FeedbackKind):
        return failure
    return said
