"""Files of an import: the input, the rejected rows, and the progress bar."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from app.domain.errors import InvalidValue
from app.domain.lists.files.csv_lines import csv_line
from app.domain.lists.files.csv_records import Row


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for `-`; input from a pipe is copied to a seekable file first.

    Raises:
        InvalidValue: the file cannot be opened.

    """
    with ExitStack() as stack:
        try:
            file: IO[bytes] = sys.stdin.buffer if path == "-" else stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise InvalidValue(f"{path} cannot be read: {error.strerror}.") from error
        if path == "-" or not file.seekable():
            pipe, file = file, stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(pipe, file)
        yield file


@contextmanager
def rejects(path: str | None, header: Sequence[str]) -> Iterator[Callable[[Row, str], None]]:
    """Yield a function that writes a rejected row with its line and reason to a file of mode 0600."""
    if path is None:
        yield lambda _row, _reason: None
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 -- a descriptor

        def write(*cells: object) -> None:
            file.write(csv_line(cells))

        write("line", "reason", *header)
        yield lambda row, reason: write(row.line, reason, *row.cells)


@contextmanager
def progress(file: IO[bytes], path: str) -> Iterator[Callable[[], None]]:
    """Show a progress bar of the bytes read, if standard error is a terminal."""
    console = Console(stderr=True)
    size = os.fstat(file.fileno()).st_size
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(Path(path).name, total=size)
        yield lambda: bar.update(task, completed=file.tell())
