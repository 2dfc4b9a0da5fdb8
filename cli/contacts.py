"""`flask contacts`: bring in lists of people, as anybody's export writes them, take them out, erase one."""

from __future__ import annotations

from typing import Any

import click

from app.core.lists import exports
from app.domain.lists.column_mapping import Entity
from cli import erasure
from cli.list_commands import export_list, import_list, import_options
from cli.suppressions import named
from cli.workspaces import DatabaseGroup, as_json_option, database

group = DatabaseGroup("contacts", help="Import, export and erase people.")


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
        export_list(file, exports.contact_columns(session), exports.contact_rows(session), as_json=as_json)


@group.command("erase")
@click.option("--email", help="An e-mail address of theirs.")
@click.option("--phone", help="A phone number of theirs, with its country code.")
@click.option("--linkedin-url", help="The address of their profile.")
@click.option("--contact-id", "contact_ids", multiple=True, help="A contact's id; may be given repeatedly.")
@click.option("--everybody", is_flag=True, help="Erase all contacts that these name, if they name several.")
@click.option("--dry-run", is_flag=True, help="Only tell what there is.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json_option
def erase_contact(
    *,
    email: str | None,
    phone: str | None,
    linkedin_url: str | None,
    contact_ids: tuple[str, ...],
    everybody: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Forget a person everywhere, and keep them out from now on (GDPR, article 17).

    Prints a receipt: what there was, and who had been given it and is to be told (article 19). It cannot be
    undone. Backups are not touched.
    """
    whom = erasure.ErasureTarget(named(email, phone, linkedin_url), contact_ids, everybody=everybody)
    erasure.run(database(), whom, dry_run=dry_run, yes=yes, as_json=as_json)
