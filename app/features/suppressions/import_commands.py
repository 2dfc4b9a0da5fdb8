"""`flask suppressions import`: lists of values, of hashes, of California's DROP, and exports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import click
from flask.cli import with_appcontext

from app.domain.errors import InvalidValue
from app.domain.lists.files.tables import TableOptions
from app.domain.suppression_lists import drop_files, hashed_files, plain_files
from app.domain.suppression_lists.drop_files import UNMATCHED
from app.domain.suppression_lists.forms import HASHED_KINDS
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppressions import Listing
from app.engine.privacy import suppression_replay
from app.features.suppressions import loading as suppression_imports
from app.features.suppressions.loading import DROP, Change
from cli.groups.command_group import as_json_option, database, show
from cli.lists.import_files import opened, progress
from cli.options.country_codes import parse_country
from cli.options.single_lines import SingleLine
from cli.suppression_journals import refuse_unapplied

MAX_LINES = 50
"""The lines that a message names; the JSON has all."""
UNREADABLE = (
    "Some values could not be read, so their people are not suppressed. Correct these lines and repeat the "
    "command, name the country of numbers without a country code with --country, or accept it with "
    "--skip-unreadable."
)
_COUNTS = ("given", "added", "known", "removed", "rejected")


@click.command("import")
@with_appcontext
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["plain", "hashed", "drop", "export"]),
    default="plain",
    show_default=True,
    help="plain: CSV with e-mails, phones and profiles. hashed: CSV with their SHA-256, in hexadecimal or "
    "Base64. drop: a download of California's DROP, or a file of it. export: a file of 'export'.",
)
@click.option("--kind", type=click.Choice(HASHED_KINDS), help="What a hashed or plain list consists of.")
@click.option(
    "--list", "list_name", type=SingleLine(), help="Name of the list, so that it can be removed again."
)
@click.option(
    "--country",
    callback=parse_country,
    metavar="CC",
    help="Country of phone numbers without a country code in a plain list, as its ISO code.",
)
@click.option("--encoding", help="Encoding of a plain list, if it is detected wrongly.")
@click.option("--delimiter", help="Column separator of a plain list: one character or tab.")
@click.option(
    "--header/--no-header",
    "has_header",
    default=None,
    help="Whether the first row of a plain list is a header (default: by its cells).",
)
@click.option(
    "--skip-unreadable",
    is_flag=True,
    help="Succeed although some values cannot be read: their people are not suppressed.",
)
@click.option(
    "--reason",
    type=SingleLine(),
    default="requested",
    show_default=True,
    help="Reason, stored with the entries.",
)
@as_json_option
def import_suppressions(  # noqa: PLR0913 -- the options of the command
    *,
    file: str,
    file_format: str,
    kind: str | None,
    list_name: str | None,
    country: str | None,
    encoding: str | None,
    delimiter: str | None,
    has_header: bool | None,
    skip_unreadable: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Suppress everybody in FILE. Repeat the command after an interruption: nothing is added twice.

    What can be read is added in any case. If a value cannot be read, the command names its line and fails.

    With 'drop', entries of the file of removed requests are taken off its list again.
    """
    if reason == suppressions.ERASED:
        raise click.ClickException("This reason marks people whose data was erased. Use another one.")
    listing = DROP if file_format == "drop" else Listing(reason, list_name or "")
    started = time.monotonic()
    options = TableOptions(encoding=encoding, delimiter=delimiter, has_header=has_header)
    rejected: list[Change] = []
    try:
        with opened(file) as source, progress(source, file) as tick:
            if file_format == "export":
                counts = _load_export(Path(file), tick)
            else:
                changes = _changes(source, file, file_format, kind, country, options)
                counts = suppression_imports.load(
                    database(), changes, listing, tick=tick, reject=rejected.append
                )
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    _show(counts, rejected, time.monotonic() - started, as_json=as_json)
    if rejected and not skip_unreadable:
        raise click.ClickException(UNREADABLE)


def _load_export(path: Path, tick: Callable[[], object]) -> Counter[str]:
    applied = suppression_replay.apply(database(), [path], tick=tick)
    refuse_unapplied(applied)
    known = applied.read - applied.added - applied.removed
    return Counter(given=applied.read, added=applied.added, known=known, removed=applied.removed)


def _changes(  # noqa: PLR0917 -- the options of the command
    file: IO[bytes],
    name: str,
    file_format: str,
    kind: str | None,
    country: str | None,
    options: TableOptions,
) -> Iterator[Change]:
    if file_format == "drop":
        return map(suppression_imports.of_drop, drop_files.rows(file, name))
    if file_format == "hashed":
        return (suppression_imports.of_hash(*row) for row in hashed_files.rows(file, kind))
    listed = plain_files.rows(file, kind=kind, country=country, options=options)
    return map(suppression_imports.of_value, listed)


def _show(counts: Counter[str], rejected: Sequence[Change], seconds: float, *, as_json: bool) -> None:
    skipped = {name: counts[name] for name in UNMATCHED if counts[name]}
    rate = round(counts["given"] / seconds) if seconds else 0
    body: dict[str, Any] = {name: counts[name] for name in _COUNTS}
    unreadable = [{"line": change.line, "column": change.column} for change in rejected]
    body |= {"unmatched": skipped, "unreadable": unreadable}
    body |= {"seconds": round(seconds, 3), "rows_per_second": rate}
    parts = [f"Added {counts['added']} of {counts['given']}; {counts['known']} were listed already"]
    parts += [f"{counts['removed']} removed"] if counts["removed"] else []
    parts += [f"{counts['rejected']} values could not be read"]
    notes = [
        f"{number} entries of {name} were left out: they need a {UNMATCHED[name]}, which is not stored here."
        for name, number in skipped.items()
    ]
    notes += [_unreadable_lines(rejected)] if rejected else []
    show(body, "\n".join([f"{'; '.join(parts)}.", *notes]), as_json=as_json)


def _unreadable_lines(rejected: Sequence[Change]) -> str:
    """Return the lines of the values that could not be read, with their columns."""
    named = [f"{change.line}{f' ({change.column})' if change.column else ''}" for change in rejected]
    more = f", and {len(named) - MAX_LINES} more" if len(named) > MAX_LINES else ""
    return f"Lines that could not be read: {', '.join(named[:MAX_LINES])}{more}."
