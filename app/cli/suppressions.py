"""`flask suppressions`: people who must not be shown, asked about or imported again."""

from __future__ import annotations

from collections.abc import Callable

import click
from sqlalchemy import func, select

from app.cli.import_files import opened
from app.cli.workspaces import Noun, as_json_option, database, show
from app.core import suppressions
from app.core.intake import slices
from app.core.suppressions import Identifier, Suppression
from app.domain.cells import emails_in, phones_in, value
from app.domain.csv_tables import read_table
from app.domain.emails import normal_email
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.layouts import Entity, Layout, explain_unknown, layout_of
from app.domain.phones import parse_phone
from app.domain.profiles import normal_profile_url
from app.infra import database_clock

group = Noun("suppressions", help="People who must not be shown, asked about or imported again.")
_reason = click.option(
    "--reason", default="requested", show_default=True, help="Why; it stays with the entry."
)


@group.command()
@click.option("--email", help="An e-mail address.")
@click.option("--phone", help="A phone number with its country code.")
@click.option("--linkedin-url", help="The address of a profile.")
@_reason
@as_json_option
def add(
    *, email: str | None, phone: str | None, linkedin_url: str | None, reason: str, as_json: bool
) -> None:
    """Suppress whoever has this e-mail, phone or profile. What is known of them is hidden, not deleted."""
    identifiers = named(email, phone, linkedin_url)
    if not identifiers:
        raise click.UsageError("Give --email, --phone or --linkedin-url.")
    with database().transaction() as session:
        added = suppressions.suppress(session, identifiers, reason=reason, now=database_clock.now())
    show(
        {"given": len(identifiers), "added": added}, f"Added {added} of {len(identifiers)}.", as_json=as_json
    )


def named(email: str | None, phone: str | None, linkedin_url: str | None) -> list[Identifier]:
    """Read what an operator says names a person.

    Raises:
        ClickException: one of them cannot be read.

    """
    given = (
        ("email", email, normal_email),
        ("phone", phone, _e164),
        ("linkedin_url", linkedin_url, normal_profile_url),
    )
    try:
        return [Identifier(kind, form(text)) for kind, text, form in given if text is not None]
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except NotAProfileUrl as error:
        raise click.ClickException(error.detail) from error


@group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@_reason
@as_json_option
def import_suppressions(file: str, *, reason: str, as_json: bool) -> None:
    """Suppress every e-mail, phone and profile in FILE, a CSV with such columns."""
    try:
        identifiers, refused = _read(file)
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    added = 0
    for part in slices(identifiers):
        with database().transaction() as session:
            added += suppressions.suppress(session, part, reason=reason, now=database_clock.now())
    figures = {"given": len(identifiers), "added": added, "rejected": refused}
    show(
        figures, f"Added {added} of {len(identifiers)}; {refused} values could not be read.", as_json=as_json
    )
    if refused and not identifiers:
        raise click.ClickException("No value could be read.")


@group.command()
@as_json_option
def count(*, as_json: bool) -> None:
    """Tell how many values are suppressed."""
    query = select(Suppression.kind, func.count()).group_by(Suppression.kind)
    with database().reading() as session:
        kinds = dict(session.execute(query).all())
    total = sum(kinds.values())
    show({"total": total, "by_kind": kinds}, f"{total} values are suppressed.", as_json=as_json)


def _read(path: str) -> tuple[list[Identifier], int]:
    """Read every value of a list; give what was understood and how many were not."""
    identifiers: dict[Identifier, None] = {}
    refused = 0
    with opened(path) as file:
        table = read_table(file, lambda cells: layout_of(cells, Entity.CONTACTS).known)
        layout = layout_of(table.header, Entity.CONTACTS)
        if not (layout.emails or layout.phones or "linkedin_url" in layout.single):
            raise InvalidValue(explain_unknown(table.header, Entity.CONTACTS))
        for row in table.rows:
            for kind, text, form in _values(layout, row.cells):
                try:
                    identifiers[Identifier(kind, form(text))] = None
                except (InvalidValue, NotAProfileUrl):
                    refused += 1
    return list(identifiers), refused


def _values(layout: Layout, cells: list[str]) -> list[tuple[str, str, Callable[[str], str]]]:
    found: list[tuple[str, str, Callable[[str], str]]] = []
    for slot in layout.emails:
        found += [("email", text, normal_email) for text in emails_in(cells[slot.at])]
    for slot in layout.phones:
        found += [("phone", text, _e164) for text in phones_in(cells[slot.at])]
    for place in layout.single.get("linkedin_url", ()):
        if text := value(cells[place]):
            found.append(("linkedin_url", text, normal_profile_url))
    return found


def _e164(text: str) -> str:
    return parse_phone(text).e164
