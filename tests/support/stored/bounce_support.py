"""Reports of bounced addresses, for tests of what they change."""

from __future__ import annotations

from datetime import datetime

from jobs_support import NOW, a_workspace
from stored_support import SOURCE, a_company, a_contact, an_email, own

from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.quality import feedback
from app.engine.quality.feedback import FeedbackReport
from app.engine.quality.refunds import Allowance
from app.infra.database.session import Session


def a_bounce(
    session: Session, *, providers: list[str], country: str = "DE", times: int = 2, now: datetime = NOW
) -> None:
    """Report a bounce of one address of these providers from `times` workspaces; two confirm it."""
    contact = a_contact(session, a_company(session, domain=None), country=country)
    address = an_email(session, contact, "ada@acme.com")
    address.sources = [SOURCE | {"provider": name, "kind": "provider"} for name in providers]
    for _ in range(times):
        workspace_id = a_workspace(session)
        own(session, workspace_id, contact, "email")
        report = FeedbackReport(
            workspace_id=workspace_id,
            account_id=None,
            contact_id=contact.id,
            email="ada@acme.com",
            kind=FeedbackKind.BOUNCE,
        )
        feedback.record(session, report, allowance=Allowance(0), now=now)
