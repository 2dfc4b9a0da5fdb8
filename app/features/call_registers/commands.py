"""`flask call-registers`: do-not-call registers, and what is done with the numbers in them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from app.domain.call_registers import Effect
from app.domain.errors import InvalidValue, NotFound
from app.domain.normal.phones.phones import parse_phone
from app.engine.call_registers import listings
from app.features.call_registers import loading, overviews
from app.features.call_registers.known_registers import KNOWN, Format
from app.features.call_registers.loading import Accepted, Loaded, Source
from app.infra.database import database_clock
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.options.country_codes import parse_country
from cli.options.single_lines import SingleLine
from cli.tables import table
from cli.workspaces import find

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OPERATOR = ""
_ID = re.compile("[a-z0-9][a-z0-9-]{0,39}")
group = DatabaseGroup("call-registers", help="Load do-not-call registers, and choose what they do.")
effect_type = click.Choice([effect.value for effect in Effect])
date_option = click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    help="The date on which the register made the files, from which their age is counted.",
)
rejected_option = click.option(
    "--accept-rejected", is_flag=True, help="Leave out lines without a number, even if they are many."
)


@group.command()
@click.argument("register")
@click.argument("files", nargs=-1, required=True, type=FILE)
@date_option
@click.option("--name", type=SingleLine(), help="Name that members see. Needed for other registers.")
@click.option("--country", callback=parse_country, metavar="CC", help="Country of the numbers.")
@click.option("--format", "file_format", type=click.Choice([one.value for one in Format]))
@click.option("--max-age-days", type=click.IntRange(1, 3660), help="Days for which a copy may be used.")
@click.option("--effect", type=effect_type, help="What is done with a number in it. Default: flag.")
@click.option("--sent", type=FILE, help="The list that was sent to be washed (format washed).")
@click.option("--column", default="number", show_default=True, help="Column of the number (format table).")
@click.option("--listed-column", help="Column that says whether the number is registered (format table).")
@rejected_option
@click.option("--accept-fewer", is_flag=True, help="Accept files with less than half of the stored numbers.")
@as_json_option
def load(  # noqa: PLR0913 -- the options of the command
    *,
    register: str,
    files: tuple[Path, ...],
    date: datetime,
    name: str | None,
    country: str | None,
    file_format: str | None,
    max_age_days: int | None,
    effect: str | None,
    sent: Path | None,
    column: str,
    listed_column: str | None,
    accept_rejected: bool,
    accept_fewer: bool,
    as_json: bool,
) -> None:
    """Replace REGISTER by FILES, all files of a download together. Files may be zipped.

    REGISTER is uk-tps, uk-ctps, us-dnc, ca-dncl, fr-bloctel, au-dncr, or a name of your own in lower case,
    with --name, --country and --format. The service uses the old numbers until all new ones are written.
    """
    known = KNOWN.get(register)
    if known:
        name, country, file_format = name or known.name, country or known.country, file_format or known.format
    if name is None or country is None or file_format is None:
        raise click.UsageError("Specify --name, --country and --format: the register is not a known one.")
    if not _ID.fullmatch(register):
        raise click.BadParameter("A register's id has at most 40 lower-case letters, digits and hyphens.")
    source = Source(
        id=register,
        name=name,
        country=country,
        format=Format(file_format),
        max_age_days=max_age_days or (known.max_age_days if known else 30),
        date=_past(date),
        files=files,
        sent=sent,
        column=column,
        listed_column=listed_column,
    )
    accepted = Accepted(rejected=accept_rejected, fewer=accept_fewer)
    with _reported(files) as (tick, started):
        loaded = loading.load(
            database(),
            source,
            accepted,
            effect=Effect(effect) if effect else None,
            tick=tick,
            now=database_clock.now(),
        )
    _show(loaded, time.monotonic() - started, as_json=as_json)


@group.command()
@click.argument("register")
@click.argument("files", nargs=-1, required=True, type=FILE)
@date_option
@rejected_option
@as_json_option
def change(
    *, register: str, files: tuple[Path, ...], date: datetime, accept_rejected: bool, as_json: bool
) -> None:
    """Apply change lists to REGISTER, in their order: lines with a number and A (added) or D (deleted)."""
    with _reported(files) as (tick, started):
        loaded = loading.change(
            database(),
            register,
            files,
            Accepted(rejected=accept_rejected),
            date=_past(date),
            tick=tick,
            now=database_clock.now(),
        )
    _show(loaded, time.monotonic() - started, as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List the registers, their dates and ages, and what is done with the numbers in them."""
    with database().reading() as session:
        rows = overviews.of_workspace(session, OPERATOR)
    columns = ("register", "name", "country", "numbers", "date", "age", "usable until", "effect")
    cells = [
        (
            row.id,
            row.name,
            row.country,
            f"{row.numbers:,}",
            f"{row.date:%Y-%m-%d}",
            f"{row.age_days} days{' (outdated)' if row.is_outdated else ''}",
            f"{row.usable_until:%Y-%m-%d}",
            row.effect.value,
        )
        for row in rows
    ]
    text = table(columns, cells) if rows else "No register is loaded. Load one: flask call-registers load"
    show({"registers": [overviews.to_public(row) for row in rows]}, text, as_json=as_json)


