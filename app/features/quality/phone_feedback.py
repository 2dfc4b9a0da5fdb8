"""Records feedback of workspaces on numbers that they own. It is not refunded: nothing verifies a number."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import and_, select

from app.domain.errors import ContactNotFound
from app.domain.ids import new_id
from app.engine.contacts import contact_locks, hidden_values, phones
from app.engine.contacts.bounce_reports import Feedback, FeedbackKind
from app.engine.contacts.phones import Phone
from app.engine.ledger.reveals import Reveal
from app.features.quality import reported_contacts
from app.features.quality.feedback import FeedbackResult
from app.features.quality.refunds import RefundDecision
from app.infra.database.db import insert
from app.infra.database.session import Session

_FIELD: Literal["phone"] = "phone"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneReport:
    """A workspace's feedback on a number in E.164, of this contact or of the one that it revealed."""

    workspace_id: str
    account_id: str | None
    contact_id: str | None = None
    phone: str
    kind: FeedbackKind


def record(session: Session, report: PhoneReport, *, now: datetime) -> FeedbackResult:
    """Store the workspace's feedback on the number; repeated feedback changes nothing.

    Raises:
        ContactNotFound: the workspace does not own such a number.

    """
    contact_id = reported_contacts.paid_for(
        session, report.workspace_id, _FIELD, report.phone, report.contact_id
    )
    number = _owned_number(session, report, contact_id)
    values = {
        "id": new_id("fdb"),
        "workspace_id": report.workspace_id,
        "account_id": report.account_id,
        "contact_id": contact_id,
        "phone_id": number.id,
        "kind": report.kind.value,
        "providers": reported_contacts.source_providers(number.sources),
        "country": number.country,
        "refunded": 0,
        "created_at": now,
    }
    added = insert(session, Feedback).values(**values).on_conflict_do_nothing().returning(Feedback.id)
    is_new = session.scalar(added) is not None
    same = and_(
        Feedback.phone_id == number.id,
        Feedback.workspace_id == report.workspace_id,
        Feedback.kind == report.kind.value,
    )
    stored = session.scalars(select(Feedback).where(same)).one()
    return FeedbackResult(stored, 0, RefundDecision.NOT_DUE, is_new=is_new)


def _owned_number(session: Session, report: PhoneReport, contact_id: str) -> Phone:
    """Return the number, and lock the contact against concurrent changes of its numbers."""
    owned = and_(
        Reveal.workspace_id == report.workspace_id, Reveal.field == _FIELD, Reveal.refunded_at.is_(None)
    )
    query = (
        select(Phone)
        .join(Reveal, Reveal.contact_id == Phone.contact_id)
        .where(
            owned,
            Phone.contact_id == contact_id,
            phones.has_number(session, [report.phone]),
            hidden_values.is_shown(session.settings.regional_rules, Phone),
        )
    )
    contact_locks.lock_contact(session, contact_id)
    number = session.scalar(query)
    if number is None:
        raise ContactNotFound
    return number
