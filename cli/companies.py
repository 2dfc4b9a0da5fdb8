"""`flask companies`: import and export lists of companies."""

from __future__ import annotations

from typing import Any

import click

from app.domain.lists.headers.column_mapping import Entity
from app.engine.lists import exports
from cli.groups.command_group import DatabaseGroup, as_json_option, database
from cli.lists.list_commands import export_list, import_list, import_options

group = DatabaseGroup("companies", help="Import and export companies, and build the company filter.")


@group.command("import")
@import_options
def import_companies(**options: Any) -> None:
    """Import companies from FILE, a CSV or XLSX file with any columns; `-` reads standard input."""
    import_list(Entity.COMPANIES, **options)


@group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@as_json_option
def export_companies(file: str, *, as_json: bool) -> None:
    """Export all companies to FILE in the format that import reads; `-` writes to standard output."""
    with database().reading() as session:
        export_list(file, exports.company_columns(), exports.company_rows(session), as_json=as_json)
