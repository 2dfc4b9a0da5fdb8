"""Every function that reads a caller's text takes a time that grows with its length, whatever the text is."""

from __future__ import annotations

import gc
import importlib
import inspect
import io
import pkgutil
import random
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

import app.domain
from app.domain.errors import InvalidValue, Problem
from app.domain.lists.cells import dates, verifiable_cells
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.files import (
    csv_files,
    delimiters,
    encodings,
    tables,
    xlsx_links,
    xlsx_packages,
    xlsx_parts,
)
from app.domain.lists.headers import joined_headers, name_headers, opt_out_headers, upload_columns
from app.domain.lists.headers.column_mapping import Entity, explain_unknown, map_columns
from app.domain.lists.headers.column_values import fit_columns
from app.domain.lists.phone_cells import phone_parts, phone_reading, phone_splits
from app.domain.lists.phone_cells.phone_reading import PhoneRegions
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.normal.phones.phones import parse_phone
from app.domain.records.person_matcher import PersonMatcher
from app.domain.suppression_lists import drop_files, hashed_files, plain_files
from workers.mail import smtp_replies

SIEVE = (1_000, 4_000)
"""The lengths at which every text is read; those whose time may grow too fast are read at longer ones."""
SHORTEST = 8_000
MAX_GROWTH = 2.3
"""The most by which the time may grow when the text doubles."""
SQUARE = 3.2
"""A growth from which a square law, of four times, is taken for certain; below it, longer texts decide."""
FLOOR = 0.1
"""Seconds for 32,000 characters; a time below it shows no growth."""
ROUNDS = 12

PIECES = (
    *"@/ .,;:|+-_=&#*!?~\\\"'()[]{}<>\n\t10aAé中\u0301\u200d%",
    *(
        "con_",
        "/@con_",
        "/@con_@",
        "a@",
        "@a.",
        "x@a.",
        "<a@",
        "a.",
        "1.",
        "a-",
        "1-",
        "-1",
        "1 ",
        "+1",
        "00 ",
    ),
    *(
        "a ",
        "A ",
        "A. ",
        "A.B",
        "a, ",
        "(a)",
        "(a",
        "a)",
        "((",
        '"a',
        "- ",
        " - ",
        " | ",
        "::",
        "//",
        "&amp;",
    ),
    *(
        "&#9",
        "%41",
        "%2F",
        "%25",
        "\u0301\u0327",
        "a\u0301",
        "\uff9e\u0301",
        "linkedin.com/",
        "http:",
        "www.",
    ),
    *("linkedin.com/in/", "https://a.", "urn:li:", "mailto:", "in/", "jr ", "Dr. ", "von ", "Inc, ", "GmbH "),
    *("AG & Co", "ext 1", "0612345678 ", "+1 650 253 0000 ", "a@b.example, ", "1/", "12:00 ", "2026-", '""'),
    *('a"x,"\n', '\\"a,"\n', 'a"x,"' + "b" * 50 + "\n"),  # every line opens a quote that none closes
)
_CHOOSE = random.Random(1)  # noqa: S311 -- not a secret
COMPOUNDS = tuple("".join(_CHOOSE.choices(PIECES, k=2 + number % 4)) for number in range(12))
"""Pieces of several, which nobody has thought of; the same in every run."""
FRAMES = (("", ""), ("", "!"), ("/@", "!"))
"""What is before and behind the pieces: an end that does not fit makes a pattern try everything again, and a
start with the signs of an address and a path has them searched for. A text of one sign is read without.
"""

ARGUMENTS: dict[str, Callable[[str], Any]] = {
    "str": lambda text: text,
    "str | None": lambda text: text,
    "Any": lambda text: {"a": [text]},
    "bytes": str.encode,
    "IO[bytes]": lambda text: io.BytesIO(text.encode()),
    "Iterable[str]": lambda text: [text],
    "Iterable[str | None]": lambda text: [text],
    "Sequence[str]": str.split,
    "Sequence[str | None]": lambda text: [text],
    "Sequence[Sequence[str]]": lambda text: [[text]],
    "tuple[str, ...]": lambda text: (text,),
}
"""What is passed for a text, by the type of the parameter."""

