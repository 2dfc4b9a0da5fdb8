"""`flask contacts`: bring in lists of people, as anybody's export writes them, and take them out again."""

from __future__ import annotations

from typing import Any

import click

from app.cli.listing import export_list, import_list, import_options
from app.cli.workspaces import Noun, as_json_option, database
from app.core import exporting
from app.domain.layouts import Entity

group = Noun("contacts", help="Import and export people.")


@group.command("import")
@import_options
def import_contacts(**options: Any) -> None:
    """Import people from FILE, a CSV of any layout; `-` reads the standard input.

    Importing a list again changes nothing; a newer value wins field by field, an older one fills gaps.
    """
    import_list(Entity.CONTACTS, **options)


@group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@as_json_option
def export_contacts(file: str, *, as_json: bool) -> None:
    """Write everybody who is not suppressed to FILE, as import reads it; `-` is the standard output."""
    with database().reading() as session:
        export_list(
            file, exporting.contact_columns(session), exporting.contact_rows(session), as_json=as_json
        )
