"""Erasure of a person: plan, confirm, erase, and print the receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

from app.domain.errors import ContactNotFound
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import erasure, erasure_run
from app.engine.privacy.erasure import ErasurePlan
from app.infra import clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from cli.groups.command_group import show
from cli.tables import table

RECIPIENT = ("workspace_id", "workspace", "field", "at", "purpose")


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """The person to erase, by identifiers or contact ids; `everybody` allows several matching contacts."""

    identifiers: Sequence[Identifier]
    contact_ids: tuple[str, ...]
    everybody: bool


def run(database: Database, target: ErasureTarget, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Erase the person unless `dry_run`, and print the receipt."""
    with database.reading(no_deadline=True) as session:
        planned = plan(session, target)
    if dry_run:
        _show(planned, erased=False, as_json=as_json)
        return
    if not yes:
        click.echo(_page(planned, erased=False), err=True)
        click.confirm("Erase all of this permanently?", abort=True, err=True)
    erased = erasure_run.erase(database, lambda session: plan(session, target))
    _show(erased, erased=True, as_json=as_json)


def plan(session: Session, target: ErasureTarget) -> ErasurePlan:
    """Return what is stored of the person."""
    if not (target.identifiers or target.contact_ids):
        raise click.UsageError("Specify --email, --phone, --linkedin-url or --contact-id.")
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
            (each.workspace_id, each.workspace, each.field, clock.rfc3339(each.at), each.purpose or "")
            for each in plan.recipients
        ]
        parts += [
            "",
            "Recipients to notify:",
            table(RECIPIENT, rows),
            "Their webhook endpoints get the event person.erased.",
        ]
    if plan.providers:
        parts.append(f"Providers called about the person: {', '.join(plan.providers)}")
    if plan.accounts:
        parts.append(
            f"Accounts not changed, because they sign in with this address: {', '.join(plan.accounts)}"
        )
    return "\n".join(parts)
