"""`flask suppressions`: the list of people who must not be shown, looked up or imported."""

from __future__ import annotations

from collections.abc import Callable

import click
from sqlalchemy import func, select

from app.core.contacts import suppressions
from app.core.contacts.bulk import batched
from app.core.contacts.suppressions import Identifier, Suppression
from app.core.providers import provider_opt_outs
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.lists.cells import emails_in, phones_in, value
from app.domain.lists.column_mapping import ColumnMapping, Entity, explain_unknown, map_columns
from app.domain.lists.tables import read_table
from app.domain.normal.emails import normal_email
from app.domain.normal.phones import parse_phone
from app.domain.normal.profiles import normal_profile_url
from app.infra import database_clock
from cli.command_group import DatabaseGroup, as_json_option, database, show
from cli.import_files import opened
from cli.opt_outs import accept, dismiss, review

group = DatabaseGroup("suppressions", help="Manage people who must not be shown, looked up or imported.")
group.add_command(review)
group.add_command(accept)
group.add_command(dismiss)
_reason = click.option(
    "--reason", default="requested", show_default=True, help="Reason, stored with the entry."
)


@group.command()
@click.option("--email", help="E-mail address.")
@click.option("--phone", help="Phone number with country code.")
@click.option("--linkedin-url", help="Profile URL.")
@_reason
@as_json_option
def add(
    *, email: str | None, phone: str | None, linkedin_url: str | None, reason: str, as_json: bool
) -> None:
    """Suppress the person with this e-mail, phone or profile. Stored data is hidden, not deleted."""
    identifiers = named(email, phone, linkedin_url)
    if not identifiers:
        raise click.UsageError("Specify --email, --phone or --linkedin-url.")
    with database().transaction() as session:
        added = suppressions.suppress(session, identifiers, reason=reason, now=database_clock.now())
    show(
        {"given": len(identifiers), "added": added}, f"Added {added} of {len(identifiers)}.", as_json=as_json
    )


def named(email: str | None, phone: str | None, linkedin_url: str | None) -> list[Identifier]:
    """Parse the identifiers given by the operator.

    Raises:
        ClickException: one of them is invalid.

    """
    options = (
        ("email", email, normal_email),
        ("phone", phone, _e164),
        ("linkedin_url", linkedin_url, normal_profile_url),
    )
    try:
        return [Identifier(kind, form(text)) for kind, text, form in options if text is not None]
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except NotAProfileUrl as error:
        raise click.ClickException(error.detail) from error


@group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@_reason
@as_json_option
def import_suppressions(file: str, *, reason: str, as_json: bool) -> None:
    """Suppress every e-mail, phone and profile in FILE, a CSV with columns for them."""
    try:
        identifiers, rejected = _read(file)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    added = 0
    for part in batched(identifiers):
        with database().transaction() as session:
            added += suppressions.suppress(session, part, reason=reason, now=database_clock.now())
    figures = {"given": len(identifiers), "added": added, "rejected": rejected}
    show(
        figures, f"Added {added} of {len(identifiers)}; {rejected} values could not be read.", as_json=as_json
    )
    if rejected and not identifiers:
        raise click.ClickException("No value could be read.")


@group.command()
@as_json_option
def count(*, as_json: bool) -> None:
    """Show the number of suppressed values."""
    query = select(Suppression.kind, func.count()).group_by(Suppression.kind)
    with database().reading() as session:
        kinds = dict(session.execute(query).all())
    total = sum(kinds.values())
    show({"total": total, "by_kind": kinds}, f"{total} values are suppressed.", as_json=as_json)


@group.command()
@click.option("--email", help="E-mail address.")
@click.option("--phone", help="Phone number with country code.")
@click.option("--linkedin-url", help="Profile URL.")
@click.option("--unreviewed", is_flag=True, help="Remove all entries that 'review' counts as unreviewed.")
@as_json_option
def remove(
    *, email: str | None, phone: str | None, linkedin_url: str | None, unreviewed: bool, as_json: bool
) -> None:
    """Remove values from the list. Do this only if the person never objected."""
    identifiers = named(email, phone, linkedin_url)
    if bool(identifiers) == unreviewed:
        raise click.UsageError("Specify --email, --phone or --linkedin-url, or --unreviewed alone.")
    with database().transaction() as session:
        if unreviewed:
            removed = suppressions.remove_all(session, reason=provider_opt_outs.UNREVIEWED)
        else:
            removed = suppressions.remove(session, identifiers)
    show({"removed": removed}, f"Removed {removed} from the list.", as_json=as_json)


def _read(path: str) -> tuple[list[Identifier], int]:
    """Return the identifiers in a list and the number of values that could not be read."""
    identifiers: dict[Identifier, None] = {}
    refused = 0
    with opened(path) as file:
        table = read_table(file, lambda cells: map_columns(cells, Entity.CONTACTS).known_count)
        layout = map_columns(table.header, Entity.CONTACTS)
        if not (layout.emails or layout.phones or "linkedin_url" in layout.single):
            raise InvalidValue(explain_unknown(table.header, Entity.CONTACTS))
        for row in table.rows:
            for kind, text, form in _values(layout, row.cells):
                try:
                    identifiers[Identifier(kind, form(text))] = None
                except (InvalidValue, NotAProfileUrl):
                    refused += 1
    return list(identifiers), refused


def _values(layout: ColumnMapping, cells: list[str]) -> list[tuple[str, str, Callable[[str], str]]]:
    values: list[tuple[str, str, Callable[[str], str]]] = []
    for slot in layout.emails:
        values += [("email", text, normal_email) for text in emails_in(cells[slot.index])]
    for slot in layout.phones:
        values += [("phone", text, _e164) for text in phones_in(cells[slot.index])]
    for index in layout.single.get("linkedin_url", ()):
        if text := value(cells[index]):
            values.append(("linkedin_url", text, normal_profile_url))
    return values


def _e164(text: str) -> str:
    return parse_phone(text).e164
