"""Reads a list of bounces as mail programs write it: addresses or numbers, and what happened to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from typing import IO, Literal, NamedTuple

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import emails_in, phones_in
from app.domain.lists.cells.email_cells import read_email
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import read_table
from app.domain.messages import Figure, Message
from app.domain.normal.phones.phones import normal_phone
from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_columns, bounce_events, bounce_words
from app.features.quality.bounce_columns import Columns
from app.features.quality.bounce_events import Event
from app.features.quality.no_bounces import NoBounce

MAX_ROWS = 10_000
TOO_LONG = Message("The list has more than {max} rows. Split it into several.", max=Figure(MAX_ROWS))
NO_COLUMN = Message(
    "No column with e-mail addresses or phone numbers was recognised. Name the columns email or phone in the "
    "first row, or send one address a line."
)
NOT_OWNED = Message("Your workspace has not revealed it.")


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


def read(file: IO[bytes], name: str = "") -> BounceList:
    """Return the reports in a CSV file, a workbook or JSON.

    `name` is the file's: rows that do not say what happened are none of bounces in `unsubscribes.csv`.

    Raises:
        InvalidValue: the file cannot be read as a list, it has too many rows, or no column is known.

    """
    content = file.read()
    return (
        _of_events(content)
        if bounce_events.is_json(content)
        else _of_table(BytesIO(content), NoBounce.UNWANTED if bounce_columns.is_of_unwanted(name) else None)
    )


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


def _of_table(file: IO[bytes], unsaid: NoBounce | None) -> BounceList:
    table = read_table(file, bounce_columns.count_known)
    try:
        rows = list(islice(table.rows, MAX_ROWS + 1))
    finally:
        table.close()
    if len(rows) > MAX_ROWS:
        raise InvalidValue(TOO_LONG)
    columns = bounce_columns.of_list(table.header, rows)
    if not columns.emails and not columns.phones:
        raise InvalidValue(NO_COLUMN)
    found = BounceList()
    for row in rows:
        _read_row(row, columns, unsaid, found)
    return found


def _read_row(row: Row, columns: Columns, unsaid: NoBounce | None, found: BounceList) -> None:
    if row.fault is not None:
        found.left_out.append(LeftOut(row.line, row.fault))
        return
    said = bounce_columns.said(row.cells, columns) or unsaid
    for line in _lines(row, columns, said, found.left_out):
        if isinstance(said, NoBounce):
            found.left_out.append(LeftOut(row.line, said.value))
        else:
            found.lines.setdefault((line.field, line.value, line.kind), line)


def _lines(
    row: Row, columns: Columns, said: FeedbackKind | NoBounce | None, left_out: list[LeftOut]
) -> Iterator[Line]:
    """Yield the values of a row; what is not readable is left out."""
    if columns.bodies:
        failed = bounce_columns.failed(row.cells, columns)
        if not failed:
            left_out.append(LeftOut(row.line, NoBounce.OTHER))
        yield from _addresses(row.line, emails_in(failed), said, left_out)
        return
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
