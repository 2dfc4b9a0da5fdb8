"""`flask suppressions export` and `replay`: the list as a file of keyed digests, and a file applied again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from flask.cli import with_appcontext

from app.engine.contacts.suppressions import suppressions
from app.engine.privacy import erasure_run, suppression_replay
from app.engine.privacy.suppression_replay import Applied
from app.web.services import services
from cli.groups.command_group import as_json_option, database, show
from cli.lists.list_commands import opened_for_writing


@click.command()
@with_appcontext
@click.argument("file", type=click.Path(dir_okay=False, writable=True, allow_dash=True))
@as_json_option
def export(file: str, *, as_json: bool) -> None:
    """Write the list to FILE, or to standard output for '-': keyed digests only, no values.

    Another database with the same SUPPRESSION_KEY loads it with: flask suppressions import --format export
    """
    entries = 0
    with opened_for_writing(file) as out, database().reading() as session:
        for line in suppressions.all_lines(session):
            entries += len(line.digests)
            out.write(line.to_json() + "\n")
    if file != "-":
        show({"file": file, "entries": entries}, f"Wrote {entries} entries to {file}.", as_json=as_json)


@click.command()
@with_appcontext
@click.argument("journals", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@as_json_option
def replay(journals: tuple[Path, ...], *, as_json: bool) -> None:
    """Apply JOURNALS, by default the file in SUPPRESSION_JOURNAL, after a backup was restored.

    People suppressed since the backup are suppressed again, and what the backup brought back of erased
    people is erased again. It can be repeated at any time.
    """
    configured = services().settings.suppression_journal
    if not journals and not configured:
        raise click.UsageError("Name a journal, or set SUPPRESSION_JOURNAL.")
    paths = journals or (Path(configured),)
    try:
        result = suppression_replay.replay(database(), *paths)
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}."
        raise click.ClickException(message) from error
    erasure_run.empty_log(database())
    erased = dict(result.erased)
    listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in erased.items())
    show(
        asdict(result.applied) | {"erased": erased},
        f"Read {result.applied.read} changes: {result.applied.added} suppressed again, "
        f"{result.applied.removed} removed again. Erased again: {listed}.",
        as_json=as_json,
    )
    refuse_unapplied(result.applied)


def refuse_unapplied(applied: Applied) -> None:
    """End with an error if a part of a journal or export could not be applied; the rest was."""
    if applied.other_key:
        raise click.ClickException(
            f"{applied.other_key} digests were made with another SUPPRESSION_KEY and were left out. "
            "Set the key that the file was written with, and run: flask suppressions replay FILE"
        )
    if applied.unreadable:
        raise click.ClickException(
            f"These lines cannot be read and were left out: {', '.join(applied.unreadable)}. A process that "
            "was killed before its change was stored leaves such a line; otherwise the file was changed."
        )
