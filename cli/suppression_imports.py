"""`flask suppressions import`: lists of values, of hashes, of California's DROP, and exports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import click
from flask.cli import with_appcontext

from app.core.contacts import suppression_imports, suppressions
from app.core.contacts.suppression_digests import Identifier
from app.core.contacts.suppression_imports import DROP, Change
from app.core.contacts.suppressions import Listing
from app.core.privacy import suppression_replay
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.lists.cells import emails_in, value
from app.domain.lists.column_mapping import ColumnMapping, Entity, explain_unknown, map_columns
from app.domain.lists.country_cells import list_country
from app.domain.lists.phone_reading import PhoneRegions
from app.domain.lists.phone_splits import UnreadPhone, read_phones
from app.domain.lists.profile_cells import listed_profile
from app.domain.lists.tables import read_table
from app.domain.normal.emails import normal_email
from app.domain.normal.websites import normal_host
from app.domain.suppression_lists import drop_files, hashed_files
from app.domain.suppression_lists.drop_files import UNMATCHED
from app.domain.suppression_lists.forms import HASHED_KINDS
from cli.command_group import as_json_option, database, show
from cli.country_codes import parse_country
from cli.import_files import opened, progress
from cli.suppression_journals import refuse_unapplied

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
@click.option("--list", "list_name", default="", help="Name of the list, so that it can be removed again.")
@click.option(
    "--country",
    callback=parse_country,
    metavar="CC",
    help="Country of phone numbers without a country code in a plain list, as its ISO code.",
)
@click.option("--reason", default="requested", show_default=True, help="Reason, stored with the entries.")
@as_json_option
def import_suppressions(
    *,
    file: str,
    file_format: str,
    kind: str | None,
    list_name: str,
    country: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Suppress everybody in FILE. Repeat the command after an interruption: nothing is added twice.

    With 'drop', entries of the file of removed requests are taken off its list again.
    """
    if reason == suppressions.ERASED:
        raise click.ClickException("This reason marks people whose data was erased. Use another one.")
    listing = DROP if file_format == "drop" else Listing(reason, list_name)
    started = time.monotonic()
    try:
        with opened(file) as source, progress(source, file) as tick:
            if file_format == "export":
                counts = _load_export(Path(file), tick)
            else:
                changes = _changes(source, file, file_format, kind, country)
                counts = suppression_imports.load(database(), changes, listing, tick=tick)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    _show(counts, time.monotonic() - started, as_json=as_json)


def _load_export(path: Path, tick: Callable[[], object]) -> Counter[str]:
    applied = suppression_replay.apply(database(), [path], tick=tick)
    refuse_unapplied(applied)
    known = applied.read - applied.added - applied.removed
    return Counter(given=applied.read, added=applied.added, known=known, removed=applied.removed)


def _changes(
    file: IO[bytes], name: str, file_format: str, kind: str | None, country: str | None
) -> Iterator[Change]:
    if file_format == "drop":
        return map(suppression_imports.of_drop, drop_files.rows(file, name))
    if file_format == "hashed":
        return (suppression_imports.of_hash(*row) for row in hashed_files.rows(file, kind))
    return _plain_changes(file, kind, country)


def _show(counts: Counter[str], seconds: float, *, as_json: bool) -> None:
    skipped = {name: counts[name] for name in UNMATCHED if counts[name]}
    rate = round(counts["given"] / seconds) if seconds else 0
    body: dict[str, Any] = {name: counts[name] for name in _COUNTS}
    body |= {"unmatched": skipped, "seconds": round(seconds, 3), "rows_per_second": rate}
    parts = [f"Added {counts['added']} of {counts['given']}; {counts['known']} were listed already"]
    parts += [f"{counts['removed']} removed"] if counts["removed"] else []
    parts += [f"{counts['rejected']} values could not be read"]
    notes = [
        f"{number} entries of {name} were left out: they need a {UNMATCHED[name]}, which is not stored here."
        for name, number in skipped.items()
    ]
    show(body, "\n".join([f"{'; '.join(parts)}.", *notes]), as_json=as_json)
    if counts["rejected"] and counts["rejected"] == counts["given"]:
        raise click.ClickException("No value could be read.")


def _plain_changes(file: IO[bytes], kind: str | None, country: str | None) -> Iterator[Change]:
    """Yield the values of a list; websites are read as domains only if the list consists of domains."""
    table = read_table(file, lambda cells: map_columns(cells, Entity.CONTACTS).known_count)
    layout = map_columns(table.header, Entity.CONTACTS)
    domains = _domain_columns(table.header) if kind == "domain" else ()
    if not (domains or layout.emails or layout.phones or "linkedin_url" in layout.single):
        raise InvalidValue(explain_unknown(table.header, Entity.CONTACTS))
    try:
        for row in table.rows:
            values = [("domain", row.cells[index], normal_host) for index in domains if row.cells[index]]
            yield from map(_change, values or _values(layout, row.cells))
            if not values:
                yield from _phones(layout, row.cells, country)
    finally:
        table.close()


def _change(found: tuple[str, str, Callable[[str], str]]) -> Change:
    kind, text, form = found
    try:
        return Change(identifier=Identifier(kind, form(text)))
    except (InvalidValue, NotAProfileUrl):
        return Change(skipped="rejected")


def _domain_columns(header: list[str]) -> tuple[int, ...]:
    names = [name.casefold() for name in header]
    named = tuple(index for index, name in enumerate(names) if "domain" in name or "website" in name)
    return named or ((0,) if len(header) == 1 else ())


def _values(layout: ColumnMapping, cells: list[str]) -> list[tuple[str, str, Callable[[str], str]]]:
    values: list[tuple[str, str, Callable[[str], str]]] = []
    for slot in layout.emails:
        values += [("email", text, normal_email) for text in emails_in(cells[slot.index])]
    for index in layout.single.get("linkedin_url", ()):
        if value(cells[index]):
            values.append(("linkedin_url", cells[index], listed_profile))
    return values


def _phones(layout: ColumnMapping, cells: list[str], country: str | None) -> Iterator[Change]:
    """Yield the numbers of a row, which are read as those of an import."""
    regions = PhoneRegions(tuple(filter(None, (*_countries(layout, cells), country))))
    for slot in layout.phones:
        for read in read_phones(cells[slot.index], lambda: regions):
            if isinstance(read, UnreadPhone):
                yield Change(skipped="rejected")
            else:
                yield Change(identifier=Identifier("phone", read.number.e164))


def _countries(layout: ColumnMapping, cells: list[str]) -> Iterator[str]:
    for field in ("country", "company_country"):
        for index in layout.single.get(field, ()):
            try:
                yield list_country(cells[index])
            except InvalidValue:
                continue
