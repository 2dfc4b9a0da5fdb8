"""Import and export of lists, shared by `flask contacts` and `flask companies`."""

from __future__ import annotations

import csv
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
from rich.console import Console
from rich.table import Table

from app.core.lists import importer
from app.core.lists.importer import COUNTS, ImportOptions, ImportSummary
from app.domain.errors import InvalidValue
from app.domain.lists.cells import escape_formula
from app.domain.lists.column_mapping import Entity
from app.domain.lists.header_fields import FIELDS
from app.infra import clock
from cli import import_files
from cli.command_group import as_json_option, database
from cli.country_codes import parse_country


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


_OPTIONS: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
    click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True)),
    click.option("--map", "mapped", multiple=True, callback=_mapping, metavar="COLUMN=FIELD",
                 help=f"Map a column to a field; may be repeated. Fields: {', '.join(FIELDS)}; ignore."),
    click.option(
        "--region", callback=parse_country, metavar="CC", help="Country of phone numbers without a code."
    ),
    click.option("--source", help="Source name stored with every value (default: the file name)."),
    click.option("--date", "at", type=click.DateTime(["%Y-%m-%d"]), callback=_day,
                 help="Date of rows without a date column (default: today)."),
    click.option("--rejects", type=click.Path(dir_okay=False), help="Write rejected rows to this file."),
    click.option("--dry-run", is_flag=True, help="Report what would happen; write nothing."),
    click.option("--encoding", help="Encoding, if it is detected wrongly."),
    click.option("--delimiter", help="Column separator, if it is detected wrongly: one character or tab."),
    as_json_option,
)  # fmt: skip


def import_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options of an import to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def import_list(entity: Entity, *, file: str, as_json: bool, **options: Any) -> None:
    """Import the file and print the result; exit 1 if no row could be read."""
    name = "standard input" if file == "-" else Path(file).name
    options["source"] = options["source"] or name
    rejects_path = options.pop("rejects")
    request = ImportOptions(entity=entity, **options)
    try:
        with import_files.opened(file) as opened, import_files.progress(opened, file) as advance:
            rejects = partial(import_files.rejects, rejects_path)
            summary = importer.run(database(), request, opened, rejects=rejects, advance=advance)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(_to_json(file, request, summary)))
    else:
        _print(name, request, summary, shows_rejects=rejects_path is not None)
    if summary.counts["rejected"] == summary.read:
        raise click.ClickException("No row could be read.")


def _to_json(file: str, request: ImportOptions, summary: ImportSummary) -> dict[str, Any]:
    return {
        "file": file,
        "entity": request.entity.value,
        "dry_run": request.dry_run,
        "encoding": summary.format.encoding,
        "other_lines": list(summary.format.other_lines),
        "delimiter": summary.delimiter,
        "columns": summary.layout.meanings,
        "read": summary.read,
        **{name: summary.counts[name] for name in COUNTS},
        "warnings": dict(sorted(summary.warnings.items())),
        "seconds": round(summary.seconds, 3),
        "rows_per_second": _rate(summary),
    }


def _rate(summary: ImportSummary) -> int:
    return round(summary.read / summary.seconds) if summary.seconds else 0


def _print(title: str, request: ImportOptions, summary: ImportSummary, *, shows_rejects: bool) -> None:
    """Print the counts as a table, then ignored columns and warnings."""
    table = Table(title=f"{title}{' (dry run: nothing was written)' if request.dry_run else ''}")
    for column in ("read", *COUNTS, "seconds", "rows/s"):
        table.add_column(column, justify="right")
    figures = [
        summary.read,
        *(summary.counts[name] for name in COUNTS),
        round(summary.seconds, 1),
        _rate(summary),
    ]
    table.add_row(*map(str, figures))
    console = Console()
    console.print(table)
    unknown = [name for name, meaning in summary.layout.meanings.items() if meaning is None and name]
    if unknown:
        console.print(
            f"Columns ignored: {', '.join(unknown)}. Use --map 'column=field' to import one.", markup=False
        )
    if lines := summary.format.other_lines:
        first = ", ".join(map(str, lines))
        console.print(f"These lines are not UTF-8 and were read as Windows-1252: {first}.", markup=False)
    for field, count in sorted(summary.warnings.items()):
        console.print(f"{count} rows were imported without an invalid value of {field}.", markup=False)
    if summary.counts["rejected"] and not shows_rejects:
        console.print("Use --rejects FILE to see which rows were rejected, and why.")


def export_list(file: str, columns: Sequence[str], rows: Iterator[dict[str, str]], *, as_json: bool) -> None:
    """Write the rows as CSV with formulas escaped; the file appears once it is complete."""
    count = 0
    with _opened_for_writing(file) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([escape_formula(row.get(name, "")) for name in columns])
            count += 1
    if as_json:
        click.echo(json.dumps({"file": file, "rows": count}), err=file == "-")
    elif file != "-":
        click.echo(f"Wrote {count} rows to {file}.")


@contextmanager
def _opened_for_writing(path: str) -> Iterator[IO[str]]:
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