BOUNDED = {
    "kinds.revealing": "the name of a field",
    "conflicts.conflicts": "a kind of entity",
    "country_cells.list_country": "through `cells.value`, which cuts a text",
    "emails.email_domain": "an address in normal form",
    "emails.email_kind": "an address in normal form",
    "emails.email_reasons": "an address in normal form",
    "hashes.parse_prefix": "compares the length first",
    "ids.is_id": "compares a prefix first",
    "ids.time_of": "an id of this service",
    "left_out_words.counts": "the words of a name",
    "letter_models.letter_model": "a language",
    "list_countries.fitting_country": "numbers of at most 60 characters",
    "mail_domains.shares": "a domain in normal form",
    "name_brackets.without_brackets": "a name of at most 200 characters",
    "name_notes.without_notes": "a name of at most 200 characters",
    "name_order.split_by_capitals": "the words of a name",
    "name_order.split_family_first": "the words of a name",
    "numbering_plans.calling_code": "digits",
    "patterns.form_of": "an address in normal form",
    "patterns.simple_form_of": "an address in normal form",
    "patterns.spelling_shares": "a form of this code",
    "person_emails.refuse_impossible": "an address in normal form",
    "provider_ranking.best": "names of providers",
    "provider_ranking.expected": "names of providers",
    "recorded_forms.recorded_form": "an address in normal form",
    "row_subjects.subject_positions": "a row",
    "sound_similarity.sound_score": "a name of at most 200 characters",
    "spelling.fill": "a form of this code",
    "stored_messages.loads": "JSON of this code",
    "trace_lines.trace_line": "names of providers",
    "upload_columns.layout_of": "the fields of an upload",
    "upload_columns.names_people": "the fields of an upload",
    "webhook_addresses.is_within": "an IP address",
    "websites.parent_domains": "a host of at most 253 characters",
    "word_similarity.word_similarity": "the words of a name",
    "wordlists.entries": "a file of this code",
    "wordlists.lines": "a file of this code",
    "wordlists.words": "a file of this code",
}
"""Functions whose text has a length of its own, and what the text is."""

_NOW = datetime(2026, 11, 20, tzinfo=UTC)
_REGIONS = PhoneRegions(("FR",), ("DE", "US"))
_NUMBER = parse_phone("+33 6 12 34 56 78")
_MATCHER = PersonMatcher(
    emails=frozenset({"ada@acme.com"}),
    linkedin_urls=frozenset({"https://www.linkedin.com/in/ada"}),
    contact_ids=frozenset({"con_1"}),
    phones=frozenset({"+33612345678"}),
)
_READ = (upload_columns.count_known, tables.DETECTED)


def _row(field: str) -> Callable[[str], object]:
    """Return the reader of a row with the text in the column of this field."""
    layout = upload_columns.layout_of([field, "first_name"])

    def read(text: str) -> object:
        values = RowValues(layout, [text, "Ada"], ImportDefaults("list", _NOW, _NOW), CellWarnings(), 2)
        return upload_columns.subject_of(values, layout)

    return read