@group.command()
@click.argument("number")
@click.option("--country", callback=parse_country, metavar="CC", help="Country of a national number.")
@as_json_option
def check(number: str, *, country: str | None, as_json: bool) -> None:
    """Show what the registers say about NUMBER."""
    try:
        e164 = parse_phone(number, country).e164
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    with database().reading() as session:
        found = listings.find(session, OPERATOR, [e164]).get(e164, ())
    lines = [
        f"{one.name} of {one.date:%Y-%m-%d}: {'registered' if one.is_listed else 'not registered'}"
        f"{' (outdated)' if one.is_outdated else ''}"
        for one in found
    ]
    text = "\n".join(lines) or "No register is about this number."
    show({"call_registers": [listings.to_public(one) for one in found]}, text, as_json=as_json)


@group.command("set")
@click.argument("register")
@click.argument("effect", type=effect_type)
@click.option("--workspace", help="Only for this workspace (id or name); it may be stricter, not looser.")
@as_json_option
def set_effect(register: str, effect: str, *, workspace: str | None, as_json: bool) -> None:
    """Set what is done with the numbers in REGISTER: flag, hide_for_members or hide."""
    try:
        with database().transaction() as session:
            workspace_id = find(session, workspace).id if workspace else None
            loading.set_effect(
                session,
                register,
                Effect(effect),
                workspace_id=workspace_id,
                changed_by=None,
                now=database_clock.now(),
            )
    except NotFound as error:
        raise click.ClickException(str(error.detail)) from error
    body: dict[str, Any] = {"register": register, "workspace": workspace_id, "effect": effect}
    show(body, f"{register}: {Effect(effect).label.lower()}.", as_json=as_json)


@group.command()
@click.argument("register")
@as_json_option
def remove(register: str, *, as_json: bool) -> None:
    """Remove REGISTER with its numbers: nothing is flagged or hidden by it any more."""
    try:
        loading.remove(database(), register)
    except NotFound as error:
        raise click.ClickException(str(error.detail)) from error
    show({"removed": register}, f"Removed {register}.", as_json=as_json)


def _past(date: datetime) -> datetime:
    day = date.replace(tzinfo=UTC)
    if day > datetime.now(UTC):
        raise click.BadParameter("The date is in the future.", param_hint="--date")
    return day


@contextmanager
def _reported(files: tuple[Path, ...]) -> Iterator[tuple[Callable[[], object], float]]:
    """Show progress on a terminal, and errors as messages."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    total = sum(file.stat().st_size for file in files)
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(files[0].name, total=total)
            yield lambda: bar.advance(task, loading.TICK_BYTES), time.monotonic()
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except NotFound as error:
        raise click.ClickException(str(error.detail)) from error


def _show(loaded: Loaded, seconds: float, *, as_json: bool) -> None:
    report = loaded.report
    rate = round(report.lines / seconds) if seconds else 0
    body: dict[str, Any] = {
        "register": loaded.register_id,
        "date": f"{loaded.date:%Y-%m-%d}",
        "lines": report.lines,
        "numbers": loaded.numbers,
        "before": loaded.before,
        "rejected": report.rejected,
        "rejected_lines": report.rejected_lines,
        "prefixes": list(loaded.prefixes),
        "seconds": round(seconds, 3),
        "lines_per_second": rate,
    }
    parts = [
        f"{loaded.name} of {body['date']}: {loaded.numbers:,} numbers ({loaded.before:,} before)",
        f"{report.lines:,} lines read, {report.rejected:,} without a number, in {seconds:.1f} s",
    ]
    if report.rejected:
        parts.append(f"without a number: {', '.join(report.rejected_lines)}")
    if len(loaded.prefixes) > 1:
        parts.append(f"area codes: {len(loaded.prefixes)}; numbers of others are not checked")
    show(body, "\n".join(f"{part}." for part in parts), as_json=as_json)
