"""Reads an uploaded workbook in a process of its own, with limits of memory and time.

A small archive can unpack to XML that takes gigabytes and minutes to parse. Only the process that parses it
then fails, not the worker and the jobs in its other threads.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from signal import SIGINT, SIGTERM
from tempfile import TemporaryFile
from typing import IO, Any

from app.domain.errors import InvalidValue
from app.domain.lists.files.csv_files import ListFormat
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import Table, TableOptions, read_table
from app.domain.lists.headers import upload_columns
from app.domain.messages import Message
from app.infra import child_environment

MAX_MEMORY = 512 << 20
MAX_SECONDS = 60
CHECK_SECONDS = 5.0
TOO_COMPLEX = Message(
    "The workbook is too large when unpacked. Save the sheet as CSV (UTF-8), in parts if need be."
)
_HEADERS = (None, False, True)
"""Whether the sheet has a header, by the number that the process is given."""
_ROOT = Path(__file__).parents[4]


class ReadingStopped(Exception):  # noqa: N818 -- named after what happened
    """The process was stopped from outside, or its result is no longer wanted."""


def read_workbook(
    content: bytes,
    *,
    max_unpacked: int,
    max_text: int,
    max_rows: int,
    has_header: bool | None = None,
    is_wanted: Callable[[], bool],
) -> Table:
    """Return the table of a workbook of at most `max_unpacked` bytes, with one row more than `max_rows`.

    Its rows have at most `max_text` bytes. `is_wanted` is called every few seconds while the process runs.

    Raises:
        InvalidValue: it cannot be read within the limits; the message says what to do.
        ReadingStopped: the process was stopped, or `is_wanted` returned False.

    """
    output = TemporaryFile()  # noqa: SIM115 -- closed with the table
    try:
        with TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            limits = [max_unpacked, max_text, max_rows, MAX_MEMORY, _HEADERS.index(has_header)]
            code = _run(limits, file, output, is_wanted)
        output.seek(0)
        start = _start(code, output)
    except BaseException:
        output.close()
        raise
    kinds: dict[int, set[str]] = {}
    list_format = ListFormat(
        "xlsx",
        sheet=start["sheet"],
        unread_sheets=tuple(start["unread_sheets"]),
        unsolved_formulas=start["unsolved_formulas"],
    )
    rows = _rows(output, kinds)
    return Table(
        start["header"],
        rows,
        list_format,
        output.close,
        has_header=start["has_header"],
        cell_kinds=kinds,
    )


def _rows(output: IO[bytes], kinds: dict[int, set[str]]) -> Iterator[Row]:
    """Yield the rows that the process wrote; the kinds of their cells, which it wrote last, go to `kinds`."""
    for line in output:
        read = json.loads(line)
        if isinstance(read, dict):
            kinds.update({int(index): set(names) for index, names in read["cell_kinds"].items()})
        else:
            yield Row(*read)


def _start(code: int, output: IO[bytes]) -> dict[str, Any]:
    """Return what a process that ended with this code wrote before the rows."""
    if code in {-SIGTERM, -SIGINT}:
        raise ReadingStopped
    first = output.readline()
    if code or not first:
        raise InvalidValue(TOO_COMPLEX)
    start: dict[str, Any] = json.loads(first)
    if "error" in start:
        raise InvalidValue(start["error"])
    return start


def _run(limits: list[int], file: IO[bytes], output: IO[bytes], is_wanted: Callable[[], bool]) -> int:
    """Run this module with the file as its input, and return its exit code."""
    command = [sys.executable, "-m", "app.features.uploads.turn.workbook_reader", *map(str, limits)]
    with subprocess.Popen(  # noqa: S603 -- this program, with numbers for arguments
        command,
        cwd=_ROOT,
        env=child_environment.minimal(),
        stdin=file,
        stdout=output,
        stderr=subprocess.DEVNULL,
    ) as process:
        for _ in range(int(MAX_SECONDS / CHECK_SECONDS)):
            try:
                return process.wait(CHECK_SECONDS)
            except subprocess.TimeoutExpired:
                if not is_wanted():
                    process.kill()
                    raise ReadingStopped from None
        process.kill()
        return process.wait()


def main(max_unpacked: int, max_text: int, max_rows: int, max_memory: int, header: int) -> None:
    """Write the header and the rows of the workbook in the standard input as lines of JSON, or the error."""
    limits = (
        (resource.RLIMIT_AS, max_memory),
        (resource.RLIMIT_CPU, MAX_SECONDS),
        (resource.RLIMIT_FSIZE, max_text),
    )
    for kind, limit in limits:
        resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))
    with suppress(OSError):  # in a small container, the kernel then ends this process and not the worker
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    # A buffer of its own, because under PYTHONUNBUFFERED the standard output drops what exceeds the limit.
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as output:
        for line in _lines(sys.stdin.buffer, max_unpacked, max_rows, has_header=_HEADERS[header]):
            output.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")


def _lines(
    file: IO[bytes], max_unpacked: int, max_rows: int, *, has_header: bool | None
) -> Iterator[dict[str, Any] | Iterable[Any]]:
    try:
        _check_unpacked_size(file, max_unpacked)
        table = read_table(file, upload_columns.count_known, TableOptions(has_header=has_header))
    except InvalidValue as error:
        yield {"error": str(error)}
    else:
        yield {
            "header": table.header,
            "has_header": table.has_header,
            "sheet": table.format.sheet,
            "unread_sheets": table.format.unread_sheets,
            "unsolved_formulas": table.format.unsolved_formulas,
        }
        yield from islice(table.rows, max_rows + 1)
        yield {"cell_kinds": {index: sorted(kinds) for index, kinds in table.cell_kinds.items()}}


def _check_unpacked_size(file: IO[bytes], max_unpacked: int) -> None:
    try:
        unpacked = sum(part.file_size for part in zipfile.ZipFile(file).infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return  # the reader of workbooks says what is wrong
    if unpacked > max_unpacked:
        raise InvalidValue(TOO_COMPLEX)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