OTHERS: dict[str, Callable[[str], object]] = {
    **{f"a row with a {field}": _row(field) for field in upload_columns.UPLOAD_FIELDS},
    "PersonMatcher.matches": _MATCHER.matches,
    "PersonMatcher.without": lambda text: _MATCHER.without([text]),
    "column_mapping.explain_unknown": lambda text: explain_unknown([text], Entity.CONTACTS),
    "column_mapping.map_columns": lambda text: map_columns([text], Entity.CONTACTS),
    "column_values.fit_columns": lambda text: fit_columns([text], Entity.CONTACTS, [[text]]),
    "csv_files.text_format_of": lambda text: csv_files.text_format_of(
        io.BytesIO(text.encode()), None, upload_columns.count_known
    ),
    "dates.parse_date_cell": lambda text: dates.parse_date_cell(text, dates.DateOrder.DAY_FIRST),
    "delimiters.delimiter_of": lambda text: delimiters.delimiter_of(text, upload_columns.count_known),
    "delimiters.most_known": lambda text: delimiters.most_known(text, upload_columns.count_known),
    "encodings.detect": lambda text: encodings.detect(b"\xe4" + text.encode("latin-1", "replace"), len),
    "joined_headers.joined_field": lambda text: joined_headers.joined_field(text, {}),
    "joined_headers.names_place": lambda text: joined_headers.names_place(text, {}),
    "name_headers.is_family_first": lambda text: name_headers.is_family_first(text, {}),
    "name_headers.names_both_parts": lambda text: name_headers.names_both_parts(text, {}),
    "opt_out_headers.opt_out_field": lambda text: opt_out_headers.opt_out_field(text, {}),
    "phone_parts.numbers_in": lambda text: phone_parts.numbers_in(text, _REGIONS),
    "phone_reading.assigned_number": lambda text: phone_reading.assigned_number(text, _REGIONS),
    "phone_reading.is_complete": lambda text: phone_reading.is_complete(text, _NUMBER),
    "phone_reading.may_be_foreign": lambda text: phone_reading.may_be_foreign(text, _NUMBER),
    "phone_reading.read_number": lambda text: phone_reading.read_number(text, _REGIONS),
    "phone_splits.read_phones": lambda text: list(phone_splits.read_phones(text, lambda: _REGIONS)),
    "tables.read_table": lambda text: list(tables.read_table(io.BytesIO(text.encode()), *_READ).rows),
    "verifiable_cells.read_cell": lambda text: list(verifiable_cells.read_cell(text, "DE")),
    "xlsx_packages.readable": lambda text: xlsx_packages.readable(_package(text)),
    "xlsx_parts.workbook": lambda text: list(xlsx_parts.workbook("Result", [text], [[text]])),
    "xlsx_links": lambda text: xlsx_links._attributes(text.encode()),  # noqa: SLF001 -- reads a part of a zip
    "drop_files.rows": lambda text: list(
        drop_files.rows(io.BytesIO(text.encode()), "20261120_1200_Emails.csv")
    ),
    "hashed_files.rows": lambda text: list(hashed_files.rows(io.BytesIO(text.encode()))),
    "plain_files.rows": lambda text: list(plain_files.rows(io.BytesIO(text.encode()))),
    "smtp_replies.of_mailbox": lambda text: smtp_replies.of_mailbox(550, text),
    "smtp_replies.of_random_mailbox": lambda text: smtp_replies.of_random_mailbox(550, text),
    "smtp_replies.of_sender": lambda text: smtp_replies.of_sender(550, text),
    "smtp_replies.retry_seconds": smtp_replies.retry_seconds,
}
"""Readers that take more than a text, are methods, or are outside `app.domain`."""


def _package(text: str) -> io.BytesIO:
    """Return a workbook with this text in the parts that name others."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"):
            archive.writestr(name, text)
    return file


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of `app.domain` whose first parameter is a text, a file or any JSON."""
    for module in pkgutil.walk_packages(app.domain.__path__, "app.domain."):
        for name, function in vars(importlib.import_module(module.name)).items():
            is_own = getattr(function, "__module__", None) == module.name and not name.startswith("_")
            if is_own and callable(function) and not inspect.isclass(function):
                first = next(iter(inspect.signature(function).parameters.values()), None)
                if first is not None and first.annotation in ARGUMENTS:
                    yield f"{module.name.rpartition('.')[2]}.{name}", function


