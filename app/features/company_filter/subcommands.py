"""`flask companies filter`: builds and shows the company filter."""

from __future__ import annotations

import base64
from datetime import timedelta

import click

from app.features.company_filter import filters, signing_keys
from app.infra.crypto import oprf
from app.infra.database import database_clock
from app.web.services import services
from cli.groups.command_group import as_json_option, database, show


@click.command("filter")
@click.option("--build", is_flag=True, help="Build it first, if companies or the keys have changed.")
@as_json_option
def company_filter(*, build: bool, as_json: bool) -> None:
    """Show the company filter that the extension downloads, and the public keys that sign and key it."""
    key = signing_keys.company_filter_key(services().settings)
    oprf_key = oprf.from_settings(services().settings)
    if build:
        with database().transaction() as session:
            filters.claim(session, every=timedelta(0), now=database_clock.now())
        filters.build(database(), key, oprf_key)
    with database().reading() as session:
        stored = filters.stored(session)
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


SUBCOMMANDS = {"companies": (company_filter,)}
