"""Import and export of lists, shared by `flask contacts` and `flask companies`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from app.domain.errors import InvalidValue
from app.domain.lists.cells.dates import DateOrder
from app.domain.lists.files.csv_lines import csv_line
from app.domain.lists.headers.column_mapping import Entity
from app.domain.lists.headers.header_fields import FIELDS
from app.engine.lists import importer
from app.infra import clock
from cli.groups.command_group import as_json_option, database
from cli.lists import import_files, import_report
from cli.lists.import_mode import import_modes
from cli.options.country_codes import parse_country
from cli.options.single_lines import SingleLine


def _mapping(_context: click.Context, _option: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    """Parse `column=field` pairs; a column may contain an equals sign."""
    mapped = {}
    for pair in pairs:
        column, equals, target = pair.rpartition("=")
        if not equals or not column.strip():
            raise click.BadParameter(f"{pair!r} is not of the form column=field.")
        mapped[column.strip()] = target.strip()
    return mapped


def _day(_context: click.Context, _option: click.Parameter, day: datetime | None) -> datetime | None:
    if day is None:
        return None
    if day.replace(tzinfo=UTC) > clock.now():
        raise click.BadParameter("The date is in the future.")
    return day.replace(tzinfo=UTC)


MODES = import_modes()
_OPTIONS: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
    click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True)),
    click.option("--map", "mapped", multiple=True, callback=_mapping, metavar="COLUMN=FIELD",
                 help=f"Map a column to a field; may be repeated. Fields: {', '.join(FIELDS)}; ignore."),
    click.option("--country", "--region", "region", callback=parse_country, metavar="CC",
                 help="Country of phone numbers without a code, unless their row names one."),
    click.option(
        "--source", type=SingleLine(), help="Source name stored with every value (default: the file name)."
    ),
    click.option("--date", "at", type=click.DateTime(["%Y-%m-%d"]), callback=_day,
                 help="Date of rows without a date column (default: today)."),
    click.option("--rejects", type=click.Path(dir_okay=False), help="Write rejected rows to this file."),
    click.option("--dry-run", is_flag=True, help="Report what would happen; write nothing."),
    click.option("--encoding", help="Encoding, if it is detected wrongly."),
    click.option("--delimiter", help="Column separator, if it is detected wrongly: one character or tab."),
    click.option("--header/--no-header", "has_header", default=None,
                 help="Whether the first row with several cells is a header (default: by its cells)."),
    click.option("--dates", type=click.Choice([order.value for order in DateOrder]),
                 help="Order of day and month, if no date shows it: dmy or mdy."),
    click.option("--sheet", help="Sheet of a workbook (default: the one with the most known columns)."),
    *(mode.option for mode in MODES),
    as_json_option,
)  # fmt: skip


def import_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options of an import to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def import_list(entity: Entity, *, file: str, as_json: bool, **options: Any) -> None:
    """Import the file and print the result, unless a mode is chosen; exit 1 if no row could be read."""
    name = "standard input" if file == "-" else Path(file).name
    options["source"] = options["source"] or name
    modes = [mode for mode in MODES if options.pop(mode.name)]
    if modes:
        modes[0].run(entity, file, options, as_json=as_json)
        return
    rejects_path = options.pop("rejects")
    request = importer.options_of(entity, options)
    try:
        with import_files.opened(file) as opened, import_files.progress(opened, file) as advance:
            rejects = partial(import_files.rejects, rejects_path)
            summary = importer.run(database(), request, opened, rejects=rejects, advance=advance)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(import_report.to_json(file, request, summary)))
    else:
        import_report.print_summary(name, request, summary, shows_rejects=rejects_path is not None)
    if summary.counts["rejected"] == summary.read:
        raise click.ClickException("No row could be read.")


def export_list(file: str, columns: Sequence[str], rows: Iterator[dict[str, str]], *, as_json: bool) -> None:
    """Write the rows as CSV with formulas escaped; the file appears once it is complete."""
    count = 0
    with opened_for_writing(file) as out:
        out.write(csv_line(columns))
        for row in rows:
            out.write(csv_line([row.get(name, "") for name in columns]))
            count += 1
    if as_json:
        click.echo(json.dumps({"file": file, "rows": count}), err=file == "-")
    elif file != "-":
        click.echo(f"Wrote {count} rows to {file}.")


@contextmanager
def opened_for_writing(path: str) -> Iterator[IO[str]]:
    """Open a file readable by its owner only, under a temporary name until it is complete."""
    if path == "-":
        yield sys.stdout
        return
    part = Path(f"{path}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as out:  # noqa: PTH123 -- a descriptor
            yield out
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