def _reader(function: Callable[..., Any]) -> Callable[[str], object] | None:
    """Return a function of one text; None if it needs anything else."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if any(p.annotation not in ARGUMENTS for p in needed):
        return None
    uncached = inspect.unwrap(function)

    def read(text: str) -> object:
        values = [ARGUMENTS[p.annotation](text) for p in needed if p.kind is not p.KEYWORD_ONLY]
        named = {p.name: ARGUMENTS[p.annotation](text) for p in needed if p.kind is p.KEYWORD_ONLY}
        found = uncached(*values, **named)
        return list(found) if isinstance(found, Iterator) else found

    return read


_FOUND = {name: _reader(function) for name, function in _functions() if name not in BOUNDED}
READERS = {name: reader for name, reader in _FOUND.items() if reader is not None} | OTHERS


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Keep the garbage collector and the measurement of coverage out of a time."""
    tracing = sys.gettrace()
    sys.settrace(None)
    gc.disable()
    yield
    gc.enable()
    sys.settrace(tracing)


def test_every_function_that_reads_a_text_is_measured() -> None:
    unmeasured = {name for name, reader in _FOUND.items() if reader is None} - OTHERS.keys()
    unknown = BOUNDED.keys() - dict(_functions()).keys()

    assert (unmeasured, unknown) == (set(), set())


@pytest.mark.release
def test_a_square_law_is_found() -> None:
    def read(text: str) -> object:
        return [position for position in range(len(text)) if text.find("absent", position) >= 0]

    shape = ("", "a", "!")

    assert _may_be_slow(read, shape)
    assert not _is_linear(read, shape)


@pytest.mark.release
@pytest.mark.parametrize("name", READERS)
def test_the_time_to_read_a_hostile_text_grows_with_its_length(name: str) -> None:
    read = READERS[name]

    slow = next(
        (
            (start, piece, end)
            for piece in (*PIECES, *COMPOUNDS)
            for start, end in (FRAMES if len(piece) == 1 else FRAMES[1:])
            if _may_be_slow(read, (start, piece, end)) and not _is_linear(read, (start, piece, end))
        ),
        None,
    )

    assert slow is None


def _may_be_slow(read: Callable[[str], object], shape: tuple[str, str, str]) -> bool:
    """Return whether the time at two short lengths may follow a square law that exceeds the floor."""
    few, many = SIEVE
    before = _seconds(read, shape, few)
    if before < _squared_floor(few):
        return False
    after = _seconds(read, shape, many)
    if after < _squared_floor(many):
        return False
    before = min(before, _seconds(read, shape, few, 1))
    return after > before * MAX_GROWTH**2


def _squared_floor(size: int) -> float:
    """Return the seconds for this length by a square law that takes the floor for 32,000 characters."""
    return FLOOR * (size / 32_000) ** 2


def _is_linear(read: Callable[[str], object], shape: tuple[str, str, str]) -> bool:
    """Return whether the time grows at most 2.3 times with each doubling.

    Two doublings show it, if no cache of the processor ends between them; if one does, four doublings.
    """
    growth = _growth(read, shape, 2)
    return growth <= MAX_GROWTH or (growth < SQUARE and _growth(read, shape, 4) <= MAX_GROWTH)


def _growth(read: Callable[[str], object], shape: tuple[str, str, str], doublings: int) -> float:
    """Return by what the time grows with a doubling, by the best rounds."""
    sizes = (SHORTEST, SHORTEST * 2**doublings)
    best = dict.fromkeys(sizes, float("inf"))
    growth = float("inf")
    for round_number in range(ROUNDS):
        for size in sizes:
            best[size] = min(best[size], _seconds(read, shape, size, round_number))
        few, many = (max(best[size], FLOOR / 32_000 * size) for size in sizes)
        growth = (many / few) ** (1 / doublings)
        if growth <= MAX_GROWTH:
            break
    return growth


def _seconds(
    read: Callable[[str], object], shape: tuple[str, str, str], size: int, round_number: int = 0
) -> float:
    """Return the processor time of reading a text that no cache has seen; a refusal is a result."""
    start, piece, end = shape
    text = f"{chr(ord('b') + round_number)}{start}{(piece * size)[:size]}{end}"
    started = time.process_time()
    with suppress(InvalidValue, Problem):
        read(text)
    return time.process_time() - started
