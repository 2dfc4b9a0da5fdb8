"""`flask suppressions`: the list of people who must not be shown, looked up or imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.contacts import suppressions
from app.core.contacts.bulk import batched
from app.core.contacts.suppressions import Identifier, Suppression
from app.core.providers import provider_opt_outs
from app.core.providers.provider_opt_outs import ProviderOptOut
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.ids import is_id
from app.domain.lists.cells import emails_in, phones_in, value
from app.domain.lists.column_mapping import ColumnMapping, Entity, explain_unknown, map_columns
from app.domain.lists.csv_tables import read_table
from app.domain.normal.emails import normal_email
from app.domain.normal.phones import parse_phone
from app.domain.normal.profiles import normal_profile_url
from app.infra import clock, database_clock
from cli.command_group import DatabaseGroup, as_json_option, database, show
from cli.import_files import opened
from cli.tables import table

group = DatabaseGroup("suppressions", help="Manage people who must not be shown, looked up or imported.")
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


@group.command()
@click.option("--all", "all_states", is_flag=True, help="Include accepted and dismissed opt-outs.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Maximum number.")
@as_json_option
def review(*, all_states: bool, limit: int, as_json: bool) -> None:
    """List the opt-outs that providers reported, newest first.

    If the provider was called with a single identifier, that identifier is on the suppression list (listed).
    Otherwise (open) nothing is suppressed: only that job ended, and the provider is not called again for the
    same request. Accept an opt-out to hide the person's e-mail or profile from every workspace; dismiss it to
    allow calls again.
    """
    with database().reading() as session:
        opt_outs = provider_opt_outs.latest(session, all_states=all_states, limit=limit)
        unreviewed = provider_opt_outs.unreviewed(session)
    body = {"opt_outs": [_to_json(row) for row in opt_outs], "unreviewed": unreviewed}
    show(body, _review_page(opt_outs, unreviewed), as_json=as_json)


@group.command()
@click.argument("opt_out")
@as_json_option
def accept(opt_out: str, *, as_json: bool) -> None:
    """Suppress the single e-mail or profile of OPT_OUT, an id that 'review' lists."""
    with database().transaction() as session:
        row = _opt_out(session, opt_out)
        if not provider_opt_outs.accept(session, row, now=database_clock.value(session)):
            raise click.ClickException(
                "The provider was called with no e-mail or profile, or with several, so the person who opted "
                "out is unknown. Ask the provider, then use: flask suppressions add"
            )
        body = _to_json(row)
    show(body, f"Accepted {opt_out}: its {row.kind} is on the suppression list.", as_json=as_json)


@group.command()
@click.argument("opt_out")
@as_json_option
def dismiss(opt_out: str, *, as_json: bool) -> None:
    """Allow provider calls for OPT_OUT again, and remove its entry from the suppression list."""
    with database().transaction() as session:
        row = _opt_out(session, opt_out)
        removed = provider_opt_outs.dismiss(session, row, now=database_clock.value(session))
        body = _to_json(row) | {"removed": removed}
    effect = "Its value is no longer suppressed." if removed else "The suppression list is unchanged."
    show(body, f"Dismissed {opt_out}. {effect}", as_json=as_json)


def _opt_out(session: Session, opt_out_id: str) -> ProviderOptOut:
    """Return the opt-out.

    Raises:
        ClickException: no opt-out has this id.

    """
    row = provider_opt_outs.get(session, opt_out_id) if is_id(opt_out_id, "opt") else None
    if row is None:
        raise click.ClickException(
            "There is no opt-out with this id. List them with: flask suppressions review --all"
        )
    return row


def _to_json(opt_out: ProviderOptOut) -> dict[str, Any]:
    return {
        "id": opt_out.id,
        "provider": opt_out.provider,
        "field": opt_out.field,
        "asked_by": opt_out.asked_by,
        "identifier": opt_out.kind,
        "state": opt_out.state,
        "created_at": clock.rfc3339(opt_out.created_at),
        "reviewed_at": clock.rfc3339(opt_out.reviewed_at),
    }


def _review_page(opt_outs: Sequence[ProviderOptOut], unreviewed: Mapping[str, int]) -> str:
    columns = ("id", "provider", "field", "asked_by", "identifier", "state", "created_at")
    rows = [_to_json(opt_out) | {"asked_by": ", ".join(opt_out.asked_by)} for opt_out in opt_outs]
    page = [table(columns, [[row[name] for name in columns] for row in rows])] if opt_outs else []
    if unreviewed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(unreviewed.items()))
        page.append(
            f"Unreviewed: {kinds}. An earlier version suppressed these when a provider reported an opt-out: "
            "everything in the request and everything stored, so some may belong to other people. They stay "
            "suppressed until removed: flask suppressions remove --unreviewed (or --email, --phone, "
            "--linkedin-url for a single one)."
        )
    return "\n".join(page) or "No provider reported an opt-out."


def _read(path: str) -> tuple[list[Identifier], int]:
    """Return the identifiers in a list and the number of values that could not be read."""
    identifiers: dict[Identifier, None] = {}
    refused = 0
    with opened(path) as file:
        table = read_table(file, lambda cells: map_columns(cells, Entity.CONTACTS).known)
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
