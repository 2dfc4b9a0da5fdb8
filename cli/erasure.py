"""Erasing a person: find, show, ask, erase, and print the receipt."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import click
from sqlalchemy.orm import Session

from app.core.contacts import suppressions
from app.core.contacts.suppressions import Identifier
from app.core.privacy import erasure
from app.core.privacy.erasure import ErasurePlan
from app.domain.errors import ContactNotFound
from app.infra import clock, database_clock
from app.infra.db import Database
from cli.tables import table
from cli.workspaces import show

RECIPIENT = ("workspace_id", "workspace", "field", "at")


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """Whom the operator names; `everybody` says that it may be several contacts."""

    identifiers: Sequence[Identifier]
    contact_ids: tuple[str, ...]
    everybody: bool


def run(database: Database, whom: ErasureTarget, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Erase whom the operator names, unless it is a dry run, and print the receipt.

    Raises:
        ClickException: they name nobody, or several and that was not said to be meant.
        Abort: the operator was asked and said no.

    """
    if not (whom.identifiers or whom.contact_ids):
        raise click.UsageError("Give --email, --phone, --linkedin-url or --contact-id.")
    with database.reading() as session:
        trail = _follow(session, whom)
    if dry_run:
        _show(trail, erased=False, as_json=as_json)
        return
    if not yes:
        click.echo(_page(trail, erased=False), err=True)
        click.confirm("Erase all of this for good?", abort=True, err=True)
    with database.transaction() as session:
        suppressions.suppress(session, trail.to_suppress, reason=erasure.REASON, now=database_clock.now())
    with database.reading() as session:  # once more: from now on nothing new comes in
        trail = _follow(session, whom)
    with database.transaction() as session:
        erasure.erase(session, trail, now=database_clock.value(session))
    empty_log(database)
    _show(trail, erased=True, as_json=as_json)


def empty_log(database: Database) -> None:
    """Write SQLite's log into its file, where what is deleted is overwritten: the log has it still."""
    if database.is_sqlite:
        with closing(database.engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _follow(session: Session, whom: ErasureTarget) -> ErasurePlan:
    try:
        contacts = erasure.find_contacts(session, whom.identifiers, whom.contact_ids)
    except ContactNotFound as error:
        raise click.ClickException("There is no contact with this id.") from error
    if len(contacts) > max(1, len(set(whom.contact_ids))) and not whom.everybody:
        ids = ", ".join(contact.id for contact in contacts)
        message = f"This names {len(contacts)} contacts: {ids}. Say which with --contact-id, or --everybody."
        raise click.ClickException(message)
    return erasure.plan(session, contacts, whom.identifiers)


def _show(trail: ErasurePlan, *, erased: bool, as_json: bool) -> None:
    answer: dict[str, Any] = {
        "erased": erased,
        "contact_ids": list(trail.contact_ids),
        "counts": trail.counts,
        "suppressed_values": len(trail.to_suppress),
        "shared_values": trail.shared,
        "recipients": [asdict(one) | {"at": clock.rfc3339(one.at)} for one in trail.recipients],
        "providers": list(trail.providers),
        "accounts": list(trail.accounts),
    }
    show(answer, _page(trail, erased=erased), as_json=as_json)


def _page(trail: ErasurePlan, *, erased: bool) -> str:
    """Write the receipt for people."""
    parts = [
        "Erased:" if erased else "This would be erased:",
        table(("what", "how many"), trail.counts.items()),
        f"Values on the suppression list: {len(trail.to_suppress)}",
    ]
    if trail.shared:
        parts.append(f"Values that others have, too, and that stay theirs: {trail.shared}")
    if trail.recipients:
        rows = [
            (one.workspace_id, one.workspace, one.field, clock.rfc3339(one.at)) for one in trail.recipients
        ]
        parts += ["", "Given to, and to be told:", table(RECIPIENT, rows)]
    if trail.providers:
        parts.append(f"Providers that were asked about them: {', '.join(trail.providers)}")
    if trail.accounts:
        parts.append(f"Not touched, because they sign in with such an address: {', '.join(trail.accounts)}")
    return "\n".join(parts)
