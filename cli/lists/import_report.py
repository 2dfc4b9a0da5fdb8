"""The result of an import, as a table with notes or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from app.domain.lists.cells.cell_warnings import described
from app.domain.lists.cells.list_countries import fitting_country
from app.domain.lists.warning_kinds import NO_COUNTRY
from app.engine.lists.importer import COUNTS, ImportOptions, ImportSummary


def to_json(file: str, request: ImportOptions, summary: ImportSummary) -> dict[str, Any]:
    """Return the result as an object for scripts."""
    return {
        "file": file,
        "entity": request.entity.value,
        "dry_run": request.dry_run,
        "encoding": summary.format.encoding,
        "encoding_is_guessed": summary.format.is_guessed,
        "other_encoding": summary.format.other_encoding,
        "other_lines": list(summary.format.other_lines),
        "delimiter": summary.delimiter,
        "has_header": summary.has_header,
        "sheet": summary.format.sheet,
        "unread_sheets": list(summary.format.unread_sheets),
        "unsolved_formulas": summary.format.unsolved_formulas,
        "columns": summary.layout.meanings,
        "read": summary.read,
        **{name: summary.counts[name] for name in COUNTS},
        "warnings": _warnings(summary),
        "conflicts": summary.conflicts,
        "conflict_lines": summary.conflict_lines,
        "phones_read_as": summary.countries.majority,
        "suggested_country": _suggested_country(summary),
        "seconds": round(summary.seconds, 3),
        "rows_per_second": _rate(summary),
    }


def _rate(summary: ImportSummary) -> int:
    return round(summary.read / summary.seconds) if summary.seconds else 0


def print_summary(title: str, request: ImportOptions, summary: ImportSummary, *, shows_rejects: bool) -> None:
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
    for note in _notes(summary):
        console.print(note, markup=False)
    if summary.counts["rejected"] and not shows_rejects:
        console.print("Use --rejects FILE to see which rows were rejected, and why.")


def _notes(summary: ImportSummary) -> Iterator[str]:
    """Yield what was ignored, left out or assumed."""
    unknown = [name for name, meaning in summary.layout.meanings.items() if meaning is None and name]
    if unknown:
        yield f"Columns ignored: {', '.join(unknown)}. Use --map 'column=field' to import one."
    if sheets := summary.format.unread_sheets:
        yield f"Sheets not read: {', '.join(sheets)}. Use --sheet to import one."
    if count := summary.format.unsolved_formulas:
        yield (
            f"{count} formulas have no stored result, so their cells are empty. Open the workbook in a "
            "spreadsheet program, save it, and import it again."
        )
    yield from _format_notes(summary)
    if lines := summary.format.other_lines:
        yield f"These lines are not UTF-8 and were read as Windows-1252: {_listed(lines)}."
    yield from _cell_notes(summary)
    yield from _phone_notes(summary)


def _format_notes(summary: ImportSummary) -> Iterator[str]:
    """Yield how the file was read, if that was guessed."""
    if summary.format.is_guessed:
        other = f"; {name} is possible, too" if (name := summary.format.other_encoding) else ""
        yield (
            f"The file is not UTF-8. It was read as {summary.format.encoding}, by the words that it contains"
            f"{other}. Use --encoding to name another one."
        )
    if not summary.has_header:
        yield "The list was read without a header. Use --header if its first row is one."


def _cell_notes(summary: ImportSummary) -> Iterator[str]:
    """Yield a line for each column and kind of cells that were left out, changed or guessed."""
    for warning in _warnings(summary):
        if warning["code"] != NO_COUNTRY:
            effect = warning["effect"].replace("_", " ")
            lines = f" (line {_listed(warning['lines'])})" if warning["lines"] else ""
            yield f"{warning['column']}: {warning['count']} {effect}{lines}. {warning['detail']}"


def _warnings(summary: ImportSummary) -> list[dict[str, Any]]:
    header = summary.layout.header
    return described(summary.warnings, header, [summary.layout.meanings[name] for name in header])


def _phone_notes(summary: ImportSummary) -> Iterator[str]:
    """Yield which country was assumed for phone numbers without one, and how many were left out."""
    if majority := summary.countries.majority:
        yield (
            f"Phone numbers without a country code were read as numbers of {majority}, as most of the list, "
            "unless their row names another country. Use --country to name one."
        )
    if dropped := summary.warnings.count(NO_COUNTRY):
        yield (
            f"Phone numbers left out because neither the row nor the list shows their country: {dropped}. "
            f"Import the list again with --country {_suggested_country(summary) or 'CC'} if they are numbers "
            "of that country."
        )


def _listed(lines: Iterable[int]) -> str:
    return ", ".join(map(str, lines))


def _suggested_country(summary: ImportSummary) -> str | None:
    """Return the country of most phone numbers that were left out; None if none were, or none fits."""
    return fitting_country(summary.countries.national) if summary.warnings.count(NO_COUNTRY) else None
