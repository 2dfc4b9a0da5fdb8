"""Reports of bounced addresses, for tests of what they change."""

from __future__ import annotations

from datetime import datetime

from jobs_support import NOW, a_workspace
from stored_support import SOURCE, a_company, a_contact, an_email, own

from app.domain.ids import new_id
from app.engine.accounts import workspaces
from app.engine.contacts.bounce_reports import BOUNCED, Feedback, FeedbackKind
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.ledger import credits, reveals
from app.infra.database.session import Session


def a_bounce(
    session: Session, *, providers: list[str], country: str = "DE", times: int = 2, now: datetime = NOW
) -> None:
    """Store bounces of an address of these providers in `times` workspaces; all but the last confirmed."""
    contact = a_contact(session, a_company(session, domain=None), country=country)
    address = an_email(session, contact, "ada@acme.com")
    address.sources = [SOURCE | {"provider": name, "kind": "provider"} for name in providers]
    for number in range(times):
        workspace_id = a_workspace(session)
        own(session, workspace_id, contact, "email")
        feedback = a_report(session, workspace_id, address, now=now)
        feedback.providers, feedback.country = providers, country
        feedback.confirmed_at = now if number < times - 1 else None


def a_refund(session: Session, workspace_id: str, contact: Contact, address: Email) -> int:
    """Refund the reveal of the contact's e-mails after a bounce of the address; return the credits."""
    reveals.lock(session, contact.id, "email", [workspace_id])
    workspaces.lock(session, [workspace_id])
    paid = reveals.mark_refunded(
        session,
        workspace_id=workspace_id,
        contact_id=contact.id,
        field="email",
        since=NOW - reveals.REFUND_WITHIN,
        now=NOW,
    )
    credits.refund(session, workspace_id, paid.job_id, paid.credits, reason=BOUNCED, now=NOW)
    a_report(session, workspace_id, address, now=NOW).refunded = paid.credits
    session.flush()
    return paid.credits


def a_report(session: Session, workspace_id: str, address: Email, *, now: datetime) -> Feedback:
    """Store that the workspace has reported a bounce of the address."""
    feedback = Feedback(
        id=new_id("fdb"),
        workspace_id=workspace_id,
        contact_id=address.contact_id,
        email_id=address.id,
        kind=FeedbackKind.BOUNCE.value,
        providers=[],
        refunded=0,
        created_at=now,
    )
    session.add(feedback)
    return feedback
