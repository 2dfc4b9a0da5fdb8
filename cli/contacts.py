"""`flask contacts`: import and export lists of contacts in any layout."""

from __future__ import annotations

from typing import Any

import click

from app.domain.lists.headers.column_mapping import Entity
from app.engine.lists import exports
from cli.groups.command_group import DatabaseGroup, as_json_option, database
from cli.lists.list_commands import export_list, import_list, import_options

group = DatabaseGroup("contacts", help="Import and export contacts; `flask people` erases them.")


@group.command("import")
@import_options
def import_contacts(**options: Any) -> None:
    """Import contacts from FILE, a CSV or XLSX file with any columns; `-` reads standard input.

    Importing a list again changes nothing. Per field, a newer value wins and an older value fills gaps.
    """
    import_list(Entity.CONTACTS, **options)


@group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@as_json_option
def export_contacts(file: str, *, as_json: bool) -> None:
    """Export all contacts that are not suppressed to FILE, as import reads it; `-` is standard output."""
    with database().reading() as session:
        export_list(file, exports.contact_columns(session), exports.contact_rows(session), as_json=as_json)
