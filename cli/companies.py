"""`flask companies`: import and export lists of companies, and build the filter of known companies."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import click

from app.domain.lists.headers.column_mapping import Entity
from app.engine.lists import exports
from app.engine.lookups import company_filters
from app.infra.crypto import oprf, signing_keys
from app.infra.database import database_clock
from app.web.services import services
from cli.command_group import DatabaseGroup, as_json_option, database, show
from cli.list_commands import export_list, import_list, import_options

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


@group.command("filter")
@click.option("--build", is_flag=True, help="Build it first, if companies or the keys have changed.")
@as_json_option
def company_filter(*, build: bool, as_json: bool) -> None:
    """Show the company filter that the extension downloads, and the public keys that sign and key it."""
    key = signing_keys.company_filter_key(services().settings)
    oprf_key = oprf.from_settings(services().settings)
    if build:
        with database().transaction() as session:
            company_filters.claim(session, every=timedelta(0), now=database_clock.now())
        company_filters.build(database(), key, oprf_key)
    with database().reading() as session:
        stored = company_filters.stored(session)
    public_key = signing_keys.public_text(key)
    public_oprf_key = base64.b64encode(oprf_key.public).decode() if oprf_key else None
    lines = [
        f"{item.bits} bits: {item.entries:,} entries, {item.size:,} bytes, version {item.version}"
        for item in stored
    ]
    text = "\n".join(
        [
            *(lines or ["no filter has been built: flask companies filter --build"]),
            f"key {public_key}",
            *([f"OPRF key {public_oprf_key}"] if public_oprf_key else []),
        ]
    )
    show(
        {"key": public_key, "oprf_key": public_oprf_key, "filters": [item._asdict() for item in stored]},
        text,
        as_json=as_json,
    )
