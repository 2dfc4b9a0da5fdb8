"""Erasure of a person: plan, confirm, erase, and print the receipt."""

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
from cli.command_group import show
from cli.tables import table

RECIPIENT = ("workspace_id", "workspace", "field", "at")


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """The person to erase, by identifiers or contact ids; `everybody` allows several matching contacts."""

    identifiers: Sequence[Identifier]
    contact_ids: tuple[str, ...]
    everybody: bool


def run(database: Database, target: ErasureTarget, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Erase the person unless `dry_run`, and print the receipt.

    Raises:
        ClickException: no contact matches, or several match without `everybody`.
        Abort: the operator declined the confirmation.

    """
    if not (target.identifiers or target.contact_ids):
        raise click.UsageError("Specify --email, --phone, --linkedin-url or --contact-id.")
    with database.reading() as session:
        plan = _plan(session, target)
    if dry_run:
        _show(plan, erased=False, as_json=as_json)
        return
    if not yes:
        click.echo(_page(plan, erased=False), err=True)
        click.confirm("Erase all of this permanently?", abort=True, err=True)
    with database.transaction() as session:
        suppressions.suppress(session, plan.to_suppress, reason=erasure.REASON, now=database_clock.now())
    with database.reading() as session:  # again: suppressed now, so no new data arrives
        plan = _plan(session, target)
    with database.transaction() as session:
        erasure.erase(session, plan, now=database_clock.value(session))
    empty_log(database)
    _show(plan, erased=True, as_json=as_json)


def empty_log(database: Database) -> None:
    """Checkpoint and truncate SQLite's write-ahead log, which still contains the deleted data."""
    if database.is_sqlite:
        with closing(database.engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _plan(session: Session, target: ErasureTarget) -> ErasurePlan:
    try:
        contacts = erasure.find_contacts(session, target.identifiers, target.contact_ids)
    except ContactNotFound as error:
        raise click.ClickException("There is no contact with this id.") from error
    if len(contacts) > max(1, len(set(target.contact_ids))) and not target.everybody:
        ids = ", ".join(contact.id for contact in contacts)
        message = f"{len(contacts)} contacts match: {ids}. Choose with --contact-id, or use --everybody."
        raise click.ClickException(message)
    return erasure.plan(session, contacts, target.identifiers)


def _show(plan: ErasurePlan, *, erased: bool, as_json: bool) -> None:
    receipt: dict[str, Any] = {
        "erased": erased,
        "contact_ids": list(plan.contact_ids),
        "counts": plan.counts,
        "suppressed_values": len(plan.to_suppress),
        "shared_values": plan.shared,
        "recipients": [
            asdict(recipient) | {"at": clock.rfc3339(recipient.at)} for recipient in plan.recipients
        ],
        "providers": list(plan.providers),
        "accounts": list(plan.accounts),
    }
    show(receipt, _page(plan, erased=erased), as_json=as_json)


def _page(plan: ErasurePlan, *, erased: bool) -> str:
    """Format the receipt as text."""
    parts = [
        "Erased:" if erased else "This would be erased:",
        table(("what", "how many"), plan.counts.items()),
        f"Values on the suppression list: {len(plan.to_suppress)}",
    ]
    if plan.shared:
        parts.append(f"Values shared with other contacts, kept for those: {plan.shared}")
    if plan.recipients:
        rows = [
            (recipient.workspace_id, recipient.workspace, recipient.field, clock.rfc3339(recipient.at))
            for recipient in plan.recipients
        ]
        parts += ["", "Recipients to notify:", table(RECIPIENT, rows)]
    if plan.providers:
        parts.append(f"Providers called about the person: {', '.join(plan.providers)}")
    if plan.accounts:
        parts.append(
            f"Accounts not changed, because they sign in with this address: {', '.join(plan.accounts)}"
        )
    return "\n".join(parts)
