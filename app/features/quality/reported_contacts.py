"""The contact that a report is about: the one whose reveal gave the workspace the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import select

from app.domain.errors import ContactNotFound
from app.domain.findings import SourceKind
from app.domain.ids import is_id
from app.engine.contacts import emails
from app.engine.contacts.bounce_reports import Feedback
from app.engine.contacts.emails import Email
from app.engine.ledger import ownership, reveals
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session


def paid_for(
    session: Session,
    workspace_id: str,
    field: Literal["email", "phone"],
    value: str,
    contact_id: str | None,
) -> str:
    """Return the contact whose reveal gave the workspace the value, else the one that the report names.

    Raises:
        ContactNotFound: the report names no contact, and the workspace never owned the value.

    """
    if contact_id is None:
        found = reveals.first_contact_id(session, workspace_id, field, value)
        found = found or _reported_before(session, workspace_id, value)
        if found is None:
            raise ContactNotFound
        return found
    if not is_id(contact_id, "con"):
        raise ContactNotFound
    owned = ownership.owned(session, workspace_id, [contact_id])
    forms = {(field, form) for form in stored_forms(session, field, [value])}
    if (contact_id, field) in owned.fields or owned.values.isdisjoint(forms):
        return contact_id
    return reveals.first_contact_id(session, workspace_id, field, value) or contact_id


def source_providers(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the providers of a value, oldest first, without imported lists."""
    outside = (source for source in sources if source["kind"] != SourceKind.IMPORT)
    return list(dict.fromkeys(source["provider"] for source in outside))


def _reported_before(session: Session, workspace_id: str, value: str) -> str | None:
    """Return the contact of an address that is not owned any more, as its reported bounce was refunded."""
    query = (
        select(Feedback.contact_id)
        .join(Email, Email.id == Feedback.email_id)
        .where(Feedback.workspace_id == workspace_id, emails.has_address(session, [value]))
    )
    return session.scalar(query.order_by(Feedback.created_at).limit(1))
