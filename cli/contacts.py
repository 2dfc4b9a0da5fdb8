"""`flask contacts`: import and export lists of contacts in any layout, and erase a person."""

from __future__ import annotations

from typing import Any

import click

from app.core.lists import exports
from app.domain.lists.column_mapping import Entity
from cli import erasure
from cli.command_group import DatabaseGroup, as_json_option, database
from cli.list_commands import export_list, import_list, import_options
from cli.suppressions import named

group = DatabaseGroup("contacts", help="Import, export and erase contacts.")


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


@group.command("erase")
@click.option("--email", help="E-mail address of the person.")
@click.option("--phone", help="Phone number of the person, with country code.")
@click.option("--linkedin-url", help="URL of the person's profile.")
@click.option("--contact-id", "contact_ids", multiple=True, help="Contact id; may be repeated.")
@click.option("--everybody", is_flag=True, help="Erase every matching contact if several match.")
@click.option("--dry-run", is_flag=True, help="Only report what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
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
    """Erase a person everywhere and suppress them from now on (GDPR, article 17).

    Prints a receipt: the data erased, and the recipients to notify (article 19). It cannot be undone. Backups
    are not changed.
    """
    target = erasure.ErasureTarget(named(email, phone, linkedin_url), contact_ids, everybody=everybody)
    erasure.run(database(), target, dry_run=dry_run, yes=yes, as_json=as_json)
