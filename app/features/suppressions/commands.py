"""`flask suppressions`: the list of people who must not be shown, looked up or imported."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from app.engine.contacts.suppressions import suppression_checks, suppressions
from app.features.suppressions.import_commands import import_suppressions
from app.features.suppressions.opt_out_commands import accept, dismiss, review
from app.infra import clock
from app.infra.database import database_clock
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.options.identifiers import named
from cli.options.single_lines import SingleLine
from cli.suppression_journals import export, replay
from cli.tables import table

group = DatabaseGroup("suppressions", help="Manage people who must not be shown, looked up or imported.")
group.add_command(review)
group.add_command(accept)
group.add_command(dismiss)
group.add_command(export)
group.add_command(import_suppressions)
group.add_command(replay)
_domain = click.option("--domain", help="Domain, such as acme.com.")
_reason = click.option(
    "--reason",
    type=SingleLine(),
    default="requested",
    show_default=True,
    help="Reason, stored with the entry.",
)


@group.command()
@click.option("--email", help="E-mail address.")
@click.option("--phone", help="Phone number with country code.")
@click.option("--linkedin-url", help="Profile URL.")
@_domain
@_reason
@as_json_option
def add(
    *,
    email: str | None,
    phone: str | None,
    linkedin_url: str | None,
    domain: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Suppress the person with this e-mail, phone or profile, or a whole domain.

    A domain suppresses every address at it and below it, and the people of the company. Stored data is
    hidden, not deleted.
    """
    refuse_reserved(reason)
    identifiers = named(email, phone, linkedin_url, domain)
    if not identifiers:
        raise click.UsageError("Specify --email, --phone, --linkedin-url or --domain.")
    with database().transaction() as session:
        added = suppressions.suppress(session, identifiers, reason=reason, now=database_clock.now())
    show(
        {"given": len(identifiers), "added": added}, f"Added {added} of {len(identifiers)}.", as_json=as_json
    )


@group.command()
@click.option("--email", help="E-mail address.")
@click.option("--phone", help="Phone number with country code.")
@click.option("--linkedin-url", help="Profile URL.")
@_domain
@as_json_option
def check(
    *, email: str | None, phone: str | None, linkedin_url: str | None, domain: str | None, as_json: bool
) -> None:
    """Show whether a value is suppressed, since when, why and by which list."""
    identifiers = named(email, phone, linkedin_url, domain)
    if len(identifiers) != 1:
        raise click.UsageError("Specify one of --email, --phone, --linkedin-url and --domain.")
    with database().reading() as session:
        entries = [
            {
                "since": clock.rfc3339(row.created_at),
                "reason": row.reason,
                "list": row.list_name,
                "by": row.kind,
            }
            for row in suppression_checks.entries_for(session, identifiers[0])
        ]
    rows = [[entry[name] for name in ("since", "by", "list", "reason")] for entry in entries]
    text = table(("since", "by", "list", "reason"), rows) if entries else "The value is not suppressed."
    show({"suppressed": bool(entries), "entries": entries}, text, as_json=as_json)


@group.command()
@as_json_option
def count(*, as_json: bool) -> None:
    """Show the number of entries by kind, reason and list."""
    with database().reading() as session:
        rows = suppressions.summary(session)
    total = sum(row.entries for row in rows)
    body: dict[str, Any] = {"total": total}
    for name, attribute in (("by_kind", "kind"), ("by_reason", "reason"), ("by_list", "list_name")):
        counts: Counter[str] = Counter()
        for row in rows:
            counts[getattr(row, attribute)] += row.entries
        body[name] = dict(counts)
    show(body, f"{total} values are suppressed.", as_json=as_json)


@group.command()
@click.option("--email", help="E-mail address.")
@click.option("--phone", help="Phone number with country code.")
@click.option("--linkedin-url", help="Profile URL.")
@_domain
@click.option("--list", "list_name", help="Remove all entries of this list, as 'count --json' names it.")
@as_json_option
def remove(
    *,
    email: str | None,
    phone: str | None,
    linkedin_url: str | None,
    domain: str | None,
    list_name: str | None,
    as_json: bool,
) -> None:
    """Remove values from all lists, or a whole list. Do this only if the person never objected."""
    identifiers = named(email, phone, linkedin_url, domain)
    if bool(identifiers) == bool(list_name):
        raise click.UsageError("Specify --email, --phone, --linkedin-url or --domain, or --list alone.")
    if list_name:
        removed = _remove_list(list_name)
    else:
        with database().transaction() as session:
            removed = suppressions.remove(session, identifiers)
    show({"removed": removed}, f"Removed {removed} from the list.", as_json=as_json)


def refuse_reserved(reason: str) -> None:
    """End with an error if entries with this reason would be erased by a replay."""
    if reason == suppressions.ERASED:
        raise click.ClickException(
            f"The reason {reason!r} marks people whose data was erased. Use: flask people erase"
        )


def _remove_list(list_name: str) -> int:
    removed = 0
    while True:
        with database().transaction() as session:
            part = suppressions.remove_from_list(session, list_name)
        if not part:
            return removed
        removed += part
